"""Files of formats as streams: resumed at any row as if never interrupted, and sliced without reading what need not be."""

import gzip
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fsspec
import pyarrow as pa
import pytest
from datasets_core.builders._source import Grid

from datasets_core.building.live_jobs import LiveJob, LivePart, LiveTables
from datasets_core.errors import (
    ConfigurationError,
    DatasetGenerationCastError,
    DatasetGenerationError,
    FileChangedError,
    FileFormatError,
    StreamStateError,
    UrlNotFoundError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset

WORDS = ["a", "é", "日本", "😀 ", "x y", ""]


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of some rows each."""
    monkeypatch.setattr(Grid, "STEP_BYTES", 150)
    monkeypatch.setattr("datasets_core.builders.csv._HEAD_BYTES", 300)
    monkeypatch.setattr("datasets_core.builders.json._HEAD_BYTES", 300)


def _word(chance: random.Random) -> str:
    return "".join(chance.choice(WORDS) for _ in range(chance.randint(0, 6)))


def _csv(end: str = "\n", lead: bytes = b"", *, quoted: bool = True, header: bool = True) -> bytes:
    chance = random.Random(end)
    lines = ["id,name,v,late"] if header else []
    for row in range(60):
        name = f'"{_word(chance)}{end}""{_word(chance)}"' if quoted and row % 3 == 0 else f"w{_word(chance)}"
        lines += [f"{row},{name},{row if row < 40 else row + 0.5},{'' if row < 30 else 'z'}"]
        lines += ["  "] * (row % 17 == 5)
    return lead + end.join([*lines, ""]).encode()


def _rows(*, late: bool = False) -> list[dict[str, Any]]:
    chance = random.Random(late)
    return [
        {"id": row if row < 40 or not late else row + 0.5, "t": _word(chance), "n": {"a": [row] * (row % 3)}, "m": None}
        | ({"m": "z"} if late and row > 30 else {})
        for row in range(60)
    ]


def _lines(end: str = "\n", *, late: bool = False) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=row["n"]["a"] == []) + end for row in _rows(late=late)).encode()


def _text(end: str) -> bytes:
    chance = random.Random(end)
    return end.join(chance.choice([_word(chance), "", _word(chance) * 9]) for _ in range(90)).encode()


KINDS: dict[str, tuple[str, str, bytes, dict[str, Any]]] = {
    "csv": ("csv", "a.csv", _csv(), {}),
    "csv of windows with a mark": ("csv", "a.csv", _csv("\r\n", b"\xef\xbb\xbf"), {}),
    "csv without a header": ("csv", "a.csv", _csv(header=False), {"names": ["a", "b", "c", "d"]}),
    "csv with chosen rows and columns": ("csv", "a.csv", _csv(), {"skiprows": [3, 40], "usecols": ["v", "id"], "nrows": 50}),
    "csv split by Python": ("csv", "a.csv", _csv(), {"skipinitialspace": True}),
    "csv in another encoding": ("csv", "a.csv", _csv(quoted=False).decode().encode("utf-16"), {"encoding": "utf-16"}),
    "csv, compressed": ("csv", "a.csv.gz", gzip.compress(_csv(), mtime=0), {}),
    "csv, cast": ("csv", "a.csv", _csv(), {"features": Features({n: Value("string") for n in ("id", "name", "v", "late")})}),
    "json lines": ("json", "a.jsonl", _lines(), {}),
    "json lines whose types widen": ("json", "a.jsonl", b"\xef\xbb\xbf" + _lines("\r\n", late=True), {}),
    "json lines, compressed": ("json", "a.jsonl.gz", gzip.compress(_lines(late=True), mtime=0), {}),
    "json, pretty": ("json", "a.json", "\n".join(json.dumps(row, indent=1) for row in _rows()).encode(), {}),
    "json, without line ends": ("json", "a.json", b"".join(json.dumps(row).encode() for row in _rows()), {}),
    "json array": ("json", "a.json", b" \n" + json.dumps(_rows(late=True), indent=2).encode(), {}),
    "json array of values": ("json", "a.json", json.dumps([*"abc", None, *WORDS * 12]).encode(), {}),
    "json under a key": ("json", "a.json", json.dumps({"v": 1, "rows": _rows(), "w": [1]}).encode(), {"field": "rows"}),
    "text": ("text", "a.txt", _text("\n"), {}),
    "text of windows": ("text", "a.txt", b"\xef\xbb\xbf" + _text("\r\n"), {"keep_linebreaks": True}),
    "text of old Macs": ("text", "a.txt", _text("\r"), {}),
    "text by paragraphs": ("text", "a.txt", _text("\n"), {"sample_by": "paragraph"}),
    "text by paragraphs of windows": ("text", "a.txt", _text("\r\n"), {"sample_by": "paragraph"}),
    "text as documents": ("text", "a.txt", _text("\n"), {"sample_by": "document"}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("small_blocks")
def test_a_stream_goes_on_at_any_row_and_cuts_anywhere(kind: str, tmp_path: Path) -> None:
    """Rows and their types are those of one that was never interrupted; and rows are those of a build."""
    format_name, name, content, options = KINDS[kind]
    (tmp_path / name).write_bytes(content)
    how = {"data_files": [str(tmp_path / name)] * 2, "split": "train", "cache_dir": str(tmp_path / "cache"), **options}

    def stream(**more: Any) -> Any:
        return load_dataset(format_name, streaming=True, **{**how, **more})

    built = list(load_dataset(format_name, **how))
    walk = iter(stream())
    states, whole = [walk.state_dict()], []
    for row in walk:
        whole.append(row)
        states.append(json.loads(json.dumps(walk.state_dict())))
    assert whole == built
    for place in {*range(0, len(whole), 13), 1, len(whole) // 2, len(whole) - 1}:
        rows = stream()
        rows.load_state_dict(states[place])
        assert list(map(repr, rows)) == list(map(repr, whole[place:]))
    count = len(whole)
    for start, stop in ((count // 2 - 2, count // 2 + 2), (count + 1, None), (-4, None)):
        assert list(stream(split=f"train[{start}:{'' if stop is None else stop}]")) == whole[slice(start, stop)]
    for skipped in (count // 2, count + 2):
        assert list(stream().skip(skipped)) == whole[skipped:]


@pytest.fixture(scope="module")
def large() -> dict[str, bytes]:
    """Some megabytes of each format."""
    chance = random.Random(7)
    words = [chance.choice("abcdefgh") * 9 for _ in range(100)]
    rows = [(row, f"{' '.join(chance.choices(words, k=10))} {row}") for row in range(30_000)]
    return {
        "a.jsonl": "".join(f'{{"id": {row}, "t": "{text}"}}\n' for row, text in rows).encode(),
        "a.csv": b"id,t\n" + "".join(f"{row},{text}\n" for row, text in rows).encode(),
        "a.txt": "".join(f"{text}\n" for _, text in rows).encode(),
    }


def _streamed(url: str, tmp_path: Path, **more: Any) -> Any:
    name = {"jsonl": "json", "csv": "csv", "txt": "text"}[url.split(".")[-1].removesuffix(".gz")]
    how = {"data_files": url, "split": "train", "cache_dir": str(tmp_path / "cache"), **more}
    return load_dataset(name, streaming=True, **how)


def _quiet(rows: Any, count: int) -> tuple[list[Any], Any]:
    walk = iter(rows)
    found = [next(walk) for _ in range(count)]
    state = walk.state_dict()
    walk.close() if hasattr(walk, "close") else None
    return found, state


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt"])
def test_going_on_is_one_request_near_the_row(name: str, large: dict[str, bytes], range_server: Any, tmp_path: Path) -> None:
    url = range_server.put(name, large[name])
    whole = list(_streamed(url, tmp_path))
    state = _quiet(_streamed(url, tmp_path), 20_001)[1]
    assert len(json.dumps(state)) < 2000
    rows = _streamed(url, tmp_path)
    range_server.reset()
    rows.load_state_dict(state)
    assert next(iter(rows)) == whole[20_001]
    ours = [asked for asked in range_server.requests if asked.range and not asked.range.startswith("bytes=0-")]
    # the stream that made the state may still have had a longer range on its way, so not simply the first
    assert min(asked.num_bytes for asked in ours) <= 400_000


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_what_tells_the_features_is_not_read_again(
    name: str, large: dict[str, bytes], range_server: Any, tmp_path: Path
) -> None:
    rows = _streamed(range_server.put(name, large[name]), tmp_path)
    assert not range_server.requests
    assert rows.features == {"id": Value("int64"), "t": Value("string")}
    asked = len(range_server.requests)
    assert len(list(rows.take(5))) == 5
    assert len(range_server.requests) == asked
    assert range_server.num_bytes <= 1_500_000


def test_the_next_process_jumps_to_rows_that_were_seen(large: dict[str, bytes], range_server: Any, tmp_path: Path) -> None:
    url = range_server.put("a.jsonl", large["a.jsonl"])
    whole = list(_streamed(url, tmp_path))
    range_server.reset()
    assert list(_streamed(url, tmp_path, split="train[29000:29003]")) == whole[29000:29003]
    assert range_server.num_bytes < len(large["a.jsonl"]) / 2
    assert list(_streamed(url, tmp_path, split="train[-2:]")) == whole[-2:]
    assert list(_streamed(url, tmp_path, split="train[50%:51%]")) == whole[15_000:15_300]
    assert _streamed(url, tmp_path, split="train[10:13]").skip(1).take(1).to_list() == whole[11:12]


def test_rows_that_nobody_counted_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\nb\n")
    with pytest.raises(ConfigurationError, match=r"depends on the number of rows of 'train'.*read the stream to its end once"):
        _streamed(str(tmp_path / "a.txt"), tmp_path, split="train[50%:]")


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt"])
@pytest.mark.parametrize("row", [10, 20_000])
def test_a_file_that_changed_is_never_gone_on_with(
    name: str, row: int, large: dict[str, bytes], range_server: Any, tmp_path: Path
) -> None:
    url = range_server.put(name, large[name])
    state = _quiet(_streamed(url, tmp_path), row)[1]
    range_server.put(name, large[name].replace(b"a", b"b"))
    rows = _streamed(url, tmp_path)
    rows.load_state_dict(state)
    with pytest.raises(FileChangedError, match=name):
        list(rows)


def test_marks_of_another_version_are_forgotten(large: dict[str, bytes], range_server: Any, tmp_path: Path) -> None:
    url = range_server.put("a.jsonl", large["a.jsonl"])
    list(_streamed(url, tmp_path))
    range_server.put("a.jsonl", b'{"id": 0, "t": "new"}\n' + large["a.jsonl"])
    assert next(iter(_streamed(url, tmp_path, split="train[25000:]")))["id"] == 24_999


@pytest.mark.parametrize(
    ("name", "broken", "error", "says"),
    [
        ("a.jsonl", b'{"id": 1, "t": \n', FileFormatError, "a.jsonl, line 20001: broken JSON"),
        ("a.jsonl", b'{"id": "x", "t": "y"}\n', DatasetGenerationError, "different types before and after row.* of .*a.jsonl"),
        ("a.csv", b"1,2,3\n", FileFormatError, "a.csv, line 20001: has 3 fields"),
        ("a.csv", b"x,y\n", DatasetGenerationError, "different types before and after row.* of .*a.csv"),
        ("a.txt", b"\xff\n", FileFormatError, "a.txt, line 20001: byte 0xff"),
    ],
)
def test_what_is_broken_in_the_middle_is_told_by_file_and_line(
    name: str, broken: bytes, error: type[Exception], says: str, large: dict[str, bytes], range_server: Any, tmp_path: Path
) -> None:
    lines = large[name].splitlines(keepends=True)
    url = range_server.put(name, b"".join([*lines[:20_000], broken, *lines[20_000:]]))
    with pytest.raises(error, match=says):
        list(_streamed(url, tmp_path))


def test_a_value_that_does_not_fit_is_told_by_its_row_in_the_file(large: dict[str, bytes], tmp_path: Path) -> None:
    lines = large["a.jsonl"].splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_bytes(b"".join([*lines[:20_000], b'{"id": "x", "t": "y"}\n', *lines]))
    features = Features({"id": Value("int64"), "t": Value("string")})
    with pytest.raises(DatasetGenerationCastError, match=r"a.jsonl does not fit split 'train' of json: row 20000") as caught:
        list(_streamed(str(tmp_path / "a.jsonl"), tmp_path, features=features))
    error = caught.value
    assert (error.file, error.row, error.column, error.split) == (str(tmp_path / "a.jsonl"), 20000, "id", "train")


def test_a_compressed_file_that_is_cut_is_told(large: dict[str, bytes], range_server: Any, tmp_path: Path) -> None:
    packed = gzip.compress(large["a.jsonl"], 1, mtime=0)
    url = range_server.put("a.jsonl.gz", packed[: len(packed) // 2])
    with pytest.raises(FileFormatError, match=r"a.jsonl.gz: the compressed data is damaged or truncated"):
        list(load_dataset("json", data_files=url, split="train", streaming=True, cache_dir=str(tmp_path)))


def test_one_file_that_is_missing_among_many_is_told(large: dict[str, bytes], range_server: Any, tmp_path: Path) -> None:
    urls = [range_server.put(f"{number}.csv", b"a\n1\n") for number in range(3)]
    rows = load_dataset(
        "csv", data_files=[*urls, f"{range_server.url}/9.csv"], split="train", streaming=True, cache_dir=str(tmp_path)
    )
    assert not range_server.requests
    with pytest.raises(UrlNotFoundError) as caught:
        list(rows)
    assert str(caught.value.file).endswith("9.csv")


def test_states_of_other_kinds_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\nb\n")
    rows = _streamed(str(tmp_path / "a.txt"), tmp_path)
    state = _quiet(rows, 1)[1]
    state["at"][-1] = [0, {"byte": 7}]
    with pytest.raises(StreamStateError):
        rows.load_state_dict(state)
        list(rows)


def test_types_of_later_files_follow_from_the_first_in_any_order(tmp_path: Path) -> None:
    for number, text in enumerate(("a,b\n1,x\n", "a,b\n2.5,\n", "a,b\n3,y\n")):
        (tmp_path / f"{number}.csv").write_text(text)
    files = [str(tmp_path / f"{number}.csv") for number in range(3)]
    how = {"split": "train", "streaming": True, "cache_dir": str(tmp_path / "cache")}
    assert list(load_dataset("csv", data_files=files, **how)) == [
        {"a": 1, "b": "x"},
        {"a": 2.5, "b": None},
        {"a": 3.0, "b": "y"},
    ]
    last = load_dataset("csv", data_files=files, **how).shard(3, 2, contiguous=True)
    assert repr(list(last)) == "[{'a': 3, 'b': 'y'}]"


@pytest.fixture
def memory() -> Iterator[Any]:
    store = fsspec.filesystem("memory")
    yield store
    store.rm("/live", recursive=True)


def test_files_of_stores_go_on_too(large: dict[str, bytes], memory: Any, tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.csv", "a.txt"):
        memory.pipe(f"/live/{name}", large[name])
        url = f"memory://live/{name}"
        whole = list(_streamed(url, tmp_path))
        rows = _streamed(url, tmp_path)
        rows.load_state_dict(_quiet(_streamed(url, tmp_path), 25_000)[1])
        assert list(rows) == whole[25_000:]


def test_what_must_be_had_whole_is_fetched_when_it_is_read_and_said_once(
    range_server: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    import io
    import tarfile

    made, member = io.BytesIO(), tarfile.TarInfo("a.csv")
    member.size = 6
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        archive.addfile(member, io.BytesIO(b"a\n1\n2\n"))
    urls = [range_server.put(f"{number}.tar.gz", made.getvalue()) for number in range(2)]
    rows = load_dataset("csv", data_files=urls, split="train", streaming=True, cache_dir=str(tmp_path))
    assert not range_server.requests
    assert [row["a"] for row in rows] == [1, 2, 1, 2]
    assert sum("are fetched whole" in record.getMessage() for record in caplog.records) == 1


def test_nothing_is_kept_open_when_a_walk_is_left(large: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(large["a.jsonl"])
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        rows = _streamed(str(tmp_path / "a.jsonl"), tmp_path)
        assert rows.features is not None
        next(iter(rows))
        del rows
    assert len(os.listdir("/proc/self/fd")) <= before + 1


# Parts of a split whose rows are made while they are read: see `test_live.py` for what they make.


def splits(**more: Any) -> Any:
    return SimpleNamespace(builder=SimpleNamespace(is_of_old_datasets=False), why_one_piece=lambda split: None, **more)


def test_a_part_alone_stands_alone() -> None:
    assert LiveJob(splits(), "train", 0, 1).is_independent
    assert LiveJob(splits(), "train", 1, 3).is_independent
    old = splits()
    old.builder.is_of_old_datasets = True
    assert not LiveJob(old, "train", 1, 3).is_independent


def test_the_whole_is_one_part() -> None:
    whole = LiveJob(splits(), "train", 2, 3, start=5, stop=9).whole
    assert (whole.index, whole.count, whole.start, whole.stop) == (0, 1, 5, 9)


def test_a_part_asks_for_time_whenever_it_goes_on() -> None:
    asked: list[int] = []
    part = LivePart("train", {}, 0, 1, 0, None, lambda: asked.append(1))  # type: ignore[func-returns-value]
    assert part.deadline is part.deadline is None
    assert len(asked) == 2
    assert part.is_live


# Types of tables that come one after the other, and were given before the next one is seen.


def rows(*tables, features=None, merge_columns=False):
    builder = SimpleNamespace(info=SimpleNamespace(features=features), label="reviews", merge_columns=merge_columns)
    fitted, found = LiveTables(builder, "train"), []
    for table in tables:
        found += [row for batch in fitted.batches(pa.table(table), None, len(found)) for row in batch.to_pylist()]
    return found


def test_features_decide_where_there_are_any():
    assert rows({"a": [1]}, {"a": ["2"]}, features=Features({"a": Value("string")})) == [{"a": "1"}, {"a": "2"}]
    with pytest.raises(DatasetGenerationCastError, match=r"table after row 0 does not fit split 'train' of reviews: .*'a'"):
        rows({"a": ["x"]}, features=Features({"a": Value("int8")}))


@pytest.mark.parametrize(
    ("first", "second"),
    [([1], [2.5]), ([None], ["x"]), ([[]], [["x"]]), ([{"b": None}], [{"b": 1}]), ([[1]], [[2.5]])],
)
def test_what_holds_the_values_before_may_come(first, second):
    assert rows({"a": first}, {"a": second}) == [{"a": first[0]}, {"a": second[0]}]


@pytest.mark.parametrize(("first", "second"), [([1], ["x"]), ([{"b": 1}], [{"b": "x"}]), ([["x"]], [[1]]), ([True], [1])])
def test_what_would_make_other_values_of_those_before_is_refused(first, second):
    with pytest.raises(
        DatasetGenerationError, match=r"split 'train' of reviews have different types before and after row 1.*Pass features="
    ):
        rows({"a": first}, {"a": second})


def test_columns_may_differ_only_where_they_are_merged():
    assert rows({"a": [1]}, {"b": [2]}, merge_columns=True) == [{"a": 1}, {"a": None, "b": 2}]
    with pytest.raises(DatasetGenerationCastError, match=r"new columns \['b'\]"):
        rows({"a": [1]}, {"b": [2]})


def test_large_tables_come_in_bounded_batches():
    builder = SimpleNamespace(info=SimpleNamespace(features=None), label="reviews", merge_columns=False)
    batches = list(LiveTables(builder, "train").batches(pa.table({"a": range(5000)}), None, 0))

    assert [batch.num_rows for batch in batches] == [1024, 1024, 1024, 1024, 904]
