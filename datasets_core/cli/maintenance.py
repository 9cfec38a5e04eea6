"""Commands `verify`, `cache`, `doctor` and `new`."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any, cast

from datasets_core import _version
from datasets_core.cli.terminal import counted, in_flags, print_table, say, terminal_width
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, DatasetNotFoundError, DatasetsCoreError, DeniedAccessError, ManifestError
from datasets_core.fetch import disk_cache
from datasets_core.fetch.disk_cache import IndexCache
from datasets_core.files import disk_errors, is_url, locked
from datasets_core.meta.reference import snakecase_to_camelcase
from datasets_core.progress import progress
from datasets_core.store.atomic import dead_folders, discard
from datasets_core.store.commit import find_garbage, find_temporaries, remove_garbage
from datasets_core.store.manifest import MANIFEST_NAME, Manifest, lock_path, parse_staging, read_manifest
from datasets_core.store.source import verify_folder

if TYPE_CHECKING:
    from datasets_core.scripting.sandbox.limits import Layers


# `datasets-core doctor`: the environment, and above all the layers of the sandbox, which are tried out.


_NEEDED = ("pyarrow", "numpy", "fsspec", "huggingface_hub", "httpx2", "cloudpickle")
_OPTIONAL = (
    *("pandas", "polars", "torch", "tensorflow", "jax", "duckdb", "pillow", "soundfile", "torchcodec", "h5py", "pdfplumber"),
    *("faiss-cpu", "elasticsearch", "sqlalchemy", "s3fs", "pyspark", "apache-beam", "lxml", "zstandard", "lz4"),
)
_TRIALS = {
    "read a file outside": "open('/etc/passwd').close()",
    "list a folder outside": "import os; os.listdir('/')",
    "write a file outside": "open('/tmp/datasets-core-doctor', 'w').close()",
    "connect": "import socket; socket.create_connection(('127.0.0.1', 9), timeout=1)",
    "start a process": "import os; os.posix_spawn('/bin/true', ['true'], {})",
    "open a socket past Python": (
        "import ctypes\ncode = ctypes.CDLL(None, use_errno=True)\n"
        "if code.socket(2, 1, 0) < 0: raise PermissionError(ctypes.get_errno(), 'socket')"
    ),
}


_EXTRAS = {
    "all": "all others except the frameworks: torch, jax, tensorflow, spark, beam",
    "audio": "decode and encode sound (FLAC, MP3, Ogg, WAV)",
    "array_record": "read array_record files of TensorFlow Datasets",
    "avro": "read .avro files",
    "beam": "run scripts that use Apache Beam",
    "completion": "shell completion of commands and options",
    "duckdb": "`ds.sql`, exchange with DuckDB",
    "elasticsearch": "text search in an Elasticsearch index",
    "excel": "read .xlsx, .xls, .xlsb and .ods files",
    "faiss": "nearest neighbours in a FAISS index",
    "fast": "read S3, GCS and Azure with obstore",
    "hdf5": "read HDF5 files",
    "jax": "rows as JAX arrays",
    "heic": "decode HEIC images",
    "jpeg": 'JPEG pixels equal to those of TensorFlow (`jpeg_dct="fast"`)',
    "narwhals": "exchange with all frames that narwhals supports",
    "notebook": "the table of the viewer in notebooks",
    "pandas": "`to_pandas`, `from_pandas`, csv options of pandas",
    "pdf": "read PDF pages",
    "polars": "`to_polars`, `from_polars`",
    "s3": "read and write s3:// addresses",
    "science": "NIfTI images, meshes, FASTA and FASTQ",
    "dask": "run jobs on a Dask cluster",
    "ray": "run jobs on a Ray cluster",
    "spark": "`from_spark`",
    "sql": "read and write SQL databases",
    "tensorflow": "rows as TensorFlow tensors, `to_tf_dataset`",
    "tfrecord": "nothing: TFRecord files are read without it",
    "torch": "rows as torch tensors",
    "video": "decode video",
    "view": "`datasets-core view`: datasets in the browser",
    "vision": "decode and encode images",
}
"""The features that each extra of the package adds, for `doctor`; a test compares the names with those of the distribution."""
_FOR_DEVELOPERS = {"browser-test", "docs", "lint", "package", "s3-test", "test"}


def _extras() -> dict[str, str]:
    """Return the extras that users may install, each with its missing packages and what it adds."""
    try:
        found = metadata.metadata("datasets_core").get_all("Provides-Extra") or []
        required = metadata.requires("datasets_core") or []
    except metadata.PackageNotFoundError:  # the folder of the source, which is not installed
        found, required = [], []
    extras = {}
    for extra in sorted({*found} - _FOR_DEVELOPERS):
        words = [re.match(r"[\w.-]+", line) for line in required if re.search(rf"extra == ['\"]{extra}['\"]", line)]
        packages = [word[0] for word in words if word is not None and word[0].replace("-", "_") != "datasets_core"]
        missing = [package for package in packages if not _versions((package,))]
        adds = _EXTRAS.get(extra, ", ".join(packages))
        state = "installed" if not missing and packages else f"pip install 'datasets_core[{extra}]'"
        extras[extra] = f"{adds} ({state})"
    return extras


def report(*, as_json: bool) -> int:
    """Print versions, the available layers of the sandbox, and how scripts run."""
    from datasets_core.scripting.sandbox.limits import layers

    found = layers()
    facts = _machine_facts(found)
    if as_json:
        say(json.dumps(facts, indent=2))
        return 0
    for title, entries in facts.items():
        if isinstance(entries, dict):
            say(f"{title}:", style="bold")
            for name, value in entries.items():
                say(f"  {name}: {value}", style="red" if value == "NOT DENIED" else "")
        else:
            say(f"{title}: {entries}")
    return 0


def _machine_facts(found: Layers) -> dict[str, Any]:
    from datasets_core.scripting.sandbox import kernel, limits

    version = found.landlock
    facts: dict[str, Any] = {
        "datasets-core": _version.__version__,
        "Python": f"{platform.python_version()} on {platform.system()} {platform.release()}, {platform.machine()}",
        "Packages": _versions(_NEEDED),
        "Optional packages": _versions(_OPTIONAL),
        "Extras": _extras(),
        "Confinement": {
            "Landlock": f"ABI {version}: {', '.join(kernel.coverage(version))}" if version else "not available",
            "seccomp": ("available, reports refusals" if found.notices else "available") if found.seccomp else "not available",
            "bwrap": _bwrap(found),
            "user": f"{getattr(os, 'geteuid', lambda: 'unknown')()}; a sandboxed process drops all capabilities",
            "memory limit of a sandboxed script": f"{limits.memory_bytes():,} bytes (setting confined_memory_bytes)",
        },
    }
    tried, holds = _tried() if found.can_sandbox else ({}, False)
    if tried:
        facts["Tried in a sandboxed process"] = tried
    reason = found.reason or (
        "" if holds else "the sandboxed process was not denied a tried action, or it could not be started"
    )
    facts["Scripts that you name (a .py file)"] = "run without the sandbox"
    facts["Untrusted scripts"] = (
        f"are refused because {reason}; pass trust_remote_code=True for scripts that you trust"
        if reason
        else f"run in the sandbox: {', '.join(found.words())}"
    )
    return facts


def _bwrap(found: Layers) -> str:
    from datasets_core.scripting.sandbox import limits

    path = found.bwrap or (limits.program() if shutil.which("bwrap") else None)
    if path is None:
        return "installed, but does not work for this user" if shutil.which("bwrap") else "not available"
    return f"{path}, {'used' if found.bwrap and not found.landlock else 'not needed with Landlock'}"


def _versions(packages: tuple[str, ...]) -> dict[str, str]:
    versions = {}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _tried() -> tuple[dict[str, str], bool]:
    """Return the outcome of each forbidden action, and whether all were denied."""
    from datasets_core.scripting.sandbox.limits import Sandbox
    from datasets_core.scripting.sandbox.process import SandboxedProcess

    told, began = {}, time.monotonic()
    scratch = tempfile.mkdtemp(prefix="datasets-core-doctor-")
    try:
        with SandboxedProcess.start(Sandbox((), scratch), serve="datasets_core.scripting.sandbox.protocol:serve") as confined:
            told["start"] = f"{time.monotonic() - began:.2f} s"
            for name, text in _TRIALS.items():
                try:
                    confined.ask({"text": text}, deadline=time.monotonic() + 10)
                    told[name] = "NOT DENIED"
                except DeniedAccessError as error:
                    told[name] = f"denied: {error.tried}"
    except DatasetsCoreError as error:
        return {**told, "failed": str(error)}, False
    return told, all(value != "NOT DENIED" for value in told.values())


@dataclass(frozen=True, slots=True)
class _Finished:
    """A prepared dataset; `manifest` is None if it cannot be read."""

    folder: str
    manifest: Manifest | None
    reason: str = ""
    is_tfds: bool = False

    @property
    def size(self) -> int:
        return sum(shard.size for shard in self.manifest.shards) if self.manifest else 0

    def problems(self, on_progress: Callable[[int], object]) -> Sequence[object]:
        """Return the damage found; `on_progress` is called with numbers of bytes."""
        if not self.is_tfds:
            return verify_folder(self.folder, on_progress)
        if self.manifest is None:
            return [self.reason]
        from datasets_core.building.tfds_folders.folder import damaged_records  # 100 ms, with pyarrow.compute

        return damaged_records(self.folder, cast(Any, self.manifest), on_progress)

    @property
    def results(self) -> int:
        """Number of bytes of the results of transforms next to the shards."""
        return sum(disk_cache.size_of(entry.path) for entry in os.scandir(self.folder) if entry.name.startswith("cache-"))

    @property
    def age(self) -> float:
        """Seconds since the build."""
        return max(0.0, time.time() - os.stat(os.path.join(self.folder, MANIFEST_NAME)).st_mtime)

    @property
    def sources(self) -> list[str]:
        return [source.path for source in self.manifest.sources] if self.manifest else []

    def facts(self) -> dict[str, Any]:
        """Return the values that `cache ls --json` prints."""
        rows = None if self.manifest is None else {name: sum(rows) for name, rows in self.manifest.split_lengths().items()}
        told = {"name": _name(self.folder), "folder": self.folder, "rows": rows, "bytes": self.size}
        more = {"results_bytes": self.results, "age_seconds": int(self.age), "sources": self.sources}
        return {**told, **more, **({"broken": self.reason} if self.manifest is None else {})}


def verify(path: str) -> int:
    """Check every shard below `path`, a folder or a name in the cache; return 0 if all are intact, else 1.

    Shards of this library are hashed; records in folders of TensorFlow Datasets are read, since they contain checksums.
    """
    if is_url(path):
        found = [_Finished(path, read_manifest(path))]
    else:
        found = [*_finished(path), *_tfds_folders(path)] or _named(path)
    if not found:
        raise DatasetNotFoundError(
            f"No prepared dataset (with a {MANIFEST_NAME}) found in {path}",
            advice="Pass a folder, or a name printed by `cache ls`",
        )
    bad = 0
    with progress("Verifying", total=sum(dataset.size for dataset in found), unit="B") as bar:
        for dataset in found:
            problems = dataset.problems(bar.update)
            bad += len(problems)
            for problem in problems:
                say(f"BAD  {in_flags(str(problem))}")
            if not problems and dataset.manifest:
                rows = sum(shard.rows for shard in dataset.manifest.shards)
                shards = counted(len(dataset.manifest.shards), "shard")
                say(f"good {dataset.folder}: {shards}, {counted(rows, 'row')}, {_bytes(dataset.size)}")
    if bad:
        say(
            f"{bad} damaged. Repair the dataset: datasets-core repair … (or build it again: datasets-core build … --force)",
            file=sys.stderr,
        )
    return 1 if bad else 0


def list_cache(*, as_json: bool = False, names: bool = False, sort: str = "name") -> int:
    """Print a table of the prepared datasets in the cache, their total size, and the size of the downloads.

    Args:
        as_json: print one JSON object for each dataset, with its folder, rows, bytes, age and files.
        names: print their names only.
        sort: `name`, `size` (the largest first) or `age` (the oldest first).
    """
    found = _without_results(_finished(settings().cache_dir))
    short = _short_names([_name(dataset.folder) for dataset in found])
    if sort != "name":
        found.sort(key=lambda dataset: dataset.size if sort == "size" else dataset.age, reverse=True)
    for dataset in found:
        if names:
            say(short[_name(dataset.folder)])
        elif as_json:
            say(json.dumps(dataset.facts(), ensure_ascii=False))
    if names or as_json:
        return 0
    columns = {
        "NAME": [short[_name(dataset.folder)] for dataset in found],
        "ROWS": list(map(_rows, found)),
        "SIZE": [_bytes(dataset.size) for dataset in found],
        "RESULTS": [_bytes(dataset.results) if dataset.results else "" for dataset in found],
        "AGE": [_age(dataset.age) for dataset in found],
        "SOURCE": [_origin(dataset, in_home=terminal_width() is not None) for dataset in found],
    }
    if not any(columns["RESULTS"]):
        del columns["RESULTS"]
    if found:
        rows = list(zip(*columns.values(), strict=True))
        print_table(list(columns), rows, right=("SIZE", "RESULTS"), tail="SOURCE", whole=1)
    results = sum(dataset.results for dataset in found)
    kept = f", {_bytes(results)} of results of map and filter" if results else ""
    say(f"{counted(len(found), 'dataset')}, {_bytes(sum(dataset.size for dataset in found))}{kept} in {settings().cache_dir}")
    if downloads := sum(map(disk_cache.size_of, _downloads())):
        say(f"{_bytes(downloads)} of downloads in {settings().downloads_dir}")
    garbage = find_garbage(settings().cache_dir)
    dead = _dead_downloads()
    if garbage or dead:
        freed = sum(found.size for found in garbage) + sum(dead.values())
        say(f"{_bytes(freed)} can be freed: datasets-core cache gc", style="yellow")
    return 0


def _downloads() -> Iterator[str]:
    """Yield the downloaded and the extracted files and folders."""
    now = settings()
    for folder in dict.fromkeys(disk_cache.download_folders(now.downloads_dir, now.extracted_dir)):
        if os.path.isdir(folder):
            yield folder


def _short_names(names: Sequence[str]) -> dict[str, str]:
    """Return a unique beginning of each name, which contains at least dataset and config.

    >>> list(_short_names(["csv/a/0.0.0/x", "csv/b/0.0.0/x", "csv/b/0.0.0/y"]).values())
    ['csv/a', 'csv/b/0.0.0/x', 'csv/b/0.0.0/y']
    """
    starts: Counter[tuple[str, ...]] = Counter()
    for name in names:
        parts = name.split("/")
        starts.update({tuple(parts[:count]) for count in range(1, len(parts) + 1)})
    found = {}
    for name in names:
        parts = name.split("/")
        count = next((count for count in range(2, len(parts)) if starts[tuple(parts[:count])] == 1), len(parts))
        found[name] = "/".join(parts[:count])
    return found


def remove(name: str, *, sure: bool) -> int:
    """Remove the prepared datasets whose name is `name` or begins with `name/`."""
    found = _without_results(_named(name))
    if not found:
        raise DatasetNotFoundError(f"No dataset {name!r} in {settings().cache_dir}. `datasets-core cache ls` lists them.")
    for dataset in found:
        say(f"{_name(dataset.folder)}  {_rows(dataset)}  {_bytes(dataset.size)}  {_age(dataset.age)}  {_origin(dataset)}")
    if not sure and not _agreed(f"{counted(len(found), 'dataset')} ({_bytes(sum(dataset.size for dataset in found))})"):
        return 1
    for dataset in found:
        with locked(lock_path(dataset.folder)), disk_errors(dataset.folder):
            os.unlink(os.path.join(dataset.folder, MANIFEST_NAME))  # without it nothing loads the folder
            shutil.rmtree(dataset.folder)
    return 0


def collect(*, dry_run: bool) -> int:
    """Remove leftovers of dead processes, incomplete downloads, stray shards, and unused results."""
    found, dead = find_garbage(settings().cache_dir), _dead_downloads()
    found += find_temporaries(settings().hub_cache_dir)
    for garbage in found:
        say(f"{garbage.kind:9} {_bytes(garbage.size):>10}  {garbage.path}")
    for path, size in dead.items():
        kind = "index" if path.startswith(IndexCache.of_settings().folder) else "download"
        say(f"{kind:9} {_bytes(size):>10}  {path}")
    _remove_temporary(dry_run=dry_run)
    if dry_run:
        freed = sum(garbage.size for garbage in found) + sum(dead.values())
    else:
        freed = remove_garbage(found) + sum(dead.values())
        for path in dead:
            with disk_errors(path):
                disk_cache.remove(path)
    say(f"{_bytes(freed)} {'would be' if dry_run else 'were'} freed")
    return 0


def _dead_downloads() -> dict[str, int]:
    """Return leftovers of downloads and extractions, and unused indexes, with their sizes in bytes."""
    now = settings()
    folders = dict.fromkeys(disk_cache.download_folders(now.downloads_dir, now.extracted_dir))
    found = {path: disk_cache.size_of(path) for folder in folders for path in disk_cache.litter(folder)}
    return found | IndexCache.of_settings().stale()


def _remove_temporary(*, dry_run: bool) -> None:
    """Remove the temporary folders of killed processes."""
    for path in dead_folders():
        say(f"{'temporary':9} {'':>10}  {path}")
        if not dry_run:
            discard(path)


def _finished(root: str) -> Iterator[_Finished]:
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if parse_staging(os.path.join(folder, name)) is None)
        if MANIFEST_NAME in names:
            try:
                manifest = read_manifest(folder)
            except ManifestError as error:
                yield _Finished(folder, None, error.reason)
            else:
                if manifest is not None:
                    yield _Finished(folder, manifest)


def _tfds_folders(root: str) -> Iterator[_Finished]:
    """Yield the folders prepared by TensorFlow Datasets."""
    from datasets_core.building.folders import tfds_manifest  # imported only when needed

    for folder, _, names in os.walk(root):
        if MANIFEST_NAME in names:
            try:
                manifest = tfds_manifest(folder)
            except DatasetsCoreError as error:
                yield _Finished(folder, None, str(error), is_tfds=True)
            else:
                if manifest is not None:
                    yield _Finished(folder, manifest, is_tfds=True)


def _without_results(datasets: Iterable[_Finished]) -> list[_Finished]:
    """Return the datasets without the results of transforms that lie in the folder of one of them."""
    found = list(datasets)
    folders = {dataset.folder for dataset in found}
    return [dataset for dataset in found if os.path.dirname(dataset.folder) not in folders]


def _named(name: str) -> list[_Finished]:
    """Return the prepared datasets of the cache named `name` or `name/...`; those of the Hub are named `org/name`."""
    wanted = tuple(f"{each}/" for each in (name.strip("/"), name.strip("/").replace("/", "___", 1)) if each)
    return [dataset for dataset in _finished(settings().cache_dir) if f"{_name(dataset.folder)}/".startswith(wanted)]


def named_folders(name: str) -> list[str]:
    """Return the folders of the prepared datasets of the cache whose name is `name` or begins with `name/`."""
    return [dataset.folder for dataset in _named(name)]


def _name(folder: str) -> str:
    return os.path.relpath(folder, settings().cache_dir).replace(os.sep, "/")


def _rows(dataset: _Finished) -> str:
    if dataset.manifest is None:
        return f"broken: {dataset.reason}"
    return ", ".join(f"{split} {sum(rows):,}" for split, rows in dataset.manifest.split_lengths().items()) or "no rows"


def _origin(dataset: _Finished, *, in_home: bool = False) -> str:
    """Return the first source of a dataset, with the number of the others."""
    sources = dataset.sources
    if not sources:
        return ""
    home = os.path.expanduser("~") + os.sep
    first = f"~{os.sep}{sources[0].removeprefix(home)}" if in_home and sources[0].startswith(home) else sources[0]
    return first + (f" (+ {len(sources) - 1:,} more)" if len(sources) > 1 else "")


def _age(seconds: float) -> str:
    """Return a duration in its largest non-zero unit.

    >>> _age(59), _age(3600), _age(200_000)
    ('0 minutes', '1 hour', '2 days')
    """
    for unit, length in (("day", 86_400), ("hour", 3_600)):
        if seconds >= length:
            return counted(int(seconds // length), unit)
    return counted(max(0, int(seconds // 60)), "minute")


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _agreed(what: str) -> bool:
    if not sys.stdin.isatty():
        raise ConfigurationError(f"Removing {what} needs confirmation", advice="Pass --yes")
    return input(f"Remove {what}? [y/N] ").strip().lower() in {"y", "yes"}


# `new`: a dataset script that runs unchanged, its data, and its test.


_SCRIPT = '''"""{title}: a description of the dataset and its source."""

import csv
from collections.abc import Iterator
from typing import Any

import datasets_core as datasets


class {camel}(datasets.GeneratorBasedBuilder):
    """Write one sentence about what a row contains."""

    VERSION = datasets.Version("1.0.0")

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=__doc__,
            homepage="",
            license="",
            citation="",
            features=datasets.Features(
                {{
                    "text": datasets.Value("string"),
                    "label": datasets.ClassLabel(names=["no", "yes"]),
                }}
            ),
        )

    def _split_generators(self, dl_manager: datasets.DownloadManager) -> list[datasets.SplitGenerator]:
        # A URL here is downloaded, checked and cached; a relative path is read next to this file.
        files = dl_manager.download_and_extract({{"train": "data/train.csv", "test": "data/test.csv"}})
        return [datasets.SplitGenerator(name=split, gen_kwargs={{"path": path}}) for split, path in files.items()]

    def _generate_examples(self, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
        with open(path, encoding="utf-8", newline="") as lines:
            for number, row in enumerate(csv.DictReader(lines)):
                yield number, {{"text": row["text"], "label": row["label"]}}
'''

_TEST = '''"""Test that the dataset builds with the expected rows and types.  Run: pytest {name}"""

from pathlib import Path

from datasets_core import load_dataset

SCRIPT = str(Path(__file__).with_name("{name}.py"))


def test_splits_have_their_rows(tmp_path: Path) -> None:
    splits = load_dataset(SCRIPT, cache_dir=str(tmp_path))
    assert {{name: len(rows) for name, rows in splits.items()}} == {{"train": 2, "test": 1}}


def test_the_first_row_is_right(tmp_path: Path) -> None:
    rows = load_dataset(SCRIPT, split="train", cache_dir=str(tmp_path))
    assert rows[0] == {{"text": "It works.", "label": 1}}
'''

_TRAIN = "text,label\nIt works.,yes\nIt does not.,no\n"
_HELD_OUT = "text,label\nDoes it?,yes\n"


def write(name: str, parent: str) -> int:
    """Write `parent/name/` with script, data and test; existing files are not changed.

    Raises:
        ConfigurationError: the name is not in snake_case, or the folder exists.
    """
    if not name.isidentifier() or name != name.lower():
        raise ConfigurationError(
            f"{name!r} is not a valid dataset name", advice="Use lower-case letters, digits and underscores", value=name
        )
    folder = os.path.join(parent, name)
    if os.path.exists(folder):
        raise ConfigurationError(f"{folder} already exists", advice="Choose another name or --dir", file=folder)
    words = {"name": name, "camel": snakecase_to_camelcase(name), "title": name.replace("_", " ").capitalize()}
    contents = {
        f"{name}.py": _SCRIPT.format(**words),
        f"test_{name}.py": _TEST.format(**words),
        os.path.join("data", "train.csv"): _TRAIN,
        os.path.join("data", "test.csv"): _HELD_OUT,
    }
    with disk_errors(folder):
        os.makedirs(os.path.join(folder, "data"))
        for path, text in contents.items():
            with open(os.path.join(folder, path), "x", encoding="utf-8") as out:
                out.write(text)
    say(f"{folder}: {', '.join(sorted(contents))}")
    say(f"Try: datasets-core head {os.path.join(folder, name + '.py')}")
    return 0
