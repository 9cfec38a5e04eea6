"""Makes `import datasets` return `datasets_core` in child processes, as in the process that started them."""

__datasets_core__ = True  # told before the import, which may install the alias itself

try:
    from datasets_core import as_datasets
except ModuleNotFoundError:  # the process that started this one found the library by its own `sys.path`
    import os
    import sys

    sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4)))
    from datasets_core import as_datasets

as_datasets.install()
as_datasets.take_over(__name__)
