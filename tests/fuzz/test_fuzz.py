"""Bytes that others write, changed at random: every reader gives a value, or an error of the library; never anything else.

Each target begins from inputs that are right, and from those in `corpora/<target>`, which earlier runs found.  An input that
breaks a law is written there.  A run of the suite takes some seconds and is the same each time; a campaign is

    HYPOTHESIS_PROFILE=campaign FUZZ_EXAMPLES=1000000 FUZZ_SECONDS=3600 python -m pytest tests/fuzz -n 2

where each target ends after its part of the seconds.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.lock import parse_lock
from datasets_core.building.prepare import HubReference, recall, remember
from datasets_core.building.prepared import builder_from_directory
from datasets_core.errors import DatasetsCoreError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.fetch.extract import extract
from datasets_core.load import load_dataset, load_from_disk, lock_dataset
from datasets_core.meta.card import read_card, read_dataset_infos
from datasets_core.meta.croissant_document import parse_croissant
from datasets_core.meta.info import DatasetInfo, infos_to_croissant
from datasets_core.meta.splits import ReadInstruction
from datasets_core.records.encoding import encode_example, encode_sequence_example
from datasets_core.records.reader import TFRecordReader
from datasets_core.records.record_index import RecordIndex
from datasets_core.records.wire.messages import decode_example, decode_sequence_example
from datasets_core.records.writer import TFRecordWriter
from datasets_core.scripting.sandbox.batches import Receiver, Sender
from datasets_core.scripting.sandbox.protocol import (
    BuilderFacts,
    ClassFacts,
    Incoming,
    Kind,
    PipeError,
    builder_form,
    class_form,
    packed,
)
from datasets_core.store.commit import Journal
from datasets_core.store.manifest import MANIFEST_NAME, parse_manifest

CORPORA = Path(__file__).with_name("corpora")
_IS_CAMPAIGN = os.environ.get("HYPOTHESIS_PROFILE") == "campaign"
_CAMPAIGN_EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", 5_000))
_SECONDS = float(os.environ.get("FUZZ_SECONDS") or "inf")  # of all targets together
_ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2**31, 2**63, -(2**63), 10**30, 1.5, float("inf"), float("nan")),
    *("", "x", "..", "../../etc/passwd", "/etc/passwd", "a" * 300, "\ud800", "\0", "train", "int64", "é"),
    *([], {}, [[]], {"a": {}}, ["a", "a"], [None], {"": None}, functools.reduce(lambda inner, _: [inner], range(400), [])),
)


@dataclass(frozen=True)
class Target:
    """One reader.

    Attributes:
        seeds: inputs that are right.
        check: reads an input; an error that is not of the library, or a broken law, is an exception.
        examples: of a run of the suite.
        is_json: True if values of its inputs are exchanged, too.
    """

    seeds: Callable[[], list[bytes]]
    check: Callable[[bytes], object]
    examples: int = 150
    is_json: bool = False


# -- the inputs -----------------------------------------------------------------------------------------------------------


@st.composite
def _bytes_changed(draw: Any, seeds: list[bytes]) -> bytes:
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from([1, 2, 4, 8, 64, 512]))
        how = draw(st.sampled_from(["flip", "set", "cut", "delete", "repeat", "insert", "splice"]))
        if how == "flip" and at < len(data):
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif how == "set":
            data[at : at + length] = draw(st.sampled_from([b"\0", b"\xff", b"\x7f", b"\x80"])) * min(length, 8)
        elif how == "cut":
            del data[at:]
        elif how == "delete":
            del data[at : at + length]
        elif how == "repeat":
            data[at:at] = data[at : at + length] * draw(st.integers(1, 3))
        elif how == "insert":
            data[at:at] = draw(st.binary(max_size=8))
        elif how == "splice":
            other = draw(st.sampled_from(seeds))
            data[at:] = other[draw(st.integers(0, len(other))) :]
    return bytes(data)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield place
    if len(place) < 12 and isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(inner, (*place, key))


@st.composite
def _values_changed(draw: Any, seeds: list[bytes]) -> bytes:
    form = json.loads(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(list(_places(form))))
        if not place:
            continue
        inner = functools.reduce(lambda value, key: value[key], place[:-1], form)
        how = draw(st.sampled_from(["set", "set", "delete", "name"]))
        if how == "delete":
            del inner[place[-1]]
        elif how == "name" and isinstance(inner, dict):
            inner[draw(st.sampled_from([value for value in _ODD if isinstance(value, str)]))] = inner.pop(place[-1])
        else:
            inner[place[-1]] = copy.deepcopy(draw(st.sampled_from(_ODD)))
    return json.dumps(form).encode()


def _is_json(data: bytes) -> bool:
    with contextlib.suppress(ValueError, RecursionError):
        return isinstance(json.loads(data), (dict, list))
    return False


def _inputs(target: Target, kept: list[bytes]) -> st.SearchStrategy[bytes]:
    seeds = target.seeds() + kept
    forms = [seed for seed in seeds if target.is_json and _is_json(seed)]
    changed = _bytes_changed(seeds)
    return st.one_of(changed, _values_changed(forms), _values_changed(forms)) if forms else changed


# -- the readers ----------------------------------------------------------------------------------------------------------


_CARD = """---
license: mit
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train-*.csv
  sep: ";"
