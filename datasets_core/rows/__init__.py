"""Rows by number over a table: what every method of a dataset stands on."""
