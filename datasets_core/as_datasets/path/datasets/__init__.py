"""Makes `import datasets` return `datasets_core` in child processes, as in the process that started them."""

__datasets_core__ = True  # told before the import, which may install the alias itself

from datasets_core import as_datasets

as_datasets.install()
as_datasets.take_over(__name__)
