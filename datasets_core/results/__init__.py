"""Where the results of operations stand, and how rows are written to them."""
