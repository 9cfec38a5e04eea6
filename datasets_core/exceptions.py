"""`errors.py` by the name that scripts know it under: `from datasets.exceptions import DatasetNotFoundError`."""

import sys
from typing import TYPE_CHECKING

from datasets_core import errors

if TYPE_CHECKING:
    from datasets_core.errors import *  # noqa: F403

sys.modules[__name__] = errors  # one module under two names: no class has two identities
