"""`Sandbox`, `Layers`: rights and resource limits of a sandboxed process; the protection that this machine offers."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import itertools
import os
import platform
import shutil
import site
import stat
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from datasets_core.config import settings
from datasets_core.scripting.sandbox import kernel
from datasets_core.scripting.sandbox.kernel import checked, libc

# Paths of this machine that a confined script may read: the interpreter, its packages, shared libraries, and time
# zones.


@cache
def _library_folder() -> str:
    """Return the folder of `datasets_core`, independent of the location of this module in it."""
    return os.path.dirname(os.path.abspath(str(sys.modules[__name__.partition(".")[0]].__file__)))


@cache
def root_folder() -> str:
    """Return the folder that contains `datasets_core`."""
    return os.path.dirname(_library_folder())


@cache
def site_folders() -> tuple[str, ...]:
    """Return the folders of the standard library and of installed packages.

    A path of `PYTHONPATH` or of a `.pth` file is one where packages were installed into it, as `pip install --target` does;
    the folder in which a program was started, and the source trees of editable packages, are not.
    """
    paths = sysconfig.get_paths()
    listed = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    listed += [os.path.join(paths["stdlib"], "lib-dynload"), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        listed.append(site.getusersitepackages())
    listed += filter(_holds_installed, sys.path)
    return tuple(dict.fromkeys(os.path.abspath(path) for path in listed if os.path.isdir(path)))


_OF_PROJECTS = (".git", ".hg", ".env", "pyproject.toml", "setup.py", "setup.cfg")


def _holds_installed(path: str) -> bool:
    """Return True if an installer has put packages into a folder that does not contain much else."""
    place = os.path.realpath(path) if path else "/"
    home = os.path.realpath(os.path.expanduser("~"))
    is_wide = home == place or home.startswith(os.path.join(place, ""))
    is_wide = is_wide or any(os.path.lexists(os.path.join(place, name)) for name in _OF_PROJECTS)  # and settings, and tokens
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
    """Return the paths that every sandboxed script may read: code, libraries, and facts about the machine and itself."""
    library = _library_folder()
    places = [library, *site_folders(), *_LIBRARIES, *_FACTS]
    door = os.path.join(library, "builders", "__init__.py")
    if os.path.isfile(door) and os.path.isdir(os.path.join(root_folder(), "builders")):
        places.append(os.path.join(root_folder(), "builders"))  # in a checkout they are next to the library
    for prefix in dict.fromkeys((sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)):
        places += [os.path.join(prefix, name) for name in ("lib", "lib64", "share", "pyvenv.cfg")]
    places += [os.path.abspath(sys.executable), os.path.realpath(sys.executable)]
    own = f"/proc/{os.getpid()}"
    return tuple(dict.fromkeys((*places, *(f"{own}/{name}" for name in _OWN))))


# bwrap, if Landlock is missing: separate namespaces for one process, with only the files that it may read.


_TRY_SECONDS = 20.0
_NUMBERS = "/dev/zero", "/dev/random", "/dev/urandom"


def program() -> str | None:
    """Return the path of bwrap, if it exists and works for this user."""
    found = shutil.which("bwrap")
    if found is None:
        return None
    tried = [found, *_WORLD, "--ro-bind", "/", "/", "--proc", "/proc", sys.executable, "-I", "-S", "-c", ""]
    try:
        done = subprocess.run(
            tried, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_TRY_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found if done.returncode == 0 else None


# Everything of its own: processes, network, users, names; and no terminal.
_WORLD = ("--unshare-all", "--die-with-parent", "--new-session")


def command(found: str, words: Sequence[str], *, inputs: Sequence[str], scratch: str) -> list[str]:
    """Return the command line that runs `words` in its own namespaces.

    Mounted folders are read-only, except the scratch folder; the root is a file system in memory, and read-only.

    Args:
        found: bwrap.
        words: the command line to run.
        inputs: files and folders that it may read, besides the interpreter and installed packages.
        scratch: the folder that it may write.
    """
    line = [found, *_WORLD]
    places = [path for path in readable() if not path.startswith(("/proc/", "/dev/"))]
    for path in dict.fromkeys((*places, *inputs, *map(os.path.realpath, inputs))):
        line += ["--ro-bind-try", path, path]
    for path in (*DEVICES, *_NUMBERS):
        line += ["--dev-bind-try", path, path]
    line += ["--proc", "/proc", "--bind", scratch, scratch, "--remount-ro", "/", "--chdir", scratch, "--"]
    return [*line, *words]


# Means of this machine to confine a script, and whether they are sufficient.


@dataclass(frozen=True, slots=True)
class Layers:
    """Protection layers of a sandboxed script.

    Attributes:
        machine: architecture of the system calls; None if unknown.
        landlock: the ABI of Landlock; 0 without.
        seccomp: True if the kernel supports filters of system calls.
        notices: True if it can hand refused calls to the parent, which reports them.
        bwrap: the program that isolates a process, if it exists, works, and there is no Landlock.
    """

    machine: str | None
    landlock: int
    seccomp: bool
    notices: bool
    bwrap: str | None = None

    @property
    def can_sandbox(self) -> bool:
        """True if an untrusted script may run here."""
        return not self.reason

    @property
    def reason(self) -> str:
        """The reason why an untrusted script may not run here; empty if it may."""
        if platform.system() != "Linux":
            return f"{platform.system()} has neither Landlock nor seccomp"
        if self.machine is None:
            return f"the system calls of {platform.machine()} are not known here"
        if not self.seccomp:
            return "its kernel takes no filters of system calls (seccomp)"
        if not self.landlock and self.bwrap is None:
            return f"its kernel ({platform.release()}) has no Landlock, and bwrap does not exist or does not work"
        return ""

    def words(self) -> list[str]:
        """Return the available layers, for messages."""
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
    version = kernel.abi() if platform.system() == "Linux" else 0
    return Layers(
        machine=kernel.machine(),
        landlock=version,
        seccomp=kernel.is_available(),
        notices=kernel.has_notices(),
        bwrap=None if version else program(),
    )


def layers() -> Layers:
    """Return the layers that this machine offers; looked up once in each process.

    >>> layers().can_sandbox in (True, False)
    True
    """
    return _found(os.getpid())


_LEAST_MEMORY = 2 << 30
_KEPT_FREE = 1 << 30
_MOST_FILES = 1024
MOST_TASKS = 4096  # threads of a confined process
_SCRATCH_FILES = 100_000
_FILES_OF_SCRATCH = 16  # as large as one may be
_CAPABILITY_VERSION = 0x20080522
_CAPSET = {"x86_64": 126, "aarch64": 91}
_BOUNDING_READ, _BOUNDING_DROP, _AMBIENT, _AMBIENT_CLEAR, _DEATH_SIGNAL = 23, 24, 47, 4, 1


def memory_bytes() -> int:
    """Return the memory limit of a confined script: the setting, else half of the machine's memory."""
    chosen = settings().confined_memory_bytes
    if chosen is not None:
        return chosen
    if not hasattr(os, "sysconf"):  # as on Windows, where no script is confined
        return _LEAST_MEMORY
    return max(_LEAST_MEMORY, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)


