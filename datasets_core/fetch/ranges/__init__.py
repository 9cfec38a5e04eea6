"""Byte ranges of remote files, read on request."""
