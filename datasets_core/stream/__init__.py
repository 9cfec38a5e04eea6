"""Rows one after the other: ordered by arithmetic, changed by functions, resumed at every row."""
