"""Rows to and from files, data frames, saved folders and the Hub."""
