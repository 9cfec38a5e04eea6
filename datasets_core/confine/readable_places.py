"""Which places of this machine a confined script may read: the interpreter, its packages, shared libraries, and time zones."""

from __future__ import annotations

import glob
import os
import site
import sys
import sysconfig
from functools import cache


@cache
def root_folder() -> str:
    """The folder that holds `datasets_core`."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@cache
def site_folders() -> tuple[str, ...]:
    """The folders of the standard library and of installed packages.

    A path of `PYTHONPATH` or of a `.pth` file is one where packages were installed into it, as `pip install --target` does;
    the folder that a program was started in, and the source trees of editable packages, are none.
    """
    paths = sysconfig.get_paths()
    listed = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    listed += [os.path.join(paths["stdlib"], "lib-dynload"), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        listed.append(site.getusersitepackages())
    listed += filter(_holds_installed, sys.path)
    return tuple(dict.fromkeys(os.path.abspath(path) for path in listed if os.path.isdir(path)))


def _holds_installed(path: str) -> bool:
    """Whether an installer has put packages into a folder, which is none that holds much else."""
    place = os.path.realpath(path) if path else "/"
    home = os.path.realpath(os.path.expanduser("~"))
    is_wide = home == place or home.startswith(os.path.join(place, ""))
    return not is_wide and any(True for _ in glob.iglob(os.path.join(glob.escape(place), "*.dist-info", "METADATA")))


_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_FACTS = (
    *("/etc/localtime", "/etc/timezone", "/usr/share/zoneinfo", "/etc/mime.types", "/etc/apache2/mime.types"),
    *("/sys/devices/system/cpu", "/sys/fs/cgroup", "/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm/overcommit_memory"),
    *(
        "/etc/ssl/certs",
        "/etc/ssl/openssl.cnf",
        "/etc/pki/tls/certs",
        "/etc/pki/ca-trust/extracted",
    ),  # which clients load first
    *("/dev/random", "/dev/urandom", "/dev/zero"),
)
_OWN = ("cgroup", "maps", "stat", "statm", "status")  # of this process; not its environment, nor its descriptors

DEVICES = ("/dev/null", "/dev/full")


def readable() -> tuple[str, ...]:
    """What every confined script may read: code, libraries, and facts about the machine and about itself."""
    library = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    places = [library, *site_folders(), *_LIBRARIES, *_FACTS]
    door = os.path.join(library, "builders", "__init__.py")
    if os.path.isfile(door) and os.path.isdir(os.path.join(root_folder(), "builders")):
        places.append(os.path.join(root_folder(), "builders"))  # a checkout keeps them beside the library
    for prefix in dict.fromkeys((sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)):
        places += [os.path.join(prefix, name) for name in ("lib", "lib64", "share", "pyvenv.cfg")]
    places += [os.path.abspath(sys.executable), os.path.realpath(sys.executable)]
    own = f"/proc/{os.getpid()}"
    return tuple(dict.fromkeys((*places, *(f"{own}/{name}" for name in _OWN))))
