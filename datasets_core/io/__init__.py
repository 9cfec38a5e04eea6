"""Rows to and from files, frames, saved folders and the Hub."""
