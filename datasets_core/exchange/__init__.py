"""Rows to and from other tools: folders, files, frames."""
