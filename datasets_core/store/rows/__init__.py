"""Rows by number: views, columns and formats over a table of shards."""