def file_bytes(folder: str) -> int:
    """Return the size limit of one file that a confined script writes in `folder`: the setting, else the free space there."""
    chosen = settings().confined_file_bytes
    return chosen if chosen is not None else free(folder) - kept_free(folder)


def free(folder: str) -> int:
    """Return the free bytes on the disk of `folder`."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def num_free_files(folder: str) -> int:
    """Return the number of further files on the disk of `folder`, if it has a limit; else 0."""
    return os.statvfs(folder).f_favail


def kept_free(folder: str) -> int:
    """Return the bytes that a sandboxed script must leave free there: 1 GiB, or half of the free space if that is less."""
    return min(_KEPT_FREE, free(folder) // 2)


def used(folder: str, process: int, *, most_files: int) -> tuple[int, int, int]:
    """Return bytes and files of a confined process in its scratch folder, and its threads.

    Args:
        folder: its scratch folder.
        process: its id; files that it has open or has mapped count even if they no longer have a name.
        most_files: counting stops beyond this number.
    """
    num_bytes, num_files, pending = 0, 0, [folder]
    while pending and num_files <= most_files:
        with contextlib.suppress(OSError), _entries(pending.pop()) as entries:  # the script removes what it made
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                num_bytes, num_files = num_bytes + 512 * found.st_blocks, num_files + 1
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                if num_files > most_files:
                    break
    nameless: dict[int, int] = {}  # bytes by the number of the file
    num_threads = 0
    with contextlib.suppress(OSError):
        nameless |= _mapped(process, folder)
        for name in os.listdir(f"/proc/{process}/fd"):
            with contextlib.suppress(OSError):
                found = os.stat(f"/proc/{process}/fd/{name}")
                if stat.S_ISREG(found.st_mode) and not found.st_nlink:
                    nameless[found.st_ino] = 512 * found.st_blocks
        num_threads = len(os.listdir(f"/proc/{process}/task"))
    return num_bytes + sum(nameless.values()), num_files + len(nameless), num_threads


def _mapped(process: int, folder: str) -> dict[int, int]:
    """Return the bytes of the files without a name that a process keeps by memory maps; only root learns more than what is
    mapped.
    """
    here = os.stat(folder).st_dev
    device, found = f"{os.major(here):02x}:{os.minor(here):02x}", dict[int, int]()
    with open(f"/proc/{process}/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            if not line.endswith(" (deleted)\n"):
                continue
            span, _, offset, on, number, path = line.split(maxsplit=5)
            if on != device and not path.startswith(folder):
                continue
            try:
                whole = 512 * os.stat(f"/proc/{process}/map_files/{span}").st_blocks
            except OSError:
                start, stop = (int(end, 16) for end in span.split("-"))
                whole = int(offset, 16) + stop - start
            found[int(number)] = max(whole, found.get(int(number), 0))
    return found


def _entries(folder: str) -> Any:
    """Return an open listing of a folder of the script, also if it made the folder unreadable; it cannot make links."""
    try:
        return os.scandir(folder)
    except PermissionError:
        os.chmod(folder, 0o700)
        return os.scandir(folder)


def below(process: int) -> Iterator[int]:
    """Yield a process and all that it has started, in the order of their age: `bwrap` runs a confined script in another."""
    yield process
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as file:
                for child in file.read().split():
                    yield from below(int(child))


def num_tasks() -> int:
    """Return the number of threads of this user, which the limit on processes counts."""
    count, user = 0, os.getuid()
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == user:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:  # it has ended meanwhile
            continue
    return count


def limit(*, memory: int, cpu_seconds: int | None, file: int, tasks: int) -> None:
    """Set the limits of this process, which it cannot raise again.

    Args:
        memory: bytes beyond those mapped now.
        cpu_seconds: processor time; a signal at its end, a kill a second later.
        file: size of a file it writes.
        tasks: number of threads of its user.
    """
    import resource  # not on every system

    _limit(resource.RLIMIT_AS, _address_space() + memory)
    if cpu_seconds is not None:
        _limit(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)
    _limit(resource.RLIMIT_FSIZE, file)
    _limit(resource.RLIMIT_NOFILE, _MOST_FILES)
    _limit(resource.RLIMIT_NPROC, tasks + MOST_TASKS)
    for none in (resource.RLIMIT_CORE, resource.RLIMIT_MSGQUEUE, resource.RLIMIT_RTPRIO, resource.RLIMIT_NICE):
        _limit(none, 0)


def _limit(what: int, soft: int, hard: int | None = None) -> None:
    """Return the limit, or the existing one if it is lower."""
    import resource

    _, present = resource.getrlimit(what)
    top = hard if hard is not None else soft
    top = top if present == resource.RLIM_INFINITY else min(top, present)
    resource.setrlimit(what, (min(soft, top), top))


def _address_space() -> int:
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def drop_capabilities(machine: str) -> None:
    """Drop every capability permanently, so that root has no more rights than other users.

    Raises:
        OSError: the kernel refused.
    """
    capability = 0
    while _prctl(_BOUNDING_READ, capability) >= 0:
        _prctl(_BOUNDING_DROP, capability)  # only a process that has capabilities can, and must
        capability += 1
    _prctl(_AMBIENT, _AMBIENT_CLEAR)
    header, nothing = struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24)
    checked(libc().syscall(_CAPSET[machine], header, nothing), "capset")


def die_with(parent: int) -> None:
    """Make the kernel kill this process when `parent`, which forked it, ends.

    Raises:
        ProcessLookupError: it has ended already.
    """
    _prctl(_DEATH_SIGNAL, 9)
    if os.getppid() != parent:
        raise ProcessLookupError("the process that forked this one has ended")


def _prctl(option: int, argument: int) -> int:
    return int(libc().prctl(option, ctypes.c_ulong(argument), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)))


# `Sandbox`: what a confined process may read and write, and its resource limits.


_ENVIRONMENT = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "LOGNAME": "nobody", "USER": "nobody"}


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Rights of a sandboxed process.

    Attributes:
        readable: files and folders that it may read, besides the interpreter and installed packages.
        scratch: the one folder that it may write, its working directory, `HOME` and `TMPDIR`; created if it is missing,
            and removed with its content when the process has ended.
        memory_bytes: memory limit; None: the setting.
        cpu_seconds: limit of processor time; None: the setting.
        file_bytes: size limit of one written file; None: the setting.
        preload: modules imported by the script; well-known ones are imported before the sandbox is entered.
        script: the script, for messages.
        listed: folders whose names it may read, and not the files in them.
    """

    readable: tuple[str, ...]
    scratch: str
    memory_bytes: int | None = None
    cpu_seconds: int | None = None
    file_bytes: int | None = None
    preload: tuple[str, ...] = ()
    script: str = "a script"
    listed: tuple[str, ...] = ()

    @property
    def memory(self) -> int:
        """The memory that it may use, in bytes."""
        return memory_bytes() if self.memory_bytes is None else self.memory_bytes

    @property
    def cpu(self) -> int | None:
        """The processor time that it may use, in seconds."""
        return settings().confined_cpu_seconds if self.cpu_seconds is None else self.cpu_seconds

    def most_bytes(self) -> int | None:
        """Return the bytes that its files may have in all; None if the disk is the limit."""
        chosen, each = settings().confined_scratch_bytes, self.file_bytes
        each = settings().confined_file_bytes if each is None else each
        return chosen if chosen is not None or each is None else _FILES_OF_SCRATCH * each

    def most_files(self) -> int:
        """Return the number of files that it may have."""
        chosen = settings().confined_scratch_files
        return _SCRATCH_FILES if chosen is None else chosen

    def setup(self, found: Layers) -> dict[str, Any]:
        """Return the plain values sent to the process before it enters the sandbox.

        Args:
            found: the protection layers.
        """
        time_zone = os.environ.get("TZ")
        return {
            "scratch": os.path.realpath(self.scratch),
            "readable": [os.path.realpath(path) for path in self.readable],
            "listed": [os.path.realpath(path) for path in self.listed],
            "environment": _ENVIRONMENT | ({"TZ": time_zone} if time_zone else {}),
            "memory_bytes": self.memory,
            "cpu_seconds": self.cpu,
            "file_bytes": file_bytes(self.scratch) if self.file_bytes is None else self.file_bytes,
            "machine": found.machine,
            "landlock": found.landlock,
            "seccomp": found.seccomp,
            "notices": found.notices,
        }


