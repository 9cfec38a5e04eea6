"""What a confined process tells of its builder: plain values there, and here nothing that cannot be."""

import copy
import json
import os
import struct
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import BuilderConfig, SplitGenerator
from datasets_core.errors import DatasetsCoreError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.data_files import DataFilesDict, DataFilesList
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.version import Version
from datasets_core.scripting.sandbox.protocol import (
    MAX_HEAD_BYTES,
    BuilderFacts,
    Channel,
    ClassFacts,
    Incoming,
    Kind,
    Message,
    PipeError,
    RemoteText,
    builder_form,
    class_form,
    files_form,
    files_of,
    packed,
    serve,
)


class Reviews(GeneratorBasedBuilder):
    """Reviews."""

    VERSION = Version("2.0.0", "more rows")
    SUPPORTED_VERSIONS = ("1.0.0", "1.1.0")
    BLOCKED_VERSIONS = {"1.1.0": "wrong labels"}  # noqa: RUF012
    BUILDER_CONFIGS = [BuilderConfig(name="en", description="English"), BuilderConfig(name="de")]  # noqa: RUF012
    DEFAULT_CONFIG_NAME = "en"

    def _info(self) -> DatasetInfo:
        return DatasetInfo(description="d", features=Features({"a": Value("int8")}))

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return []

    def _generate_examples(self) -> Any:
        yield 0, {"a": 1}


def over(form: Any) -> Any:
    return json.loads(json.dumps(form))


