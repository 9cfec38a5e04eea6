"""The order of a stream: formulas that tell which row comes next."""
