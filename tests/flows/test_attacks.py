"""Scripts of strangers that attack: what they try is denied and told of, and the process that loads them goes on unharmed.

Each kind of attack has many modes: a part of them is tried in each run, all of them with HYPOTHESIS_PROFILE=campaign.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import dataclasses
import http.server
import io
import json
import os
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import datasets_core
from datasets_core.scripting.sandbox.limits import layers

ATTACKS = Path(__file__).parents[1] / "attacks"
_T = TypeVar("_T")
PHASES = ("import", "info", "split_generators", "generate")
NOBODY = 65534
_PATIENCE_SECONDS = 12.0  # a parent that does not answer is harmed
_PICTURE = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
CANARY = "CANARY-" + os.urandom(8).hex()

_IS_CAMPAIGN = os.environ.get("HYPOTHESIS_PROFILE") == "campaign"
_GOES_ON_EVERY = 1 if _IS_CAMPAIGN else 8  # attacks after which another script is loaded


def _some(modes: Sequence[_T], *, of: int) -> Sequence[_T]:
    """One of so many modes, or all."""
    return modes if _IS_CAMPAIGN else modes[::of]


pytestmark = pytest.mark.skipif(not layers().can_sandbox, reason=f"nothing is confined here: {layers().reason}")


# -- a user with secrets ---------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Place:
    """A user's folders, with secrets in them, and servers that nobody may reach."""

    root: Path
    where: dict[str, Any]
    reached: list[str]

    def script(self, name: str, **told: Any) -> str:
        """An attack where the user would have it."""
        folder = self.root / "scripts" / f"{name}_{len(os.listdir(self.root / 'scripts'))}" / name
        shutil.copytree(ATTACKS / name, folder)
        shutil.copy(ATTACKS / "attacker.py", folder)
        (folder / "where.json").write_text(json.dumps({**self.where, "phase": "none", **told}))
        _given_away(folder.parent)
        return str(folder)

    def state(self) -> dict[str, Any]:
        """Everything of the user's that an attack might change."""
        kept = {}
        for folder in ("home", "project", "other", "tmp"):
            for path in sorted((self.root / folder).rglob("*")):
                found = path.lstat()
                text = path.read_bytes() if path.is_file() and not path.is_symlink() else None
                is_file = stat.S_ISREG(found.st_mode)
                kept[str(path)] = (found.st_mode, found.st_uid, found.st_nlink, found.st_mtime_ns if is_file else 0, text)
        return kept


def _given_away(folder: Path) -> None:
    """Let the unprivileged user own what root made for it."""
    if os.getuid():
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def _filled(root: Path) -> dict[str, Any]:
    """The user's folders, and where in them there is something to attack."""
    for name in ("home/.ssh", "home/empty", "home/.config", "project", "other", "tmp", "scripts", "cache/downloads/confined/x"):
        (root / name).mkdir(parents=True, exist_ok=True)
    secrets = {
        "secret": root / "home/.ssh/id_rsa", "token_file": root / "home/.config/token", "target": root / "home/notes.txt",
        "project_file": root / "project/.env", "other_dataset": root / "cache/other.arrow",
        "other_scratch": root / "cache/downloads/confined/x/file", "shadow_copy": root / "home/shadow",
    }  # fmt: skip
    for path in secrets.values():
        path.write_text(f"{CANARY}\n")
        path.chmod(0o600)
    (root / "project/project_secrets.py").write_text(f"TOKEN = {CANARY!r}\n")
    (root / "home/archive.tar").write_bytes(b"")
    shutil.make_archive(str(root / "home/archive"), "tar", root / "home/.ssh")
    pq.write_table(pa.table({"secret": [CANARY]}), root / "home/secrets.parquet")
    with contextlib.closing(sqlite3.connect(root / "home/secrets.sqlite")) as database:
        database.execute("CREATE TABLE secrets (secret TEXT)")
        database.execute("INSERT INTO secrets VALUES (?)", (CANARY,))
        database.commit()
    places = {
        "home": root / "home", "project": root / "project", "cache": root / "cache", "temporary": root / "tmp",
        "archive": root / "home/archive.tar", "parquet": root / "home/secrets.parquet",
        "database": root / "home/secrets.sqlite", "empty": root / "home/empty", "settings_folder": root / "home/.config",
        "files": root / "cache/downloads", "picture": root / "home/picture.png", "fifo": root / "home/fifo",
    }  # fmt: skip
    known = {"passwd": "/etc/passwd", "root": "/", "mounts": "/etc", "shared_memory": "/dev/shm"}
    os.mkfifo(root / "home/fifo")
    (root / "home/picture.png").write_bytes(_PICTURE)
    return {**known, **{name: str(path) for name, path in {**secrets, **places}.items()}}