dataset_info:
- config_name: default
  features:
  - name: text
    dtype: string
  - name: label
    dtype:
      class_label:
        names: {'0': 'no', '1': 'yes'}
  - name: many
    sequence: int32
  splits:
  - {name: train, num_bytes: 100, num_examples: 3}
  download_size: 10
---
# A card
"""
_PLACE = "/data/file"


class _Rows(GeneratorBasedBuilder):
    """Three splits of few rows."""

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=_FEATURES, description="Rows.")

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator("train", {"count": 40}), SplitGenerator("test", {"count": 3})]

    def _generate_examples(self, count: int) -> Iterator[tuple[int, dict[str, Any]]]:
        for number in range(count):
            yield number, {"number": number, "text": f"row {number}", "label": number % 2, "many": [number] * (number % 4)}


_FEATURES = Features(
    {"number": Value("int64"), "text": Value("string"), "label": ClassLabel(names=["no", "yes"]), "many": [Value("int32")]}
)


@functools.cache
def _home() -> str:
    """A folder of this process, with a cache, a prepared folder and a saved one."""
    home = tempfile.mkdtemp(prefix="datasets-core-fuzz-")
    with config.using(cache_dir=os.path.join(home, "cache")):
        builder = _Rows(cache_dir=os.path.join(home, "cache"), dataset_name="rows", hash="fuzz")
        builder.download_and_prepare(os.path.join(home, "prepared"))
        rows = builder.as_dataset("train")
        rows.save_to_disk(os.path.join(home, "saved"))
        data = Path(home, "train.csv")
        data.write_text("a,b\n1,x\n2,y\n")
        lock_dataset(str(data), lock=os.path.join(home, "dataset.lock"), cache_dir=os.path.join(home, "cache"))
    return home


def _read(*names: str) -> bytes:
    return Path(_home(), *names).read_bytes()


@contextlib.contextmanager
def _folder(origin: str | None = None) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="datasets-core-fuzz-") as folder:
        if origin is not None:
            shutil.copytree(os.path.join(_home(), origin), os.path.join(folder, "files"))
        with config.using(cache_dir=os.path.join(folder, "cache")):
            yield os.path.join(folder, "files")


def _is_right(rows: Any) -> None:
    """A row that is read is one that was written: nothing but its checksum knows what a value was."""
    for row in rows:
        number = row["number"]
        assert row == {"number": number, "text": f"row {number}", "label": number % 2, "many": [number] * (number % 4)}


def _prepared_info(data: bytes) -> None:
    with _folder("prepared") as folder:
        Path(folder, MANIFEST_NAME).write_bytes(data)
        for rows in builder_from_directory(folder).as_dataset().values():
            rows[:3]


def _shard_names(folder: str) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith(".arrow"))


def _prepared_shard(data: bytes) -> None:
    with _folder("prepared") as folder:
        name = next(name for name in _shard_names(folder) if "train" in name)
        Path(folder, name).write_bytes(data)
        _is_right(builder_from_directory(folder).as_dataset("train"))


def _saved_file(name: str, data: bytes) -> None:
    with _folder("saved") as folder:
        Path(folder, name).write_bytes(data)
        rows = load_from_disk(folder)
        if name.endswith(".arrow"):
            _is_right(rows)
        else:
            list(rows)


def _stream() -> Any:
    path = os.path.join(_home(), "train.csv")
    stream = load_dataset("csv", data_files=path, split="train", streaming=True)
    return stream.map(lambda row: {"a": row["a"] + 1}).shuffle(seed=1, buffer_size=2).repeat(2)


def _states() -> list[bytes]:
    stream, found = _stream(), []
    for row in stream:
        assert row
        found.append(json.dumps(stream.state_dict()).encode())
    return [found[0], found[-1]]


def _state(data: bytes) -> None:
    try:
        form = json.loads(data)
    except (ValueError, RecursionError):
        return  # who loads a state parses it by themselves
    stream = _stream()
    stream.load_state_dict(form)
    for number, _ in enumerate(stream):
        assert number < 4, "more rows than there are"


def _journals() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "journal")
        with Journal(path, {"of": "work", "journal": 2}, dict, dict) as journal:
            for number in range(3):
                journal.add({"number": number, "names": ["a", "b"]})
        return [Path(path).read_bytes()]


def _journal(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "journal")
        Path(path).write_bytes(data)
        journal: Journal[Any] = Journal(path, {"of": "work", "journal": 2}, dict, dict)
        if journal.read():
            with journal:  # what is kept is whole
                journal.add({"number": 9})
            again: Journal[Any] = Journal(path, {"of": "work", "journal": 2}, dict, dict)
            assert again.read() and again.entries == journal.entries


def _tfrecords() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.tfrecord")
        with TFRecordWriter(path) as out:
            for number in range(5):
                out.write(encode_example({"a": [number], "b": [b"x" * number]}))
        return [Path(path).read_bytes()]


def _tfrecord(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.tfrecord")
        Path(path).write_bytes(data)
        written = {encode_example({"a": [number], "b": [b"x" * number]}) for number in range(5)}
        for record in TFRecordReader(path):
            assert bytes(record) in written, "a record that nobody wrote"


def _index(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.idx")
        Path(path).write_bytes(data)
        index = RecordIndex.load(path)
        index.check(index.num_bytes, "a.tfrecord")
        assert all(0 <= start <= stop for start, stop in (index.bytes_of(row, row + 1) for row in range(len(index))))


def _messages(data: bytes) -> None:
    for rules in ("protobuf", "tensorflow"):
        for decode in (decode_example, decode_sequence_example):
            with contextlib.suppress(DatasetsCoreError):
                decode(data, rules=rules)


def _archives() -> list[bytes]:
    found = []
    for mode in ("w", "w:gz"):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
            for name, text in {"a.txt": b"a" * 700, "sub/b.txt": b"b"}.items():
                member = tarfile.TarInfo(name)
                member.size = len(text)
                archive.addfile(member, io.BytesIO(text))
            link = tarfile.TarInfo("sub/link")
            link.type, link.linkname = tarfile.SYMTYPE, "../a.txt"
            archive.addfile(link)
        found.append(out.getvalue())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", "a" * 700)
        archive.writestr("sub/b.txt", "b")
    return [*found, out.getvalue(), gzip.compress(b"text" * 100, mtime=0)]


def _archive(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, target = os.path.join(folder, "a.archive"), os.path.join(folder, "in", "target")
        Path(path).write_bytes(data)
        try:
            extract(path, target)
        finally:
            assert set(os.listdir(folder)) <= {"a.archive", "in"}
            for here, folders, names in os.walk(os.path.join(folder, "in")):
                for name in [*folders, *names]:
                    found = os.path.join(here, name)
                    assert not os.path.islink(found) and (os.path.isfile(found) or os.path.isdir(found))
                    assert found.startswith(target) or found == os.path.dirname(target) or target.startswith(found)


def _splits(data: bytes) -> None:
    lengths: dict[str, Any] = {"train": 100, "test": 7, "empty": 0}
    instruction = ReadInstruction.from_spec(data.decode("utf-8", "replace"))
    for name, start, stop in instruction.to_absolute(lengths):
        assert 0 <= start <= max(start, stop) <= max(start, lengths[name]), (name, start, stop)


def _croissants() -> list[bytes]:
    info = DatasetInfo(features=_FEATURES, description="Rows.", dataset_name="rows", license="mit")
    return [json.dumps(infos_to_croissant([info])).encode()]


def _builds() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        remember(folder, HubReference("org/data", None, "a" * 40, None, "asked"), "default", os.path.join(folder, "place"))
        return [next(Path(folder, "hub_builds").glob("*.json")).read_bytes()]


def _build(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "hub_builds", "org--data.json")
        path.parent.mkdir()
        path.write_bytes(data)
        for found in recall(folder, HubReference("org/data", None, None, None, "asked")):
            assert os.path.realpath(os.path.join(folder, found.place)).startswith(os.path.realpath(folder) + os.sep)


def _table() -> pa.RecordBatch:
    return pa.record_batch({"a": pa.array([1, 2, None]), "b": pa.array(["x", "yy", "é"]), "c": pa.array([[1], [], [2, 3]])})


def _pipe_messages() -> list[bytes]:
    head, payload = Sender().payload(_table())
    first = packed(Kind.READY, {"python": "3"}) + packed(Kind.PART, head, len(payload)) + payload.to_pybytes()
    return [first, packed(Kind.FAILURE, {"error": "ValueError", "text": "no"}), packed(Kind.QUESTION, {"ask": ["a", {"b": 1}]})]


def _pipe(data: bytes) -> None:
    reading, writing = os.pipe()
    try:
        os.set_blocking(writing, False)
        os.write(writing, data[: 1 << 16])
        os.close(writing)
        incoming, receiver = Incoming(reading, max_payload_bytes=1 << 24), Receiver("A script")
        with contextlib.suppress(PipeError, EOFError):
            while (found := incoming.read()) is not None:
                _, message = found
                if message.payload is not None:
                    with contextlib.suppress(DatasetsCoreError):
                        receiver.batch(message.head, message.payload).to_pylist()
                    with contextlib.suppress(DatasetsCoreError):
                        receiver.table(message.payload).to_pylist()
                with contextlib.suppress(DatasetsCoreError):
                    receiver.keys(message.head, message.payload)
    finally:
        os.close(reading)


def _batches() -> list[bytes]:
    return [Sender().payload(_table())[1].to_pybytes()]


def _batch(data: bytes) -> None:
    payload = pa.py_buffer(data)
    for rows in (3, 0):
        batch = Receiver("A script").batch({"schema": True, "rows": rows}, payload)
        batch.to_pylist()
        assert batch.nbytes <= 100 * len(data) + 1000


def _descriptions() -> list[bytes]:
    builder = _Rows(cache_dir=os.path.join(_home(), "cache"), dataset_name="rows", hash="fuzz")
    return [json.dumps(builder_form(builder)).encode(), json.dumps(class_form(_Rows)).encode()]


def _description(data: bytes) -> None:
    form = json.loads(data) if _is_json(data) else {}
    form = form if isinstance(form, dict) else {}  # as the head of a message is
    with contextlib.suppress(DatasetsCoreError):
        ClassFacts.of(form, script="s.py")
    BuilderFacts.of(form, script="s.py")


def _text(parse: Callable[..., object]) -> Callable[[bytes], object]:
    return lambda data: parse(data.decode("utf-8", "replace"), path=_PLACE)


_SPLITS = ["train", "train[:10%]+test[2:]", "train[-10:]", "train[1%:3%](closest)", "all", "test[5:6]"]

TARGETS: dict[str, Target] = {
    "card": Target(lambda: [_CARD.encode()], _text(read_card)),
    "infos": Target(lambda: [_infos()], _text(read_dataset_infos), is_json=True),
    "manifest": Target(
        lambda: [_read("prepared", MANIFEST_NAME)], lambda data: parse_manifest(data, path=_PLACE), is_json=True
    ),
    "prepared-info": Target(lambda: [_read("prepared", MANIFEST_NAME)], _prepared_info, 60, is_json=True),
    "prepared-shard": Target(
        lambda: [_read("prepared", next(name for name in _shard_names(os.path.join(_home(), "prepared")) if "train" in name))],
        _prepared_shard,
        60,
    ),
    "saved-state": Target(
        lambda: [_read("saved", "state.json")], functools.partial(_saved_file, "state.json"), 60, is_json=True
    ),
    "saved-info": Target(
        lambda: [_read("saved", "dataset_info.json")], functools.partial(_saved_file, "dataset_info.json"), 60, is_json=True
    ),
    "saved-shard": Target(
        lambda: [_read("saved", _shard_names(os.path.join(_home(), "saved"))[0])],
        lambda data: _saved_file(_shard_names(os.path.join(_home(), "saved"))[0], data),
        60,
    ),
    "state": Target(_states, _state, 80, is_json=True),
    "journal": Target(_journals, _journal),
    "lock": Target(lambda: [_read("dataset.lock")], lambda data: parse_lock(data, path=_PLACE), is_json=True),
    "tfrecord": Target(_tfrecords, _tfrecord),
    "index": Target(lambda: [b"0 30\n30 40\n70 17\n"], _index),
    "messages": Target(
        lambda: [
            encode_example({"a": [1, 2], "b": [b"x"], "c": [0.5]}),
            encode_sequence_example({"a": [1]}, {"s": [[1], [2]]}),
        ],
        _messages,
        300,
    ),
    "croissant": Target(_croissants, lambda data: parse_croissant(data, path=_PLACE), is_json=True),
    "archive": Target(_archives, _archive, 100),
    "split": Target(lambda: [spec.encode() for spec in _SPLITS], _splits, 300),
    "hub-builds": Target(_builds, _build, is_json=True),
    "pipe": Target(_pipe_messages, _pipe),
    "batch": Target(_batches, _batch),
    "description": Target(_descriptions, _description, is_json=True),
}


def _infos() -> bytes:
    info = DatasetInfo(features=_FEATURES, description="Rows.", dataset_name="rows", config_name="default")
    return json.dumps({"default": info.to_dict()}).encode()


# -- the laws -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def _no_folder_remains() -> Iterator[None]:
    yield
    if _home.cache_info().currsize:
        shutil.rmtree(_home())
        _home.cache_clear()


def _kept(name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((CORPORA / name).glob("*.bin"))]


def _try(name: str, data: bytes, *, keeps: bool) -> None:
    try:
        TARGETS[name].check(data)
    except DatasetsCoreError as error:
        assert str(error)
    except BaseException:
        if keeps:
            (CORPORA / name).mkdir(parents=True, exist_ok=True)
            (CORPORA / name / f"{hashlib.sha256(data).hexdigest()[:16]}.bin").write_bytes(data)
        raise


@pytest.mark.parametrize("name", TARGETS)
def test_inputs_that_are_right_are_read(name: str) -> None:
    for seed in TARGETS[name].seeds():
        TARGETS[name].check(seed) if name not in ("description", "batch") else _try(name, seed, keeps=False)


@pytest.mark.parametrize("name", sorted(path.name for path in CORPORA.glob("*")))
def test_inputs_that_once_broke_a_law_hold(name: str) -> None:
    for data in _kept(name):
        _try(name, data, keeps=False)


class _TimeIsOver(BaseException):
    """Ends a target; no `Exception`, which hypothesis would take for a failure of the input."""


@pytest.mark.parametrize("name", TARGETS)
def test_changed_inputs_give_a_value_or_an_error_of_the_library(name: str) -> None:
    target = TARGETS[name]

    @settings(
        max_examples=_CAMPAIGN_EXAMPLES if _IS_CAMPAIGN else target.examples,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        database=None,
    )
    @given(_inputs(target, _kept(name)))
    def tried(data: bytes) -> None:
        if time.monotonic() > end:
            raise _TimeIsOver
        _try(name, data, keeps=_IS_CAMPAIGN)

    end = time.monotonic() + _SECONDS / len(TARGETS)
    with contextlib.suppress(_TimeIsOver):
        tried()
