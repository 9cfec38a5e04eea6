"""Bytes from elsewhere: download, verify, cache, extract."""
