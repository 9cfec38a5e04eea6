"""What rows look like when they come out."""
