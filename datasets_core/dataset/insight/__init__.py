"""Search, SQL, statistics and pictures of a dataset."""
