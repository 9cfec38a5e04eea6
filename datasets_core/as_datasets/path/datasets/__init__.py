"""In child processes: `import datasets` gives `datasets_core`, as in the process that started them."""

from datasets_core import as_datasets

__datasets_core__ = True
as_datasets.install()
as_datasets.take_over(__name__)
