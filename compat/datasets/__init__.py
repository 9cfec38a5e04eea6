"""`import datasets` gives `datasets_core`: the names of Hugging Face `datasets`, made by another library."""

__datasets_core__ = True  # told before the import, which may install the alias itself

from datasets_core import as_datasets

as_datasets.install()
as_datasets.take_over(__name__)
