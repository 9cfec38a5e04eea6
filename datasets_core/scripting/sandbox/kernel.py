"""Landlock and seccomp by ctypes: file access rules and system call filters of this process.

The packages for it (`pyseccomp`, and `landlockpy` for Landlock) are not used: the first needs libseccomp of the system, which
must be found and loaded, and neither saves more than the 60 lines that assemble and install a program here.  It has some 900
instructions: the machine is checked, allowed calls pass, calls that depend on their arguments have a rule each, calls that no
script needs are refused, and all others fail as nonexistent (ENOSYS).

Where the kernel can (`notices`), refused calls are handed to the parent, which refuses and reports them.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import stat
import struct
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

# The C library of this process, for calls without a Python name.


@cache
def libc() -> Any:
    """Return the C library, opened when it is first needed: not every system can open it without a name."""
    return ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """Return the result of a successful call.

    Raises:
        OSError: it failed; the message begins with `what`.

    >>> checked(3, "open")
    3
    """
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return int(result)


# Landlock, by its three system calls: the files that this process may still access; no TCP, and no signals to others.


_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all machines
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << bit for bit in range(6))
_MAKE_CHAR, _MAKE_DIR, _MAKE_REG, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = (1 << bit for bit in range(6, 13))
_REFER, _LANDLOCK_TRUNCATE, _IOCTL_DEV = (1 << bit for bit in range(13, 16))
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _LANDLOCK_TRUNCATE | _IOCTL_DEV
_READ = _READ_FILE | _READ_DIR
_WRITE = _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER | _LANDLOCK_TRUNCATE

_COVERS = {
    1: "files", 2: "moves between folders", 3: "truncation", 4: "TCP", 5: "device ioctls", 6: "signals and abstract sockets",
}  # fmt: skip


def abi() -> int:
    """Return the version of Landlock that this kernel offers; 0 if it offers none.

    >>> abi() >= 0
    True
    """
    return max(0, int(libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)))


def coverage(version: int) -> list[str]:
    """Return the actions that a version of Landlock restricts.

    >>> coverage(3)
    ['files', 'moves between folders', 'truncation']
    """
    return [what for since, what in _COVERS.items() if since <= version]


def restrict(
    *, readable: Iterable[str], listed: Iterable[str] = (), writable: Iterable[str], devices: Iterable[str], version: int
) -> None:
    """Restrict this thread to these files and folders, permanently.

    Args:
        readable: what may be read.
        listed: folders whose names may be read, and those of the folders in them.
        writable: folders that may be read and written: files and folders can be created, moved and removed, but no links,
            devices, sockets or pipes created.
        devices: files that may be read and written as they are.
        version: the ABI to use.

    Raises:
        OSError: the kernel refused.
    """
    handled = _handled(version)
    attributes = struct.pack("=QQQ", handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _call(_CREATE_RULESET, attributes[:size], ctypes.c_size_t(size), 0)
    try:
        for paths, rights in ((readable, _READ), (listed, _READ_DIR), (writable, _WRITE), (devices, _READ_FILE | _WRITE_FILE)):
            for path in paths:
                _allow(ruleset, path, rights & handled)
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _handled(version: int) -> int:
    """Return all rights over files that the version knows."""
    rights = (_MAKE_SYM << 1) - 1
    for since, right in ((2, _REFER), (3, _LANDLOCK_TRUNCATE), (5, _IOCTL_DEV)):
        rights |= right if version >= since else 0
    return rights


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return  # what is not there, or cannot be reached anyway, needs no right
    try:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        rule = struct.pack("=Qi", rights if is_folder else rights & _OF_FILES, descriptor)
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)


def _call(number: int, *arguments: int | bytes | ctypes.c_size_t) -> int:
    return checked(libc().syscall(number, *arguments), "Landlock")


# The numbers of system calls on the two supported machines, and what a confined script may do with
# each.


# What computing, threads, memory, time, and files within Landlock's bounds take.
_ALLOWED = """
read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69, pwritev 296 70,
preadv2 327 286, pwritev2 328 287, lseek 8 62, close 3 57, close_range 436 436, dup 32 23, dup2 33 -, dup3 292 24,
pipe 22 -, pipe2 293 59, open 2 -, openat 257 56, creat 85 -, access 21 -, faccessat 269 48, faccessat2 439 439,
stat 4 -, lstat 6 -, fstat 5 80, newfstatat 262 79, statx 332 291, readlink 89 -, readlinkat 267 78, getdents 78 -,
getdents64 217 61, getcwd 79 17, chdir 80 49, fchdir 81 50, umask 95 166, mkdir 83 -, mkdirat 258 34, rmdir 84 -,
unlink 87 -, unlinkat 263 35, rename 82 -, renameat 264 38, renameat2 316 276, ftruncate 77 46, fallocate 285 47,
fadvise64 221 223, readahead 187 213, fsync 74 82, fdatasync 75 83, sync_file_range 277 84, statfs 137 43,
fstatfs 138 44, flock 73 32, sendfile 40 71, copy_file_range 326 285, mmap 9 222, munmap 11 215, mprotect 10 226,
mremap 25 216, msync 26 227, madvise 28 233, mincore 27 232, brk 12 214, membarrier 324 283, get_mempolicy 239 236,
mbind 237 235, set_mempolicy 238 237, poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -,
epoll_create1 291 20, epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -,
eventfd2 290 19, timerfd_create 283 85, timerfd_settime 286 86, timerfd_gettime 287 87, rt_sigaction 13 134,
rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136, rt_sigtimedwait 128 137, rt_sigsuspend 130 133,
sigaltstack 131 132, pause 34 -, alarm 37 -, setitimer 38 103, getitimer 36 102, restart_syscall 219 128,
timer_settime 223 110, timer_gettime 224 108, timer_getoverrun 225 109, timer_delete 226 111,
nanosleep 35 101, clock_nanosleep 230 115, clock_gettime 228 113, clock_getres 229 114, gettimeofday 96 169, time 201 -,
times 100 153, futex 202 98, futex_waitv 449 449, set_robust_list 273 99, get_robust_list 274 100,
set_tid_address 218 96, rseq 334 293, exit 60 93, exit_group 231 94, arch_prctl 158 -, sched_yield 24 124,
sched_getscheduler 145 120, sched_getparam 143 121, sched_get_priority_max 146 125,
sched_get_priority_min 147 126, sched_rr_get_interval 148 127, getcpu 309 168, getpid 39 172,
getppid 110 173, gettid 186 178, getuid 102 174, geteuid 107 175, getgid 104 176, getegid 108 177, getresuid 118 148,
getresgid 120 150, getgroups 115 158, getpgrp 111 -, capget 125 90, uname 63 160,
sysinfo 99 179, getrusage 98 165, getrlimit 97 163, getrandom 318 278, wait4 61 260, waitid 247 95
"""

# What depends on its arguments: `seccomp` has a rule for each.
_RULED = """
clone 56 220, clone3 435 435, ioctl 16 29, fcntl 72 25, prctl 157 167, prlimit64 302 261, kill 62 129, tgkill 234 131,
openat2 437 437, sched_setaffinity 203 122, sched_getaffinity 204 123, getpriority 140 141, getpgid 121 155, getsid 124 156
"""

# Modes, owners and times of files, which Landlock does not cover: done as if, in the scratch folder, and refused elsewhere.
_PRETENDED = """
chown 92 -, fchown 93 55, lchown 94 -, fchownat 260 54, chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452,
utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88
"""

# Extended attributes: as if the file system had none.
_UNSUPPORTED = """
setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, getxattr 191 8, lgetxattr 192 9, fgetxattr 193 10, listxattr 194 11,
llistxattr 195 12, flistxattr 196 13, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16, setxattrat 463 463,
getxattrat 464 464, listxattrat 465 465, removexattrat 466 466
"""

# What no script needs: refused, and reported.
_REFUSED = """
socket 41 198, socketpair 53 199, connect 42 203, bind 49 200, listen 50 201, accept 43 202, accept4 288 242,
sendto 44 206, recvfrom 45 207, sendmsg 46 211, sendmmsg 307 269, recvmsg 47 212, recvmmsg 299 243, shutdown 48 210,
getsockopt 55 209, setsockopt 54 208, getsockname 51 204, getpeername 52 205, fork 57 -, vfork 58 -, execve 59 221,
execveat 322 281, ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440,
process_mrelease 448 448, pidfd_open 434 434, pidfd_getfd 438 438, pidfd_send_signal 424 424, kcmp 312 272,
tkill 200 130, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, mount 165 40, umount2 166 39, pivot_root 155 41,
chroot 161 51, unshare 272 97, setns 308 268, fsopen 430 430, fsmount 432 432, fsconfig 431 431, fspick 433 433,
move_mount 429 429, open_tree 428 428, mount_setattr 442 442, keyctl 250 219, add_key 248 217, request_key 249 218,
bpf 321 280, perf_event_open 298 241, io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427,
userfaultfd 323 282, memfd_create 319 279, memfd_secret 447 447, shmget 29 194, shmat 30 196, shmctl 31 195,
shmdt 67 197, semget 64 190, semop 65 193, semctl 66 191, semtimedop 220 192, msgget 68 186, msgsnd 69 189,
msgrcv 70 188, msgctl 71 187, mq_open 240 180, mq_unlink 241 181,
mq_notify 244 184, timer_create 222 107, inotify_init 253 -, inotify_init1 294 26,
inotify_add_watch 254 27, fanotify_init 300 262, fanotify_mark 301 263, open_by_handle_at 304 265,
name_to_handle_at 303 264, quotactl 179 60, quotactl_fd 443 443, link 86 -, linkat 265 37, symlink 88 -,
symlinkat 266 36, mknod 133 -, mknodat 259 33, truncate 76 45, setuid 105 146, setgid 106 144, setreuid 113 145,
setregid 114 143, setresuid 117 147, setresgid 119 149, setgroups 116 159, setfsuid 122 151, setfsgid 123 152,
capset 126 91, setsid 112 157, setpgid 109 154, personality 135 92, setpriority 141 140, ioprio_set 251 30,
sched_setscheduler 144 119, sched_setparam 142 118, sched_setattr 314 274, setrlimit 160 164, reboot 169 142,
kexec_load 246 104, kexec_file_load 320 294, init_module 175 105, finit_module 313 273, delete_module 176 106,
swapon 167 224, swapoff 168 225, acct 163 89, syslog 103 116, settimeofday 164 170, clock_settime 227 112,
clock_adjtime 305 266, adjtimex 159 171, sethostname 170 161, setdomainname 171 162, iopl 172 -, ioperm 173 -,
modify_ldt 154 -, vhangup 153 58, sync 162 81, syncfs 306 267, splice 275 76, tee 276 77, vmsplice 278 75,
migrate_pages 256 238, move_pages 279 239, seccomp 317 277, landlock_create_ruleset 444 444, landlock_add_rule 445 445,
landlock_restrict_self 446 446, lookup_dcookie 212 18, nfsservctl 180 42, uselib 134 -, io_setup 206 0, io_submit 209 2,
io_destroy 207 1, signalfd 282 -, signalfd4 289 74, remap_file_pages 216 234
"""

MACHINES = ("x86_64", "aarch64")


def _table(text: str, machine: str) -> dict[str, int]:
    column = 1 + MACHINES.index(machine)
    entries = (entry.split() for entry in text.replace(",\n", ",").strip().split(",") if entry.strip())
    return {entry[0]: int(entry[column]) for entry in entries if entry[column] != "-"}


def allowed(machine: str) -> dict[str, int]:
    """System calls that a confined script may make, by name.

    >>> allowed("x86_64")["read"], allowed("aarch64")["read"]
    (0, 63)
    """
    return _table(_ALLOWED, machine)


def ruled(machine: str) -> dict[str, int]:
    """System calls that it may make with some arguments."""
    return _table(_RULED, machine)


def pretended(machine: str) -> dict[str, int]:
    """System calls that change modes, owners and times of files."""
    return _table(_PRETENDED, machine)


def unsupported(machine: str) -> dict[str, int]:
    """System calls that fail as if they were not supported."""
    return _table(_UNSUPPORTED, machine)


def refused(machine: str) -> dict[str, int]:
    """System calls that it may not make, and whose use is reported."""
    return _table(_REFUSED, machine)


def name_of(number: int, machine: str) -> str:
    """Return the name of a system call.

    >>> name_of(59, "x86_64"), name_of(9999, "x86_64")
    ('execve', 'number 9999')
    """
    for table in (_REFUSED, _RULED, _PRETENDED, _UNSUPPORTED, _ALLOWED):
        for name, found in _table(table, machine).items():
            if found == number:
                return name
    return f"number {number}"


_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_X32 = 0x40000000  # numbers from here on are of the x32 machine, whose calls are others
_SET_FILTER, _GET_ACTION = 1, 2
_NEW_LISTENER = 1 << 3
_NO_NEW_PRIVS = 38

ALLOW, KILL, NOTIFY = 0x7FFF0000, 0x80000000, 0x7FC00000

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06  # BPF_LD|W|ABS, BPF_ALU|AND|K, BPF_RET|K
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45  # BPF_JMP|JEQ|K, JGE, JSET
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16

_THREAD = 0x00010000
_THREAD_FLAGS = 0x007D0F00  # what C libraries start threads with, and nothing that makes a process or a namespace
_ACCESS_MODE, _SYSCALL_TRUNCATE = 3, 0o1000
_FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032, 1034)  # duplicates, flags, locks, sizes; no signals, no leases
_PRCTL = (3, 15, 16, 23, 39, 41, 42, 0x53564D41)  # names of threads and of memory, huge pages, questions
_IOCTL = (0x5401, 0x5413, 0x5421, 0x541B, 0x5450, 0x5451)  # is it a terminal, how large; blocking, bytes there, close on exec
_FORGE_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_CLONE_FILE = 0x40049409  # FICLONE, which callers know may not be supported

Instruction = tuple[int, int, int, int]


def errno_action(code: int) -> int:
    """Return the action that lets a call fail."""
    return 0x00050000 | code


REFUSE = errno_action(errno.EPERM)


def machine() -> str | None:
    """Return the machine whose system calls this process makes, if it is supported.

    >>> machine() in {"x86_64", "aarch64", None}
    True
    """
    name = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    is_wide = struct.calcsize("P") == 8  # a 32-bit interpreter makes the calls of another machine
    return name if name in _ARCHITECTURES and is_wide and platform.system() == "Linux" else None


def is_available() -> bool:
    """Return True if the kernel supports filters."""
    return _has_action(REFUSE & 0xFFFF0000)


def has_notices() -> bool:
    """Return True if the kernel can hand calls to another process."""
    return _has_action(NOTIFY)


def _has_action(action: int) -> bool:
    number = _SECCOMP.get(machine() or "")
    return number is not None and libc().syscall(number, _GET_ACTION, 0, struct.pack("=I", action)) == 0


def program(name: str, *, process: int, notices: bool) -> list[Instruction]:
    """Return the filter of a confined process.

    Args:
        name: the machine.
        process: its id: it may send signals to itself.
        notices: refused calls are passed to the parent; the call that sends it the descriptor for that is still allowed
            (`closing`).
    """
    deny = NOTIFY if notices else REFUSE
    rules: dict[str, list[Instruction]] = dict.fromkeys(allowed(name), _always(ALLOW))
    rules |= dict.fromkeys(refused(name), _always(deny))
    rules |= dict.fromkeys(pretended(name), _always(NOTIFY if notices else errno_action(0)))
    rules |= dict.fromkeys(unsupported(name), _always(errno_action(errno.EOPNOTSUPP)))
    if not notices:
        rules["utimensat"] = _present_time()
    rules |= dict.fromkeys(("clone3", "openat2"), _always(errno_action(errno.ENOSYS)))  # by pointer: callers then use the older
    rules["clone"] = _thread(deny)
    rules["open"], rules["openat"] = _opening(1, deny), _opening(2, deny)
    rules["kill"] = rules["tgkill"] = _one_of(0, {process: ALLOW}, deny)
    rules["prlimit64"] = _one_of(0, {0: ALLOW, process: ALLOW}, deny)
    of_itself = {0: ALLOW, process: ALLOW}  # and nothing about others
    rules |= dict.fromkeys(("sched_setaffinity", "getpgid", "getsid"), _one_of(0, of_itself, REFUSE))
    rules["sched_getaffinity"] = _one_of(0, of_itself, errno_action(errno.ENOSYS))  # which C libraries expect, of their threads
    rules["getpriority"] = _one_of(1, of_itself, REFUSE)
    rules["fcntl"] = _one_of(1, dict.fromkeys(_FCNTL, ALLOW), deny)
    rules["prctl"] = _one_of(0, dict.fromkeys(_PRCTL, ALLOW), deny)
    rules["ioctl"] = _one_of(
        1,
        dict.fromkeys(_IOCTL, ALLOW) | dict.fromkeys(_FORGE_INPUT, deny) | {_CLONE_FILE: errno_action(errno.EOPNOTSUPP)},
        errno_action(errno.ENOTTY),
    )
    if notices:
        rules["sendmsg"] = rules["seccomp"] = _always(ALLOW)
    numbers = _numbers(name)
    return _assembled(
        name, {numbers[call]: rule for call, rule in rules.items() if call in numbers}, errno_action(errno.ENOSYS)
    )


def closing(name: str) -> list[Instruction]:
    """Return the filter that blocks the call that `program` allows only for notices."""
    numbers = _numbers(name)
    return _assembled(name, {numbers[call]: _always(REFUSE) for call in ("sendmsg", "seccomp")}, ALLOW)


def _numbers(name: str) -> dict[str, int]:
    tables: Iterable[Callable[[str], dict[str, int]]] = (
        allowed,
        refused,
        pretended,
        unsupported,
        ruled,
    )
    return {call: number for table in tables for call, number in table(name).items()}


def _always(action: int) -> list[Instruction]:
    return [(_RETURN, 0, 0, action)]


def _argument(index: int) -> Instruction:
    """Load the low half of an argument; the kernel only uses this half of the arguments in rules."""
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * index)


def _one_of(index: int, actions: dict[int, int], otherwise: int) -> list[Instruction]:
    tests = [each for value, action in actions.items() for each in ((_EQUAL, 0, 1, value), *_always(action))]
    return [_argument(index), *tests, *_always(otherwise)]


def _thread(deny: int) -> list[Instruction]:
    """Rule: clone may only make a thread."""
    return [
        _argument(0),
        (_ANY_BIT, 0, 2, _THREAD),
        (_AND, 0, 0, 0xFFFFFFFF ^ _THREAD_FLAGS),
        (_EQUAL, 1, 0, 0),
        *_always(deny),
        *_always(ALLOW),
    ]


def _present_time() -> list[Instruction]:
    """Rule: setting times of files seems to succeed, except setting the present time, which fails, as for a file that does not
    exist (`touch`).
    """
    high = (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * 2 + 4)
    given = _always(errno_action(0))
    return [_argument(2), (_EQUAL, 1, 0, 0), *given, high, (_EQUAL, 1, 0, 0), *given, *_always(REFUSE)]


def _opening(index: int, deny: int) -> list[Instruction]:
    """Rule: opening may not truncate a file that is not opened for writing, which the first versions of Landlock allow."""
    return [
        _argument(index),
        (_AND, 0, 0, _ACCESS_MODE),
        (_EQUAL, 3, 0, 3),
        (_EQUAL, 0, 3, 0),
        _argument(index),
        (_ANY_BIT, 0, 1, _SYSCALL_TRUNCATE),
        *_always(deny),
        *_always(ALLOW),
    ]


def _assembled(name: str, rules: dict[int, list[Instruction]], otherwise: int) -> list[Instruction]:
    written = [(_LOAD, 0, 0, _MACHINE_AT), (_EQUAL, 1, 0, _ARCHITECTURES[name]), *_always(KILL), (_LOAD, 0, 0, _NUMBER_AT)]
    if name == "x86_64":
        written += [(_AT_LEAST, 0, 1, _X32), *_always(KILL)]
    # The kernel keeps in mind which calls always pass, so only those with rules are looked up, and they come first.
    for number, rule in sorted(rules.items(), key=lambda each: (len(each[1]) == 1, each[0])):
        written += [(_EQUAL, 0, len(rule), number), *rule]
    return [*written, *_always(otherwise)]


def forbid_new_privileges() -> None:
    """Prevent programs that this process executes from gaining rights; filters and Landlock require it.

    Raises:
        OSError: the kernel refused.
    """
    nothing = [ctypes.c_ulong(0)] * 3
    checked(libc().prctl(_NO_NEW_PRIVS, ctypes.c_ulong(1), *nothing), "no_new_privs")


def install(instructions: list[Instruction], *, notices: bool = False) -> int:
    """Install a filter on this thread and all its descendants, permanently.

    Returns:
        The descriptor of the notices; 0 without.

    Raises:
        OSError: the kernel refused.
    """
    code = b"".join(struct.pack("=HBBI", *each) for each in instructions)
    text = ctypes.create_string_buffer(code, len(code))
    described = struct.pack("@HP", len(instructions), ctypes.addressof(text))
    number = _SECCOMP[machine() or ""]
    return checked(libc().syscall(number, _SET_FILTER, _NEW_LISTENER if notices else 0, described), "seccomp")
