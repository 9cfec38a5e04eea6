"""Random access to rows: Dataset, DatasetDict and how they are made."""
