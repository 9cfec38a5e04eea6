"""`map`, `filter` and `batch` of a dataset."""
