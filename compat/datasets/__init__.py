"""`import datasets` gives `datasets_core`: the names of Hugging Face `datasets`, made by another library."""

from datasets_core import as_datasets

__datasets_core__ = True
as_datasets.install()
as_datasets.take_over(__name__)
