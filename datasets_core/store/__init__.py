"""Shards on disk: layout, manifest, writer, table."""
