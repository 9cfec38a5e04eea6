"""What rows look like when they are read: Python values, NumPy, frames and tensors."""
