"""`Cage`: what a confined process may read, write and take."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from datasets_core.config import settings
from datasets_core.confine import limits
from datasets_core.confine.layers import Layers

_ENVIRONMENT = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "LOGNAME": "nobody", "USER": "nobody"}


@dataclass(frozen=True, slots=True)
class Cage:
    """What a confined process may have.

    Attributes:
        readable: files and folders that it may read, besides the interpreter and installed packages.
        scratch: the one folder that it may write, which is its working directory, `HOME` and `TMPDIR`; made if it is missing,
            and removed with all that it holds when the process has ended.
        memory_bytes: memory that it may take; None as the settings say.
        cpu_seconds: processor time that it may take; None as the settings say.
        file_bytes: size of one file that it may write; None as the settings say.
        preload: modules that the script imports, which are imported before it is confined if they are well known.
        script: the script, for messages.
    """

    readable: tuple[str, ...]
    scratch: str
    memory_bytes: int | None = None
    cpu_seconds: int | None = None
    file_bytes: int | None = None
    preload: tuple[str, ...] = ()
    script: str = "a script"

    @property
    def memory(self) -> int:
        """The memory that it may take, in bytes."""
        return limits.memory_bytes() if self.memory_bytes is None else self.memory_bytes

    @property
    def cpu(self) -> int | None:
        """The processor time that it may take, in seconds."""
        return settings().confined_cpu_seconds if self.cpu_seconds is None else self.cpu_seconds

    def setup(self, found: Layers) -> dict[str, Any]:
        """What the process is told before it puts the cage on, as plain values.

        Args:
            found: the layers that hold it.
        """
        time_zone = os.environ.get("TZ")
        return {
            "scratch": os.path.realpath(self.scratch),
            "readable": [os.path.realpath(path) for path in self.readable],
            "environment": _ENVIRONMENT | ({"TZ": time_zone} if time_zone else {}),
            "memory_bytes": self.memory,
            "cpu_seconds": self.cpu,
            "file_bytes": limits.file_bytes(self.scratch) if self.file_bytes is None else self.file_bytes,
            "machine": found.machine,
            "landlock": found.landlock,
            "seccomp": found.seccomp,
            "notices": found.notices,
        }
