"""Remote files: download, verification, caching, extraction."""
