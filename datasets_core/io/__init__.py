"""Export and import of rows: files, data frames, saved folders and the Hub."""
