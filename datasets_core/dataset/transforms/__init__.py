"""`map`, `filter` and `batch`."""
