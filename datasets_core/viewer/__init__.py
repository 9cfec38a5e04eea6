"""A viewer of datasets in the browser, a report in one file, and a table for notebooks."""