@pytest.fixture
def told(tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = over(builder_form(Reviews(cache_dir=tmp_path)))
    return found


def test_a_class_comes_as_it_is() -> None:
    facts = ClassFacts.of(over(class_form(Reviews)), script="reviews.py")
    assert (facts.class_name, facts.name, facts.doc, facts.default) == ("Reviews", Reviews.class_name(), "Reviews.", "en")
    assert [(config.name, config.description) for config in facts.configs] == [("en", "English"), ("de", None)]
    assert (facts.yields, facts.version) == ("rows", "2.0.0")
    assert facts.blocked.is_blocked("1.1.0") == (True, "wrong labels")


def test_a_builder_comes_as_it_is(tmp_path: Path) -> None:
    made = Reviews(cache_dir=tmp_path, config_name="de", version="1.*.*")
    made.config.features, made.config.thing = made.info.features, object()
    made.config.data_files = DataFilesDict(train=DataFilesList(["a"], [("a", 3, "x")]))
    facts = BuilderFacts.of(over(builder_form(made)), script="reviews.py")
    assert (facts.version, facts.versions, facts.config_id) == (made.version, made._versions, made.config_id)
    assert facts.version.description is None
    assert facts.versions.canonical.description == "more rows"
    assert facts.info == made.info
    assert (facts.config.name, facts.config.features) == ("de", made.info.features)  # type: ignore[attr-defined]
    assert facts.config.data_files.identities == (("a", 3, "x"),)
    assert isinstance(facts.config.thing, RemoteText)  # type: ignore[attr-defined]
    assert repr(facts.config.thing).startswith("<object object")  # type: ignore[attr-defined]


def test_data_files_keep_their_identities() -> None:
    files = DataFilesDict(train=DataFilesList(["/a", "/b"], [("/a", 1, "x"), ("/b", -1, "")]), test=DataFilesList(["/c"]))
    found = files_of(over(files_form(files)))
    assert found == files
    assert found.identities == files.identities


def changed(form: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    form = copy.deepcopy(form)
    *above, last = path.split(".")
    inner = form
    for name in above:
        inner = inner[name]
    inner[last] = value
    return form


BUILDER: list[tuple[str, Any]] = [
    ("config_id", "../../elsewhere"),
    ("config_id", ""),
    ("config_id", "a" * 1000),
    ("config_id", "a\nb"),
    ("config_id", "a.incomplete-1-x"),  # as a folder that a build has not finished
    ("config_id", 5),
    ("config.name", 5),
    ("config.fields", []),
    ("config.fields", {"create_config_id": "evil"}),
    ("config.fields", {"_private": 1}),
    ("config.fields", {"a b": 1}),
    ("config.fields", {"description": 5}),
    ("config.fields", {"version": 5}),
    ("config.fields", {"data_files": ["/home"]}),
    ("config.fields", {"a": {"held": {"features": {"x": {"_type": "Evil"}}}}}),
    ("config.fields", {"a": {"held": {"pickle": "x"}}}),
    ("version", "1.0.0"),
    ("version", {"version": "1", "description": None, "release": None}),
    ("canonical", None),
    ("supported", [1]),
    ("refused", [1]),
    ("release_notes", {"1.0.0": 5}),
    ("info", None),
    ("info", {"features": 5}),
    ("info", {"description": 5}),
    ("info", {"features": {"a": {"_type": "os.system"}}}),
    ("info", {"version": {"x": 1}}),
    ("manual", 5),
    ("writer_batch_size", -1),
    ("writer_batch_size", "2"),
]


@pytest.mark.parametrize(("path", "value"), BUILDER, ids=str)
def test_a_builder_that_cannot_be_is_refused(told: dict[str, Any], path: str, value: Any) -> None:
    with pytest.raises(DatasetsCoreError):
        BuilderFacts.of(changed(told, path, value), script="reviews.py")


CLASS: list[tuple[str, Any]] = [
    ("class", "not a name"),
    ("class", 5),
    ("name", "../x"),
    ("doc", 5),
    ("configs", 5),
    ("configs", [{"name": "a/b", "fields": {}}]),
    ("default", 5),
    ("version", 5),
    ("yields", "pickles"),
    ("blocked", 5),
    ("blocked", [[["*"]], []]),
]


@pytest.mark.parametrize(("path", "value"), CLASS, ids=str)
def test_a_class_that_cannot_be_is_refused(path: str, value: Any) -> None:
    with pytest.raises(DatasetsCoreError):
        ClassFacts.of(changed(over(class_form(Reviews)), path, value), script="reviews.py")


@pytest.mark.parametrize("of", [ClassFacts.of, BuilderFacts.of])
def test_a_form_that_lacks_everything_is_refused(of: Callable[..., Any]) -> None:
    with pytest.raises(DatasetsCoreError, match=r"reviews\.py"):
        of({}, script="reviews.py")


def test_a_field_does_not_change_the_name_of_a_config(told: dict[str, Any]) -> None:
    facts = BuilderFacts.of(changed(told, "config.fields", {"name": "../x", "a": 1}), script="reviews.py")
    assert (facts.config.name, facts.config.a) == ("en", 1)  # type: ignore[attr-defined]


# Messages on a pipe: what is sent comes whole, and what is none is refused before it costs anything.

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.text(), lambda inner: st.lists(inner, max_size=3)
)


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    reads, writes = os.pipe()
    try:
        yield reads, writes
    finally:
        os.close(reads)
        os.close(writes)


def _read(incoming: Incoming) -> tuple[Kind, Message]:
    while (found := incoming.read()) is None:
        os.sched_yield()
    return found


@given(head=st.dictionaries(st.text(), PLAIN, max_size=4), payload=st.binary(max_size=300_000))
def test_what_is_sent_comes_whole(head: dict[str, object], payload: bytes) -> None:
    with _pipe() as (reads, writes):
        incoming = Incoming(reads)
        sender = threading.Thread(target=Channel(-1, writes).reply, args=(head, payload))
        sender.start()
        kind, message = _read(incoming)
        sender.join()
        assert (kind, message.head, bytes(memoryview(message.payload or b""))) == (Kind.LAST, head, payload)
        assert incoming.is_empty


def test_a_large_payload_takes_memory_as_it_comes() -> None:
    size = 40 << 20
    with _pipe() as (reads, writes):
        sender = threading.Thread(target=Channel(-1, writes).reply, args=({}, bytearray(size)))
        sender.start()
        _, message = _read(Incoming(reads))
        sender.join()
    assert message.payload is not None and len(memoryview(message.payload)) == size


VALUES = (b"[]", b"{}", b"[[]]", b'{"a":[]}', b'"ab"', b'"\\u1234"', b"1.5", b"300")


def _listed(value: bytes, size: int) -> bytes:
    text = b'{"a":[' + b",".join([value] * ((size - 16) // (len(value) + 1))) + b"]}"
    return struct.pack("!cIQ", Kind.LAST.value, len(text), 0) + text


def _sent(text: bytes) -> Message:
    with _pipe() as (reads, writes), open(os.dup(writes), "wb", buffering=0) as sink:
        incoming = Incoming(reads)
        for start in range(0, len(text), 1 << 14):
            sink.write(text[start : start + (1 << 14)])
            if (found := incoming.read()) is not None:
                return found[1]
    raise AssertionError("no message came")


@pytest.mark.parametrize("value", VALUES)
def test_a_head_takes_memory_in_proportion_to_its_text(value: bytes) -> None:
    text = _listed(value, 400_000)
    tracemalloc.start()
    try:
        head = _sent(text).head
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(head["a"]) > 30_000
    assert peak < 64 * len(text)


@pytest.mark.parametrize("value", [b"[]", b"{}", b"[[]]", b"300"])
def test_a_head_of_too_many_values_is_refused_before_it_is_parsed(value: bytes) -> None:
    with pytest.raises(PipeError, match="too many values"):
        _sent(_listed(value, MAX_HEAD_BYTES))


@given(parts=st.lists(st.integers(1, 40), min_size=1))
def test_messages_may_come_in_any_pieces(parts: list[int]) -> None:
    text = packed(Kind.PART, {"a": 1}, 5) + b"12345" + packed(Kind.LAST, {"b": [2]})
    with _pipe() as (reads, writes):
        incoming, found = Incoming(reads), []
        pieces = [*parts, len(text)]
        for size in pieces:
            os.write(writes, text[:size])
            text = text[size:]
            while (message := incoming.read()) is not None:
                found.append(message)
    assert [(kind, message.head) for kind, message in found] == [(Kind.PART, {"a": 1}), (Kind.LAST, {"b": [2]})]


@pytest.mark.parametrize(
    "text",
    [
        b"garbage that is no message",
        struct.pack("!cIQ", b"L", MAX_HEAD_BYTES + 1, 0),
        struct.pack("!cIQ", b"L", 0, 1001),
        struct.pack("!cIQ", b"R", 2, 0) + b"{}",
        struct.pack("!cIQ", b"L", 4, 0) + b"{]}[",
        struct.pack("!cIQ", b"L", 4, 0) + b"\xff\xfe\xfd\xfc",
        struct.pack("!cIQ", b"L", 4, 0) + b"null",
        struct.pack("!cIQ", b"L", 200_000, 0) + b"[" * 200_000,
        struct.pack("!cIQ", b"L", 8005, 0) + b'{"a":' + b"9" * 7999 + b"}",
        packed(Kind.LAST, json.loads('{"a":' * 65 + "{}" + "}" * 65)),
        struct.pack("!cIQ", b"L", 6 + 3_600_001, 0) + b'{"a":[' + b"[]," * 1_200_000 + b"]}",
    ],
    ids=[
        "garbage",
        "long head",
        "long payload",
        "a request",
        "no JSON",
        "no text",
        "no object",
        "deep",
        "long number",
        "nested",
        "many values",
    ],
)
def test_what_is_no_message_is_refused(text: bytes) -> None:
    reads, writes = os.pipe()
    with open(writes, "wb") as sink:
        sender = threading.Thread(target=lambda: (sink.write(text), sink.flush()))
        sender.start()
        incoming = Incoming(reads, max_payload_bytes=1000)
        with pytest.raises(PipeError):
            _read(incoming)
        while sender.is_alive():
            try:
                os.read(reads, 1 << 16)
            except BlockingIOError:
                os.sched_yield()
    os.close(reads)


@pytest.mark.parametrize(("text", "said"), [(b"", "it ended"), (packed(Kind.LAST, {"a": 1})[:-1], "in the middle")])
def test_the_end_is_told(text: bytes, said: str) -> None:
    reads, writes = os.pipe()
    os.write(writes, text)
    os.close(writes)
    with pytest.raises(EOFError, match=said):
        Incoming(reads).read()
    os.close(reads)


@pytest.mark.parametrize("head", [{"a": object()}, {"a": b"bytes"}, {"a": "x" * MAX_HEAD_BYTES}])
def test_a_head_that_cannot_be_sent_is_refused_by_its_sender(head: dict[str, object]) -> None:
    with pytest.raises(PipeError, match="a head"):
        packed(Kind.REQUEST, head)


def test_the_process_asks_and_is_answered() -> None:
    with _pipe() as (asked, asks), _pipe() as (told, tells):
        os.write(tells, packed(Kind.REQUEST, {"do": 1}) + packed(Kind.ANSWER, {"is": 2}))
        channel = Channel(told, asks)
        assert next(channel.requests()) == {"do": 1}
        assert channel.question({"what": 1}) == {"is": 2}
        found = Incoming(asked).read()
        assert found is not None and (found[0], found[1].head) == (Kind.QUESTION, {"what": 1})


# Text run in the cage, as it is run outside.


class _Recorded(Channel):
    def __init__(self, *texts: str) -> None:
        super().__init__(-1, -1)
        self.texts, self.told = texts, []  # type: ignore[var-annotated]

    def requests(self):  # type: ignore[no-untyped-def]
        yield from ({"text": text} for text in self.texts)

    def reply(self, head, payload=None, last=True):  # type: ignore[no-untyped-def]
        self.told.append((dict(head), payload, last))

    def fail(self, error: BaseException) -> None:
        self.told.append(type(error).__name__)


def test_a_text_answers_with_its_result_or_its_error() -> None:
    channel = _Recorded("reply({'a': 1}, b'x'); result = 2", "1 / 0", "pass")
    serve(channel)
    assert channel.told == [
        ({"a": 1}, b"x", False), ({"result": 2}, None, True), "ZeroDivisionError", ({"result": None}, None, True),
    ]  # fmt: skip
