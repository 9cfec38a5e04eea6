"""What there is in a dataset: statistics, and the page of a notebook."""
