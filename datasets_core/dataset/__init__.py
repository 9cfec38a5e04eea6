"""Datasets with random access: `Dataset`, `DatasetDict`, their constructors and methods."""
