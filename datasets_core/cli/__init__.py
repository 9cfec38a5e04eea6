"""The command `datasets-core`."""
