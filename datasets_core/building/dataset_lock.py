"""`DatasetLock`: what a dataset was made of and what came of it, as one file that can be compared line by line.

The file is JSON with its keys in one order, its lists sorted, and paths relative to the folder of the dataset, so that it means
the same on another machine.  Whoever wrote it is not trusted: it names no file outside of that folder.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from datasets_core.errors import FileNotFoundDatasetsError, ManifestError
from datasets_core.fetch.hub_url import is_commit, is_repo_id
from datasets_core.meta.info import parse_json

LOCK_NAME = "dataset.lock"
FORM = 1
_KINDS = ("path", "url", "name")
_KEYS_OF_HUB = ("repository", "revision")  # of a dataset on the Hub, beside its commit
_KEYS = (
    *("form", "dataset", "config", "version", "options", "commit", "script", "files", "features", "splits", "fingerprint"),
    "library_versions",
)
_MAX_BYTES = 256 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_AGAIN = "Write the lock again with lock_dataset(...)"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True, order=True)
class LockedFile:
    """One file that the dataset is made of.

    Attributes:
        kind: "path" in the folder, or the repository, of the dataset, "url", or "name" for a file elsewhere, which may lie
            anywhere.
        place: the path, URL or name.
        size: bytes; -1 where a store does not say.
        sha256: in hex, None where it is not known.
        etag: by which the server knew this version, on the Hub a hash of the content; "" where it said nothing.
    """

    kind: str
    place: str
    size: int
    sha256: str | None = None
    etag: str = dataclasses.field(default="", compare=False)

    def __str__(self) -> str:
        known = f"sha256 {self.sha256[:16]}" if self.sha256 else f"ETag {self.etag}" if self.etag else "sha256 unknown"
        return f"{self.size:,} bytes, {known}"


@dataclass(frozen=True, slots=True)
class LockedSplit:
    """One split.

    Attributes:
        name: its name.
        rows: number of rows.
        sha256: of the rows, whatever shards they stand in.
    """

    name: str
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class DatasetLock:
    """What a dataset is made of; None is not known yet, and not compared.

    Attributes:
        dataset: its name, which is that of its folder and not compared: another checkout may call it otherwise.
        config, version: what is built.
        options: those of the config that were given.
        commit: the commit of its repository that was resolved, where there is one.
        script: sha256 of the script and the modules beside it; "" where there is none.
        files: every source.
        features: the columns, in the form of `dataset_info.json`.
        splits: in their order.
        fingerprint: of all rows.
        library_versions: of what read them.
        repository: where it comes from on the Hub; None for other places.
        revision: what the commit was asked for by, which is not compared: the commit is.
    """

    dataset: str
    config: str
    version: str
    options: Mapping[str, Any]
    commit: str | None
    script: str
    files: tuple[LockedFile, ...] | None
    features: Mapping[str, Any] | None
    splits: tuple[LockedSplit, ...] | None
    fingerprint: str | None
    library_versions: Mapping[str, str]
    repository: str | None = None
    revision: str | None = None

    def text(self) -> str:
        """The content of the file."""
        form = {
            "form": FORM,
            "dataset": self.dataset,
            **({} if self.repository is None else {"repository": self.repository, "revision": self.revision}),
            "config": self.config,
            "version": self.version,
            "options": dict(sorted(self.options.items())),
            "commit": self.commit,
            "script": self.script or None,
            "files": [_file_form(file) for file in sorted(self.files or ())],
            "features": self.features,
            "splits": [dataclasses.asdict(split) for split in self.splits or ()],
            "fingerprint": self.fingerprint,
            "library_versions": dict(sorted(self.library_versions.items())),
        }
        return json.dumps(form, indent=2, ensure_ascii=False) + "\n"


def _file_form(file: LockedFile) -> dict[str, Any]:
    form: dict[str, Any] = {file.kind: file.place, "size": file.size, "sha256": file.sha256}
    return {**form, "etag": file.etag} if file.etag else form


# -- reading -----------------------------------------------------------------------------------------------------------


def read_lock(path: str) -> DatasetLock:
    """The lock in a file.

    Raises:
        FileNotFoundDatasetsError: there is no such file.
        ManifestError: it is none of ours; names the line or the key.
    """
    try:
        with open(path, "rb") as handle:
            data = handle.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundDatasetsError(f"The lock {path} does not exist. Write it with lock_dataset(...).") from error
    except OSError as error:
        raise ManifestError(path, f"cannot be read ({error.strerror or error})") from error
    if len(data) > _MAX_BYTES:
        raise ManifestError(path, f"it is longer than {_MAX_BYTES:,} bytes")
    return parse_lock(data, path=path)


def parse_lock(data: bytes | str, *, path: str) -> DatasetLock:
    """The lock in the bytes of a file.

    Raises:
        ManifestError: they are no lock; names the line or the key.
    """
    form = parse_json(data, path=path)
    reader = _Reader(path)
    keys = reader.mapping(form, "the lock")
    if reader.number(keys.get("form"), "form", 1) > FORM:
        raise ManifestError(
            path, f"form {keys['form']} was written by a newer version of this library", advice="Upgrade datasets_core"
        )
    reader.check_keys(keys, "the lock", _KEYS, _KEYS_OF_HUB)
    commit, script = keys["commit"], keys["script"]
    repository, revision = (keys.get(key) for key in _KEYS_OF_HUB)
    if repository is not None and not is_commit(commit):
        raise ManifestError(path, f"commit is {json.dumps(commit)[:60]}, and should be a commit of {repository}", advice=_AGAIN)
    return DatasetLock(
        dataset=reader.text(keys.get("dataset"), "dataset"),
        config=reader.text(keys.get("config"), "config"),
        version=reader.text(keys.get("version"), "version"),
        options=reader.mapping(keys.get("options"), "options"),
        commit=None if commit is None else reader.text(commit, "commit"),
        script="" if script is None else reader.sha256(script, "script"),
        files=tuple(reader.files(keys.get("files"), is_hub=repository is not None)),
        features=reader.mapping(keys.get("features"), "features"),
        splits=tuple(reader.splits(keys.get("splits"))),
        fingerprint=reader.sha256(keys.get("fingerprint"), "fingerprint"),
        library_versions={
            name: reader.text(version, f"library_versions.{name}")
            for name, version in reader.mapping(keys.get("library_versions"), "library_versions").items()
        },
        repository=None if repository is None else reader.repository(repository),
        revision=None if revision is None else reader.text(revision, "revision"),
    )


class _Reader:
    """Values of a lock, each of the kind that it should be."""

    def __init__(self, path: str) -> None:
        self._path = path

    def _value(self, value: Any, key: str, what: str, is_right: Callable[[Any], bool]) -> Any:
        if not is_right(value):
            shown = json.dumps(value, ensure_ascii=False)[:60]
            raise ManifestError(self._path, f"{key} is {shown}, and should be {what}", advice=_AGAIN)
        return value

    def text(self, value: Any, key: str) -> str:
        return str(self._value(value, key, "a text", lambda given: isinstance(given, str)))

    def number(self, value: Any, key: str, least: int = 0) -> int:
        return int(self._value(value, key, "a whole number", lambda given: type(given) is int and least <= given < 1 << 63))

    def sha256(self, value: Any, key: str) -> str:
        return str(self._value(value, key, "a sha256", lambda given: isinstance(given, str) and bool(_SHA256.fullmatch(given))))

    def repository(self, value: Any) -> str:
        is_id: Callable[[Any], bool] = lambda given: isinstance(given, str) and is_repo_id(given)  # noqa: E731
        return str(self._value(value, "repository", "the id of a repository", is_id))

    def mapping(self, value: Any, key: str) -> dict[str, Any]:
        return dict(self._value(value, key, "an object", lambda given: isinstance(given, dict)))

    def check_keys(self, form: Mapping[str, Any], what: str, known: Iterable[str], optional: Iterable[str] = ()) -> None:
        """Refuse keys that mean nothing, which would look as if they held something, and those that are left out."""
        for key in form:
            if key not in known and key not in optional:
                raise ManifestError(self._path, f"{what} has the key {key!r}, which means nothing", advice=_AGAIN)
        for key in known:
            if key not in form:
                raise ManifestError(self._path, f"{what} lacks the key {key!r}", advice=_AGAIN)

    def _list(self, value: Any, key: str) -> list[Any]:
        return list(self._value(value, key, "a list", lambda given: isinstance(given, list)))

    def files(self, value: Any, *, is_hub: bool) -> Iterator[LockedFile]:
        for number, item in enumerate(self._list(value, "files")):
            key = f"files[{number}]"
            form = self.mapping(item, key)
            kinds = [kind for kind in _KINDS if kind in form]
            self._value(form, key, "an object with one of 'path', 'url' and 'name'", _names_one_place)
            self.check_keys(form, key, (kinds[0], "size", "sha256"), ("etag",))
            place = self.text(form[kinds[0]], f"{key}.{kinds[0]}")
            if kinds[0] != "url":
                self._value(place, f"{key}.{kinds[0]}", "a path below the folder of the dataset", is_below)
            sha256 = form["sha256"]
            is_unknown = sha256 is None and (kinds[0] == "url" or (is_hub and kinds[0] == "path"))
            yield LockedFile(
                kinds[0],
                place,
                self.number(form.get("size"), f"{key}.size", -1),
                None if is_unknown else self.sha256(sha256, f"{key}.sha256"),
                self.text(form.get("etag", ""), f"{key}.etag"),
            )

    def splits(self, value: Any) -> Iterator[LockedSplit]:
        seen: set[str] = set()
        for number, item in enumerate(self._list(value, "splits")):
            key = f"splits[{number}]"
            form = self.mapping(item, key)
            self.check_keys(form, key, ("name", "rows", "sha256"))
            name = self.text(form["name"], f"{key}.name")
            self._value(name, f"{key}.name", "the name of one split only", lambda given: given not in seen)
            seen.add(name)
            rows, sha256 = self.number(form["rows"], f"{key}.rows"), self.sha256(form["sha256"], f"{key}.sha256")
            yield LockedSplit(name, rows, sha256)


def _names_one_place(form: Any) -> bool:
    return sum(kind in form for kind in _KINDS) == 1


def is_below(path: str) -> bool:
    """Whether a path of a lock stays in the folder of its dataset.

    >>> is_below("data/a.csv"), is_below("../a.csv"), is_below("/etc/passwd")
    (True, False, False)
    """
    steps = re.split(r"[/\\]", path)
    return bool(path) and not os.path.isabs(path) and not {"", ".", ".."} & set(steps) and _CONTROL.search(path) is None


# -- comparing ---------------------------------------------------------------------------------------------------------


def differences(old: DatasetLock, new: DatasetLock) -> list[str]:
    """What moved from one lock to another, a line each; what either does not know is not compared."""
    lines = [
        f"the {what} was {getattr(old, what)!r} and is {getattr(new, what)!r}"
        for what in ("repository", "config", "version", "commit")
        if getattr(old, what) != getattr(new, what)
    ]
    lines += _of_keys(old.options, new.options, "the option", repr)
    if old.script != new.script:
        lines.append(f"the script changed (sha256 {_short(old.script)}, then {_short(new.script)})")
    if old.files is not None and new.files is not None:
        lines += file_differences(old.files, new.files)
    if old.features is not None and new.features is not None:
        lines += _of_columns(old.features, new.features)
    if old.splits is not None and new.splits is not None:
        moved = _of_splits(old.splits, new.splits)
        if not moved and None not in (old.fingerprint, new.fingerprint) and old.fingerprint != new.fingerprint:
            moved = [f"the fingerprint was {_short(old.fingerprint or '')} and is {_short(new.fingerprint or '')}"]
        lines += moved
    lines += _of_keys(old.library_versions, new.library_versions, "the library", str)
    return lines


def _short(sha256: str) -> str:
    return sha256[:16] or "none"


def _shown(form: Any) -> str:
    text = json.dumps(form, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 100 else f"{text[:99]}…"


def _of_keys(old: Mapping[str, Any], new: Mapping[str, Any], what: str, shown: Callable[[Any], str]) -> Iterator[str]:
    for key in [*old, *(key for key in new if key not in old)]:
        if key not in new:
            yield f"{what} {key!r} is gone (it was {shown(old[key])})"
        elif key not in old:
            yield f"{what} {key!r} is new ({shown(new[key])})"
        elif json.dumps(old[key], sort_keys=True) != json.dumps(new[key], sort_keys=True):  # 1 is not true
            yield f"{what} {key!r} was {shown(old[key])} and is {shown(new[key])}"


def _of_columns(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    lines = list(_of_keys(old, new, "the column", _shown))
    common = [name for name in old if name in new]
    if common != [name for name in new if name in old]:
        lines.append(f"the columns stand in another order: {', '.join(new)}")
    turned = [name for name in common if old[name] == new[name] and _in_order(old[name]) != _in_order(new[name])]
    return lines + [f"the fields of column {name!r} stand in another order: {_shown(new[name])}" for name in turned]


def _in_order(form: Any) -> Any:
    """The form of a feature with the order of its fields, which the equality of dicts does not look at."""
    if isinstance(form, dict):
        keys = sorted(form) if isinstance(form.get("_type"), str) else list(form)
        return [(key, _in_order(form[key])) for key in keys]
    return [_in_order(each) for each in form] if isinstance(form, list) else form


def file_differences(old: tuple[LockedFile, ...], new: tuple[LockedFile, ...]) -> list[str]:
    """Files that changed, moved, are gone or are new."""
    before, after = ({(file.kind, file.place, number): file for file, number in _numbered(files)} for files in (old, new))
    gone = {key: file for key, file in before.items() if key not in after}
    added = {key: file for key, file in after.items() if key not in before}
    lines = [
        f"{file.place} changed ({file}, then {after[key]})"
        for key, file in before.items()
        if key in after and not is_same(file, after[key])
    ]
    for key, file in list(gone.items()):
        moved = next((other for other, found in added.items() if file.sha256 and found.sha256 == file.sha256), None)
        if moved is not None:
            lines.append(f"{file.place} moved to {added.pop(moved).place}")
            del gone[key]
    lines += [f"{file.place} is gone ({file})" for file in gone.values()]
    lines += [f"{file.place} is new ({file})" for file in added.values()]
    return lines


def is_same(old: LockedFile, new: LockedFile) -> bool:
    """Whether two records of one place speak of the same bytes."""
    is_on_hub = old.kind == "path" or old.place.startswith("hf://")
    if is_on_hub and not (old.sha256 and new.sha256):  # its ETag is a hash too, and of a repository the commit says the same
        return old.size == new.size and (not (old.etag and new.etag) or old.etag == new.etag)
    if old.sha256 or new.sha256:
        return (old.size, old.sha256) == (new.size, new.sha256)
    return (old.size, old.etag) == (new.size, new.etag)


def _numbered(files: tuple[LockedFile, ...]) -> Iterator[tuple[LockedFile, int]]:
    """Files, and which of the equally named ones each is: of those that are known by name alone there may be several."""
    seen: dict[tuple[str, str], int] = {}
    for file in sorted(files, key=lambda each: (each.kind, each.place, each.sha256 or "")):
        number = seen[file.kind, file.place] = seen.get((file.kind, file.place), -1) + 1
        yield file, number


def _of_splits(old: tuple[LockedSplit, ...], new: tuple[LockedSplit, ...]) -> list[str]:
    before, after = ({split.name: split for split in splits} for splits in (old, new))
    lines = [f"the split {name!r} is gone ({split.rows:,} rows)" for name, split in before.items() if name not in after]
    lines += [f"the split {name!r} is new ({split.rows:,} rows)" for name, split in after.items() if name not in before]
    common = [name for name in before if name in after]
    for name in common:
        if before[name].rows != after[name].rows:
            lines.append(f"the split {name!r} had {before[name].rows:,} rows and has {after[name].rows:,}")
        elif before[name].sha256 != after[name].sha256:
            hashes = f"sha256 {_short(before[name].sha256)}, then {_short(after[name].sha256)}"
            lines.append(f"the rows of split {name!r} changed ({hashes})")
    if common != [name for name in after if name in before]:
        lines.append(f"the splits stand in another order: {', '.join(after)}")
    return lines
