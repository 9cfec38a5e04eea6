"""What this machine offers to confine a script with, and whether that is enough."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import cache

from datasets_core.confine import bwrap, landlock, seccomp


@dataclass(frozen=True, slots=True)
class Layers:
    """What holds a confined script back.

    Attributes:
        machine: whose system calls are made; None where none are known.
        landlock: the ABI of Landlock; 0 without.
        seccomp: the kernel takes filters of system calls.
        notices: it can hand refused calls to the parent, which reports them.
        bwrap: the program that makes a world of its own for a process, where it is there, works, and Landlock is not.
    """

    machine: str | None
    landlock: int
    seccomp: bool
    notices: bool
    bwrap: str | None = None

    @property
    def can_confine(self) -> bool:
        """Whether a stranger's script may run here."""
        return not self.reason

    @property
    def reason(self) -> str:
        """Why it may not; empty if it may."""
        if platform.system() != "Linux":
            return f"{platform.system()} has neither Landlock nor seccomp"
        if self.machine is None:
            return f"the system calls of {platform.machine()} are not known here"
        if not self.seccomp:
            return "its kernel takes no filters of system calls (seccomp)"
        if not self.landlock and self.bwrap is None:
            return f"its kernel ({platform.release()}) has no Landlock, and bwrap is not there or does not work"
        return ""

    def words(self) -> list[str]:
        """The layers that hold, for people."""
        said = ["resource limits", "no capabilities"]
        if self.landlock:
            said.append(f"Landlock ABI {self.landlock}")
        elif self.bwrap:
            said.append("bwrap")
        if self.seccomp:
            said.append("seccomp with notices" if self.notices else "seccomp")
        return said


@cache
def _found(process: int) -> Layers:
    version = landlock.abi() if platform.system() == "Linux" else 0
    return Layers(
        machine=seccomp.machine(),
        landlock=version,
        seccomp=seccomp.is_available(),
        notices=seccomp.has_notices(),
        bwrap=None if version else bwrap.program(),
    )


def layers() -> Layers:
    """What this machine offers; it is looked up once in each process.

    >>> layers().can_confine in (True, False)
    True
    """
    return _found(os.getpid())
