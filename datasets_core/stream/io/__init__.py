"""Streams to files, folders and the Hub."""
