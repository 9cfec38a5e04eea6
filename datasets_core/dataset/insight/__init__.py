"""Search, SQL, statistics and notebook display of a dataset."""