@contextlib.contextmanager
def _servers(root: Path, reached: list[str]) -> Iterator[dict[str, Any]]:
    """Servers that note whoever reaches them."""
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        local, abstract = (stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        local.bind(str(root / "socket"))
        os.chmod(root / "socket", 0o777)
        name = root.name
        abstract.bind(f"\0{name}")
        local.listen()
        abstract.listen()
        closing, closed = socket.socketpair()

        def watch() -> None:
            import select

            waiting = select.poll()
            for each in (tcp, udp, local, abstract, closed):
                waiting.register(each, select.POLLIN)
            while True:
                for descriptor, _ in waiting.poll():
                    if descriptor == closed.fileno():
                        return
                    for kind, each in (("tcp", tcp), ("unix", local), ("abstract", abstract)):
                        if each.fileno() == descriptor:
                            made, _ = each.accept()
                            reached.append(kind)
                            made.close()
                    if udp.fileno() == descriptor:
                        reached.append(f"udp {udp.recv(100)!r}")

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield {
                "port": tcp.getsockname()[1], "datagrams": udp.getsockname()[1], "unix": str(root / "socket"), "abstract": name,
            }  # fmt: skip
        finally:
            closing.send(b"!")
            thread.join()
            closing.close()
            closed.close()


class _Redirects(http.server.BaseHTTPRequestHandler):
    """Sends whoever asks to what stands behind the question mark."""

    def do_GET(self) -> None:
        there = self.path.partition("?")[2]
        self.send_response(302 if there else 200)
        if there:
            self.send_header("Location", there)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"text")

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: Any) -> None:
        return None


@contextlib.contextmanager
def _redirecting() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Redirects) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with _placed() as found:
        yield found


@contextlib.contextmanager
def _placed() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="attacked-", ignore_cleanup_errors=True) as folder:
        root, reached = Path(folder).resolve(), list[str]()
        where = _filled(root)
        with _servers(root, reached) as servers, _redirecting() as port:
            root.chmod(0o755)
            _given_away(root)
            yield Place(root, {**where, **servers, "redirects": port}, reached)


