"""Where the names of `tensorflow_datasets`, `tensorflow` and `etils` live that scripts use."""

from __future__ import annotations

from collections.abc import Mapping

FACES: Mapping[str, Mapping[str, str]] = {}
"""Old module → its names → `home.module:name`, or `home.module` alone; `*` names a module all of whose names it has."""

REASONS: Mapping[str, str] = {}
"""Full old name, or a name alone → what to do where it is missing."""

UNLESS_INSTALLED: frozenset[str] = frozenset()
"""Top-level names that have a face only where the package itself is not installed."""
