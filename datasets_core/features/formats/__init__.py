"""Output formats of rows: Python values, NumPy, data frames and tensors."""