class Victim:
    """The user's process; another is started where one has ended."""

    def __init__(self, place: Place, *, is_root: bool = False) -> None:
        self.place = place
        self._is_root = is_root
        self._process: subprocess.Popen[str] | None = None
        self.id = 0
        self.num_attacks = 0
        self.baseline: dict[str, Any] = {}

    def start(self) -> None:
        root = self.place.root
        repository = Path(datasets_core.__file__).parents[1]
        environment = {
            "HOME": str(root / "home"), "HF_HOME": str(root / "home/.cache/huggingface"),
            "HF_DATASETS_CACHE": str(root / "cache"), "TMPDIR": str(root / "tmp"), "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8", "PYTHONPATH": f"{repository}:{root / 'project'}",
            "HF_TOKEN": CANARY, "SECRET": CANARY, "AWS_SECRET_ACCESS_KEY": CANARY, "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        words = [sys.executable, str(ATTACKS / "victim.py"), str(root / "printed")]
        self._process = subprocess.Popen(
            words if self._is_root else [*_as_user([sys.prefix, sys.base_prefix, str(repository)]), *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=root / "project",
        )  # fmt: skip
        self.id = self._answer()["ready"]
        self.ask(path=self.place.script("good"))
        self.baseline = self.ask(path=self.place.script("good"))["left"]

    def ask(self, **asked: Any) -> dict[str, Any]:
        """What came of one request; see `victim.py`."""
        if self._process is None or self._process.poll() is not None:
            self.start()
        self.tell(**asked)
        return self._answer()

    def tell(self, **asked: Any) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        late = threading.Timer(_PATIENCE_SECONDS, self._process.kill)
        late.start()
        try:
            line = self._process.stdout.readline()
        finally:
            late.cancel()
        assert line, f"the parent was harmed: it ended with {self._process.wait()}"
        found: dict[str, Any] = json.loads(line)
        return found

    def stop(self) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()


_HIDING = """
set -e
user=$1; shift
while [ "$1" != -- ]; do
    kept=$(mktemp -d); mount --bind "$2" "$kept"; mount -t tmpfs -o mode=755 none "$1"
    mkdir -p "$2"; mount --bind "$kept" "$2"; umount "$kept"; rmdir "$kept"; shift; shift
done
shift
exec setpriv --reuid "$user" --regid "$user" --clear-groups "$@"
"""


def _as_user(needed: list[str]) -> list[str]:
    """The words before a command that make it one of an unprivileged user, who reaches what it needs.

    Where root's own home holds the interpreter, the command sees an open folder in its place that holds nothing else.
    """
    if os.getuid():
        return []
    closed = []
    for path in map(Path, needed):
        above = next((each for each in reversed(path.parents) if not each.stat().st_mode & stat.S_IXOTH), None)
        if above is not None and str(above) not in closed:
            closed += [str(above), str(path)]
    return ["unshare", "--mount", "sh", "-c", _HIDING, "sh", str(NOBODY), *closed, "--"]


@pytest.fixture(scope="module")
def victim(place: Place) -> Iterator[Victim]:
    found = Victim(place)
    try:
        found.start()
    except (OSError, AssertionError) as error:
        pytest.skip(f"no unprivileged user can be had for the attacks ({error})")
    yield found
    _goes_on(found)
    found.stop()


@pytest.fixture
def root() -> Iterator[Victim]:
    """The same as root, who may do everything."""
    if os.getuid():
        pytest.skip("nobody is root here")
    with _placed() as place:
        found = Victim(place, is_root=True)
        found.start()
        yield found
        found.stop()


# -- what every attack must come to ----------------------------------------------------------------------------------------


def _unharmed(victim: Victim, told: dict[str, Any], before: dict[str, Any]) -> None:
    """Nothing got out, nothing was changed, nothing is left, and the next script loads."""
    whole = json.dumps(told)
    assert CANARY not in whole
    assert "Traceback" not in told["printed"]
    assert victim.place.reached == []
    assert victim.place.state() == before
    assert told["left"] == victim.baseline
    victim.num_attacks += 1
    if victim.num_attacks % _GOES_ON_EVERY == 0:
        _goes_on(victim)


def _goes_on(victim: Victim) -> None:
    again = victim.ask(path=victim.place.script("good"))
    assert again["error"] is None
    assert [row["a"] for row in again["rows"]["train"]] == ["0", "1", "2"]
    assert again["left"] == victim.baseline


def _denials(told: dict[str, Any]) -> list[str]:
    return [each for each in told["warnings"] if each.startswith("DeniedAccessWarning")]


def _is_ours(told: dict[str, Any]) -> bool:
    return told["error"] is not None and "DatasetsCoreError" in told["error"]["class"]


def _harmless(text: str) -> bool:
    """Whether a terminal shows a text, and does nothing else."""
    return all(each.isprintable() or each in "\n\t" for each in text)


@dataclasses.dataclass(frozen=True)
class Attack:
    """An attack that tries many ways one after the other.

    Args:
        name: its folder.
        told: what the warnings must name of what was tried.
        only: a way that is tried alone, and not caught by the script.
        tried: what its error must name.
    """

    name: str
    told: tuple[str, ...]
    only: str | None = None
    tried: str = ""

    def __str__(self) -> str:
        return self.name


TRIED = [
    Attack(
        "read_outside", ("read '", ".ssh/id_rsa", "make a link", "'/etc/passwd'", "secrets.sqlite"), "open secret",
        "tried to read '",
    ),
    Attack(
        "read_processes", ("/environ'", "/mem'", "ptrace", "process_vm_readv", "pidfd_open"), "environ of parent", "/environ'"
    ),
    Attack("list_home", ("list '", "/home'"), "listdir", "tried to list '"),
    Attack("read_token", ()),
    Attack(
        "write_outside", ("write '", "remove '", "move '", "make the folder '", "change the mode of '", "notes.txt'"), "append",
        "tried to write '",
    ),
    Attack(
        "connect", ("open a socket", "connect to", "io_uring_setup", "look up the address"), "tcp",
        "tried to open a socket (AF_INET, SOCK_STREAM)",
    ),
    Attack(
        "start_processes", ("/bin/touch", "(fork)", "by the system call clone", "execveat"), "system",
        "tried to start a process (/bin/touch",
    ),
    Attack(
        "kill_parent", ("send signal 9 to process", "tgkill", "setpriority", "prlimit64"), "kill parent",
        "tried to send signal 9 to process",
    ),
    Attack("games", ("kill", "open a socket", "system call")),
    Attack("machine_code", ("ptrace", "mount", "keyctl", "bpf", "io_uring_setup", "execve")),
]  # fmt: skip


ALL_TRIED = [(attack, phase) for attack in TRIED for phase in PHASES]


@pytest.mark.parametrize(("attack", "phase"), _some(ALL_TRIED, of=3))
def test_what_a_script_tries_is_denied_told_of_and_harmless(victim: Victim, attack: Attack, phase: str) -> None:
    before = victim.place.state()
    told = victim.ask(path=victim.place.script(attack.name, phase=phase, process=victim.id, mode=""))
    assert told["error"] is None
    tried = told["rows"]["train"]
    assert len(tried) > 5
    assert [row for row in tried if row["outcome"] == "'done'"] == []
    assert [row for row in tried if "NameError" in row["got"] or "TypeError" in row["got"]] == []
    assert [words for words in attack.told if not any(words in each for each in _denials(told))] == []
    assert all("trust_remote_code=True" in each and _harmless(each) for each in _denials(told))
    _unharmed(victim, told, before)


@pytest.mark.parametrize(("attack", "phase"), _some([each for each in ALL_TRIED if each[0].only], of=3))
def test_what_a_script_does_not_catch_is_an_error_that_names_it_and_its_line(
    victim: Victim, attack: Attack, phase: str
) -> None:
    before = victim.place.state()
    path = victim.place.script(attack.name, phase=phase, process=victim.id, mode="", only=attack.only)
    told = victim.ask(path=path)
    assert told["error"] is not None
    assert told["error"]["class"][0] == "DeniedAccessError"
    assert attack.tried in told["error"]["text"]
    assert os.path.join(path, f"{attack.name}.py") in told["error"]["text"]
    assert told["error"]["facts"]["line"] > 0
    assert "trust_remote_code=True" in told["error"]["text"]
    _unharmed(victim, told, before)


def test_scripts_that_root_loads_are_confined_too(root: Victim) -> None:
    before = root.place.state()
    for attack in TRIED:
        path = root.place.script(attack.name, phase="generate", process=root.id, mode="")
        told = root.ask(path=path)
        assert told["error"] is None
        assert [row for row in told["rows"]["train"] if row["outcome"] == "'done'"] == []
        _unharmed(root, told, before)


def test_streamed_scripts_are_confined_too(victim: Victim) -> None:
    before = victim.place.state()
    path = victim.place.script("read_outside", phase="generate", process=victim.id, mode="")
    told = victim.ask(path=path, options={"streaming": True})
    assert told["error"] is None
    assert [row for row in told["rows"]["train"] if row["outcome"] == "'done'"] == []
    assert told["rows"]["train"]
    assert any("read '" in each for each in _denials(told))
    _unharmed(victim, told, before)


@pytest.mark.parametrize("name", _some(["write_outside", "read_outside", "connect"], of=3))
def test_who_only_looks_at_a_dataset_runs_its_script_confined(victim: Victim, name: str) -> None:
    before = victim.place.state()
    path = victim.place.script(name, phase="import", process=victim.id, mode="")
    _unharmed(victim, victim.ask(path=path, do="look"), before)


# -- bombs -----------------------------------------------------------------------------------------------------------------

SMALL = {"confined_memory_bytes": 1 << 28, "confined_output_bytes": 1 << 20, "confined_file_bytes": 1 << 20}
ENDED = {
    "generate": ("threads", "list", "mmap", "arrays", "chained", "file", "rows", "row", "empty rows", "key", "shape", "forks"),
    "split_generators": ("list", "recursion", "chained", "question", "gen_kwargs", "deep gen_kwargs", "threads"),
    "info": ("list", "mmap", "description", "deep features", "classes", "docstring", "description of a config"),
    "import": ("list", "arrays", "chained"),
}  # fmt: skip
ENDLESS = [
    ("generate", "print"), ("generate", "line"), ("generate", "swallowed"), ("generate", "denied"), ("generate", "refused"),
    ("import", "print"), ("info", "denied"), ("split_generators", "caught"),
]  # fmt: skip


@pytest.mark.parametrize(("phase", "mode"), _some([(phase, mode) for phase, modes in ENDED.items() for mode in modes], of=2))
def test_a_script_that_takes_all_that_there_is_fails_alone(victim: Victim, phase: str, mode: str) -> None:
    before = victim.place.state()
    told = victim.ask(path=victim.place.script("bomb", phase=phase, mode=mode), settings=SMALL, options={"timeout": 60})
    assert _is_ours(told)
    assert "ScriptTimeoutError" not in told["error"]["class"]
    assert len(told["error"]["text"]) < 50_000
    assert told["most_memory"] < 1 << 30
    _unharmed(victim, told, before)


@pytest.mark.parametrize(("phase", "mode"), _some(ENDLESS, of=3))
def test_a_script_without_an_end_is_stopped_in_time(victim: Victim, phase: str, mode: str) -> None:
    before = victim.place.state()
    told = victim.ask(path=victim.place.script("bomb", phase=phase, mode=mode), settings=SMALL, options={"timeout": 0.7})
    assert told["error"]["class"][0] in ("ScriptTimeoutError", "ScriptMemoryError")
    assert len(told["log"]) < 200_000
    assert told["printed"] == ""
    _unharmed(victim, told, before)


@pytest.mark.parametrize(
    ("phase", "mode"),
    _some([("import", "loop"), ("info", "sleep"), ("split_generators", "lock"), ("generate", "library"), ("generate", "silent"),
     ("generate", "half"), ("generate", "stop"), ("import", "computing"), ("generate", "loop")], of=3),
)  # fmt: skip
def test_a_script_that_hangs_is_stopped_in_time(victim: Victim, phase: str, mode: str) -> None:
    before = victim.place.state()
    told = victim.ask(path=victim.place.script("hang", phase=phase, mode=mode), options={"timeout": 0.7})
    assert _is_ours(told)
    _unharmed(victim, told, before)


LEAVES = (
    "_exit", "_exit with a status", "sys.exit", "libc exit", "abort", "kill itself", "crash", "crash of a thread", "thread",
    "interrupt", "GeneratorExit", "StopIteration", "odd error", "its own class", "group", "closed descriptors", "finalizer",
)  # fmt: skip


@pytest.mark.parametrize(("phase", "mode"), _some([(PHASES[number % 4], mode) for number, mode in enumerate(LEAVES)], of=3))
def test_a_script_that_leaves_or_crashes_its_process_is_an_error(victim: Victim, phase: str, mode: str) -> None:
    before = victim.place.state()
    told = victim.ask(path=victim.place.script("leave", phase=phase, mode=mode), options={"timeout": 10})
    assert _is_ours(told)
    assert "leave.py" in told["error"]["text"] or mode == "its own class"
    _unharmed(victim, told, before)


# -- what it tells the parent ----------------------------------------------------------------------------------------------


def _keys_of(name: str, *tables: str) -> list[str]:
    """The keys of dicts in the text of an attack, which runs in no other process than a confined one."""
    tree = ast.parse((ATTACKS / name / f"{name}.py").read_text(encoding="utf-8"))
    found = {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Dict)
    }
    return [key.value for table in tables for key in found[table].keys if isinstance(key, ast.Constant)]


GOOD_FRAMES = {"end at once", "good", "after the end", "denials of nothing", "escapes in a denial", "facts", "reread"}
OPEN_FRAMES = ("rows of nothing", "lists of nothing", "long lists of nothing", "runs", "facts", "extension inside", "offsets")


@pytest.mark.parametrize("mode", _some([*_keys_of("frames", "FRAMES"), *(f"damaged {seed}" for seed in range(40))], of=4))
def test_messages_of_a_hostile_process_are_refused(victim: Victim, mode: str) -> None:
    before = victim.place.state()
    told = victim.ask(
        path=victim.place.script("frames", mode=mode, open=False),
        settings=SMALL | {"confined_memory_bytes": 1 << 29},
        options={"timeout": 10},
    )
    assert (told["error"] is None) if mode in GOOD_FRAMES else _is_ours(told)
    assert _harmless(json.dumps(told["error"], ensure_ascii=False))
    assert all(map(_harmless, told["warnings"]))
    assert told["most_memory"] < 1 << 30
    _unharmed(victim, told, before)


@pytest.mark.parametrize("mode", _some(OPEN_FRAMES, of=2))
def test_rows_of_a_hostile_process_whose_columns_nobody_announced_are_checked(victim: Victim, mode: str) -> None:
    before = victim.place.state()
    told = victim.ask(path=victim.place.script("frames", mode=mode, open=True), settings=SMALL, options={"timeout": 10})
    assert told["error"] is None or _is_ours(told)
    assert told["most_memory"] < 1 << 30
    _unharmed(victim, told, before)


@pytest.mark.parametrize("mode", _some(_keys_of("frames", "ENDLESS"), of=2))
def test_messages_without_an_end_are_stopped(victim: Victim, mode: str) -> None:
    before = victim.place.state()
    told = victim.ask(path=victim.place.script("frames", mode=mode, open=False), settings=SMALL, options={"timeout": 0.7})
    assert _is_ours(told)
    _unharmed(victim, told, before)


@pytest.mark.parametrize("mode", _some(_keys_of("forms", "CLASS", "BUILDER", "SPLITS"), of=4))
def test_builders_that_cannot_be_lead_nowhere(victim: Victim, mode: str) -> None:
    before = victim.place.state()
    told = victim.ask(path=victim.place.script("forms", phase="import", mode=mode), options={"timeout": 10})
    assert told["error"] is None or _is_ours(told)
    assert _harmless(json.dumps(told["error"], ensure_ascii=False))
    _unharmed(victim, told, before)


NAMES = (
    "version", "default", "class name", "names of classes", "cache", "names of the info", "column", "split", "split with dots",
    "long split", "split with escapes", "values", "values of rows", "keys", "same keys",
)  # fmt: skip


@pytest.mark.parametrize("mode", _some([*_keys_of("names", "CONFIGS"), *NAMES], of=3))
def test_names_and_values_of_a_script_lead_nowhere(victim: Victim, mode: str) -> None:
    before = victim.place.state()
    told = victim.ask(path=victim.place.script("names", mode=mode), options={"timeout": 10})
    assert told["error"] is None or _is_ours(told)
    assert _harmless(told["error"]["text"] if told["error"] else "")
    _unharmed(victim, told, before)


@pytest.mark.parametrize("mode", _some(_keys_of("questions", "QUESTIONS"), of=4))
def test_questions_that_are_none_are_refused(victim: Victim, mode: str) -> None:
    before = victim.place.state()
    told = victim.ask(path=victim.place.script("questions", phase="split_generators", mode=mode), options={"timeout": 10})
    assert told["error"] is None or _is_ours(told)
    assert told["error"] is not None or [row["outcome"] for row in told["rows"]["train"]] == ["'denied'"]
    _unharmed(victim, told, before)


def test_questions_for_what_no_script_may_have_are_refused(victim: Victim) -> None:
    before = victim.place.state()
    told = victim.ask(
        path=victim.place.script("questions", phase="split_generators", mode=""),
        settings={"max_retries": 1},
        options={"timeout": 30},
    )
    assert told["error"] is None
    assert [row for row in told["rows"]["train"] if row["outcome"] == "'done'"] == []
    assert len(told["rows"]["train"]) > 50
    _unharmed(victim, told, before)


def test_questions_that_were_refused_are_told_of(victim: Victim) -> None:
    path = victim.place.script("questions", phase="split_generators", mode="")
    told = victim.ask(path=path, settings={"max_retries": 1}, options={"timeout": 30})
    assert any("169.254.169.254" in each for each in _denials(told))
    assert any(victim.place.where["secret"] in each for each in _denials(told))


def test_what_was_denied_before_a_script_was_stopped_is_told_of(victim: Victim) -> None:
    path = victim.place.script("bomb", phase="generate", mode="denied")
    told = victim.ask(path=path, settings=SMALL, options={"timeout": 0.7})
    assert told["error"]["class"][0] == "ScriptTimeoutError"
    assert "tried to read '/etc/passwd'" in told["log"]


def test_a_script_does_not_fill_the_disk_with_many_files(victim: Victim) -> None:
    path = victim.place.script("bomb", phase="generate", mode="files", most=64)
    told = victim.ask(path=path, settings=SMALL, options={"timeout": 10})
    assert _is_ours(told)


KINDS = ("image", "audio", "text")
PLACES = ("path", "image_path", "file", "dots", "url", "chain", "device", "pipe")


@pytest.mark.parametrize(("mode", "kind"), _some([(mode, kind) for kind in KINDS for mode in PLACES], of=3))
def test_values_that_lead_to_other_files_are_not_opened(victim: Victim, mode: str, kind: str) -> None:
    before = victim.place.state()
    told = victim.ask(path=victim.place.script("media", mode=f"{mode} {kind}"), options={"timeout": 10})
    assert told["error"] is None or _is_ours(told)
    assert "PngImageFile" not in json.dumps(told)
    _unharmed(victim, told, before)


ESCAPES = (
    "none", "column", "manual", "url", "file", "outside", "error", "class", "notes", "denial", "denied socket", "program",
    "code", "value", "keys", "odd key", "columns", "tqdm",
)  # fmt: skip


@pytest.mark.parametrize("mode", _some(ESCAPES, of=2))
def test_no_text_of_a_script_is_obeyed_by_a_terminal(victim: Victim, mode: str) -> None:
    before = victim.place.state()
    told = victim.ask(path=victim.place.script("escapes", mode=mode), options={"timeout": 10})
    shown = [told["log"], told["printed"], *told["warnings"]]
    if told["error"] is not None:
        shown += [told["error"]["text"], told["error"]["whole"]]
    else:
        shown += [told["shown"], told["features"]]
    assert [each for each in shown if not _harmless(each)] == []
    _unharmed(victim, told, before)


# -- what lies in its folder -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", ["import", "split_generators"])
def test_links_in_the_folder_of_a_script_lead_to_nothing(victim: Victim, phase: str) -> None:
    before = victim.place.state()
    path = victim.place.script("links", phase=phase)
    where = victim.place.where
    for name, there in (("linked.txt", where["secret"]), ("linked_folder", os.path.dirname(where["secret"])),
                        ("linked_home", where["home"]), ("linked_archive.tar", where["archive"])):  # fmt: skip
        os.symlink(there, os.path.join(path, name))
    told = victim.ask(path=path, options={"timeout": 10})
    assert told["error"] is None
    assert [row for row in told["rows"]["train"] if row["outcome"] == "'done'"] == []
    _unharmed(victim, told, before)


def test_modules_of_a_script_that_are_links_to_others_are_not_imported(victim: Victim) -> None:
    before = victim.place.state()
    path = victim.place.script("links", phase="import")
    os.symlink(os.path.join(victim.place.where["project"], "project_secrets.py"), os.path.join(path, "linked_module.py"))
    told = victim.ask(path=path, options={"timeout": 10})
    assert told["error"] is None or _is_ours(told)
    _unharmed(victim, told, before)


LINKED = ("attacker.py", "README.md", "dataset_infos.json", "checksums.tsv", "where.json")


@pytest.mark.parametrize(
    ("name", "there"), _some([(name, there) for there in ("secret", "fifo", "/dev/zero") for name in LINKED], of=3)
)
def test_files_of_a_script_that_are_links_to_others_are_not_read(victim: Victim, name: str, there: str) -> None:
    before = victim.place.state()
    path = victim.place.script("links", phase="none")
    place = Path(path, name)
    place.unlink(missing_ok=True)
    place.symlink_to(victim.place.where.get(there, there))
    told = victim.ask(path=path, options={"timeout": 2})
    assert told["error"] is None or _is_ours(told)
    assert told["most_memory"] < 1 << 30
    _unharmed(victim, told, before)


@pytest.mark.parametrize("name", ["attacker.py", "README.md", "dataset_infos.json"])
def test_pipes_in_the_folder_of_a_script_are_not_waited_for(victim: Victim, name: str) -> None:
    before = victim.place.state()
    path = victim.place.script("links", phase="none")
    place = Path(path, name)
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    _given_away(place)
    told = victim.ask(path=path, options={"timeout": 5})
    assert told["error"] is None or _is_ours(told)
    _unharmed(victim, told, before)


SHADOWS = (
    "numpy.py", "pyarrow.py", "json.py", "datasets_core.py", "datasets.py", "sitecustomize.py", "usercustomize.py",
    "conftest.py", "__init__.py", "__main__.py", "setup.py", "os.py", "encodings/__init__.py", "shadow/__init__.py",
)  # fmt: skip


def test_modules_beside_a_script_are_not_those_of_the_parent(victim: Victim) -> None:
    before = victim.place.state()
    path = victim.place.script("shadow")
    for name in SHADOWS:
        Path(path, name).parent.mkdir(exist_ok=True)
        Path(path, name).write_text(f"open({victim.place.where['home']!r} + '/harm', 'w').write(__name__)\n")
    Path(path, "harm.pth").write_text("import os; os.system('touch harm')\n")
    for do in ("load", "look"):
        told = victim.ask(path=path, do=do)
        assert told["error"] is None
        _unharmed(victim, told, before)


def _slipping(folder: Path, secret: str) -> None:
    """Archives that would put files elsewhere, bring others in, or have no end."""
    folder.mkdir()

    def tar(name: str, *members: tarfile.TarInfo) -> None:
        with tarfile.open(folder / name, "w") as file:
            for member in members:
                member.size = 4 if member.isreg() else 0
                file.addfile(member, io.BytesIO(b"harm"))

    def info(name: str, kind: bytes = tarfile.REGTYPE, there: str = "") -> tarfile.TarInfo:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, there
        return member

    tar("dots.tar", info("a"), info("../" * 12 + "tmp/harm"))
    tar("absolute.tar", info("/tmp/harm"))
    tar("link.tar", info("a", tarfile.SYMTYPE, secret))
    tar("hard.tar", info("a", tarfile.LNKTYPE, secret))
    tar("through.tar", info("a", tarfile.SYMTYPE, os.path.dirname(secret)), info("a/harm"))
    tar("back.tar", info("a", tarfile.SYMTYPE, ".."), info("b", tarfile.SYMTYPE, "a/../../.."), info("b/harm"))
    tar("device.tar", info("a", tarfile.CHRTYPE))
    tar("fifo.tar", info("a", tarfile.FIFOTYPE))
    with zipfile.ZipFile(folder / "dots.zip", "w") as file:
        file.writestr("../" * 12 + "tmp/harm", "harm")
    with zipfile.ZipFile(folder / "link.zip", "w") as file:
        member = zipfile.ZipInfo("a")
        member.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(member, secret)
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as file:
        for number in range(3):
            file.writestr(f"zeros{number}", bytes(60 << 20))


def test_archives_of_a_script_unpack_into_nothing_else(victim: Victim) -> None:
    before = victim.place.state()
    path = Path(victim.place.script("unpack", phase="split_generators"))
    _slipping(path / "archives", victim.place.where["secret"])
    _given_away(path)
    told = victim.ask(path=str(path), options={"timeout": 30})
    assert told["error"] is None
    unpacked = {row["way"].strip("'"): row["outcome"].strip("'") for row in told["rows"]["train"]}
    assert [way for way, outcome in unpacked.items() if way.startswith("extract") and outcome == "done"] == []
    assert not os.path.exists("/tmp/harm")
    _unharmed(victim, told, before)


def test_what_a_script_leaves_in_its_own_folder_is_removed(victim: Victim) -> None:
    before = victim.place.state()
    told = victim.ask(path=victim.place.script("scratch_games", phase="generate"), options={"timeout": 30})
    assert told["error"] is None
    assert [row for row in told["rows"]["train"] if row["outcome"] == "'done'"] == []
    _unharmed(victim, told, before)


def test_files_of_the_user_give_no_script_a_way_out(victim: Victim) -> None:
    """What it read of them cannot be in a URL that it asks for."""
    before = victim.place.state()
    folder = victim.place.root / "private"
    folder.mkdir()
    (folder / "data.txt").write_text(CANARY)
    _given_away(folder)
    told = victim.ask(path=victim.place.script("send_away"), options={"data_dir": str(folder), "timeout": 10})
    assert told["error"] is not None
    assert told["error"]["class"][0] == "DeniedAccessError"
    assert "own files" in told["error"]["text"]
    assert victim.place.reached == []
    told["error"] = {}  # it names the URL, which holds what the script had read
    told["warnings"], told["log"] = [], ""
    _unharmed(victim, told, before)


def test_nothing_runs_on_when_the_parent_is_killed(place: Place) -> None:
    victim = Victim(place)
    victim.start()
    victim.tell(path=place.script("hang", phase="generate", mode="loop"))
    template = _when(lambda: [each for each in _below(victim.id) if _below(each)])
    below = [*template, *_below(template[0])]
    os.kill(victim.id, signal.SIGKILL)
    _when(lambda: [True] if not any(_is_running(each) for each in below) else [])
    victim.stop()


def _when(found: Callable[[], list[Any]]) -> list[Any]:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        result = found()
        if result:
            return result
    raise TimeoutError("it does not happen")


def _stat(process: int) -> list[str]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return ["Z", "0"]


def _below(process: int) -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _stat(int(name))[1] == str(process)]


def _is_running(process: int) -> bool:
    return _stat(process)[0] != "Z"
