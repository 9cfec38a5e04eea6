"""Streams: rows in a computed order, changed by functions, resumable at every row."""
