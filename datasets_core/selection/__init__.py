"""Fewer rows, or rows in another order."""
