"""Nodes: running steps of a stream, each with its rows and its state."""
