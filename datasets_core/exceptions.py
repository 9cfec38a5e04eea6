"""`datasets_core.errors` by its old import path: `from datasets.exceptions import DatasetNotFoundError`."""

import sys
from typing import TYPE_CHECKING

from datasets_core import errors

if TYPE_CHECKING:
    from datasets_core.errors import *  # noqa: F403

sys.modules[__name__] = errors  # one module under two names: no class has two identities