# Removal of scratch folders of confined scripts, regardless of their depth and content.


_DEEP = 10  # levels of the longest names that the longest path has room for, wherever the folder lies


def clear(folder: str) -> None:
    """Remove the folder and its content, if it exists.

    A script may have nested folders deeper than recursion or path lengths allow, and made them unreadable. Therefore nothing
    here is recursive, and a folder that is too deep is first moved up into `folder`.
    """
    if not os.path.lexists(folder):
        return
    os.chmod(folder, 0o700)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        here = f"/proc/self/fd/{descriptor}"  # a short name, however deep the folder itself lies
        _empty(here if os.path.isdir(here) else folder)
    finally:
        os.close(descriptor)
    os.rmdir(folder)


def _empty(folder: str) -> None:
    numbers = itertools.count()
    pending = [(folder, 0)]
    emptied: set[str] = set()
    while pending:
        place, depth = pending[-1]
        if place in emptied:
            if place != folder:
                os.rmdir(place)
            emptied.remove(place)
            pending.pop()
            continue
        emptied.add(place)
        with os.scandir(place) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                    continue
                os.chmod(entry.path, 0o700)
                pending.append((entry.path, depth + 1) if depth < _DEEP else (_moved(entry.path, folder, numbers), 1))


def _moved(path: str, folder: str, numbers: itertools.count[int]) -> str:
    """Return a folder after moving it into `folder`, under an unused name."""
    while True:
        moved = os.path.join(folder, f"{next(numbers)}.moved")
        if not os.path.lexists(moved):
            os.rename(path, moved)
            return moved
