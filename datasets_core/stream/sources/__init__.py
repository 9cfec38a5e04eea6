"""Sources of the rows of streams."""
