"""Which places of this machine a confined script may read: the interpreter, its packages, shared libraries, and time zones."""

from __future__ import annotations

import os
import site
import sysconfig
from functools import cache


@cache
def root_folder() -> str:
    """The folder that holds `datasets_core`."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@cache
def site_folders() -> tuple[str, ...]:
    """The folders of the standard library and of installed packages.

    Paths of `PYTHONPATH`, of `.pth` files and the folder that a program was started in are none of them.
    """
    paths = sysconfig.get_paths()
    listed = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    listed += [os.path.join(paths["stdlib"], "lib-dynload"), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        listed.append(site.getusersitepackages())
    return tuple(dict.fromkeys(os.path.abspath(path) for path in listed if os.path.isdir(path)))
