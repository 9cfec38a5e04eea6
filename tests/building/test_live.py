"""The rows of a builder as they are made: the same as those of a build, in the same order."""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import logging
import os
import pickle
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core import config
from datasets_core.building import live
from datasets_core.building.builder import ArrowBasedBuilder, GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.live import unopened
from datasets_core.config import using
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import (
    ConfigurationError,
    DatasetGenerationCastError,
    DatasetGenerationError,
    DeniedAccessError,
    ManualDownloadError,
    StreamStateError,
    UnknownSplitError,
    UrlNotFoundError,
)
from datasets_core.features.base import Sequence, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.load import load_dataset
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.stream.iterable_dict import IterableDatasetDict

FEATURES = Features(
    {"n": Value("int32"), "label": ClassLabel(names=["even", "odd"]), "words": Sequence({"w": Value("string")})}
)
SLICES = ["train[:10]", "train[10:20]", "train[110:]", "train[500:]", "train+test", "test[1:]+train[:2]", "all"]


class Rows(GeneratorBasedBuilder):
    """Three parts of `n` rows each, and a test split of one."""

    def _info(self):
        return DatasetInfo(features=FEATURES)

    def _split_generators(self, dl_manager):
        assert dl_manager.is_streaming in (True, False)
        return [
            SplitGenerator("train", {"parts": [0, 1, 2], "count": 40}),
            SplitGenerator("test", {"parts": [9], "count": 3}),
        ]

    def _generate_examples(self, parts, count):
        for part in parts:
            for row in range(count):
                words = [{"w": str(row)}] * (row % 3)
                yield f"{part}-{row}", {"n": part * 100 + row, "label": ["even", "odd"][row % 2], "words": words}


def made_by(generate, gen_kwargs=None, features=None, base=GeneratorBasedBuilder, **attributes):
    """A builder whose rows a function makes."""
    hook = "_generate_tables" if base is ArrowBasedBuilder else "_generate_examples"

    def _info(self):
        return DatasetInfo(features=features)

    def _split_generators(self, dl_manager):
        given = gen_kwargs(self) if callable(gen_kwargs) else gen_kwargs
        return [SplitGenerator("train", given or {})]

    def _generate(self, **given):
        return generate(**given)

    hooks = {"_info": _info, "_split_generators": _split_generators, hook: _generate}
    return type("Made", (base,), {**hooks, **attributes})


def ns(rows):
    return [row["n"] for row in rows]


def built_and_streamed(builder, split="train"):
    streamed = list(builder.as_streaming_dataset(split))
    builder.download_and_prepare()
    return list(builder.as_dataset(split)), streamed


def test_streamed_rows_are_those_of_a_build(tmp_path):
    builder = Rows(cache_dir=str(tmp_path))

    built, streamed = built_and_streamed(builder)
    assert streamed == built
    assert streamed[1] == {"n": 1, "label": 1, "words": {"w": ["1"]}}
    assert builder.as_streaming_dataset("train").features == FEATURES


def test_nothing_is_written(tmp_path):
    list(Rows(cache_dir=str(tmp_path / "cache")).as_streaming_dataset("train"))

    assert not (tmp_path / "cache").exists()


def test_all_splits_are_a_dict_of_streams(tmp_path):
    splits = Rows(cache_dir=str(tmp_path)).as_streaming_dataset()

    assert type(splits) is IterableDatasetDict
    assert {name: stream.num_shards for name, stream in splits.items()} == {"train": 3, "test": 1}
    assert str(splits["test"].split) == "test"
    assert ns(splits["test"]) == [900, 901, 902]


def test_a_row_comes_before_the_next_one_is_made(tmp_path):
    made = []

    def generate():
        for row in range(100):
            made.append(row)
            yield row, {"n": row}

    rows = iter(made_by(generate)(cache_dir=str(tmp_path)).as_streaming_dataset("train"))
    assert made == []
    next(rows)
    assert made == [0]


def test_rows_ahead_are_bounded_by_their_bytes(tmp_path):
    made = []

    def generate():
        for row in range(1000):
            made.append(row)
            yield row, {"data": b"x" * (4 << 20)}

    rows = iter(
        made_by(generate, features=Features({"data": Value("binary")}))(cache_dir=str(tmp_path)).as_streaming_dataset("train")
    )
    for _ in range(3):
        next(rows)
    assert len(made) < 20


def test_rows_before_a_failure_come_first_and_it_has_the_words_of_a_build(tmp_path):
    def generate():
        for row in range(30):
            yield f"k{row}", {"n": row}
        raise KeyError("gone")

    builder = made_by(generate)(cache_dir=str(tmp_path))
    rows, found = iter(builder.as_streaming_dataset("train")), []
    with pytest.raises(DatasetGenerationError) as streamed:
        found.extend(row["n"] for row in rows)
    with pytest.raises(DatasetGenerationError) as built:
        builder.download_and_prepare()

    assert found == list(range(30))
    assert str(streamed.value) == str(built.value)
    assert "failed at row 30, after key 'k29' of split 'train'" in str(streamed.value)
    assert ns(builder.as_streaming_dataset("train").take(30)) == list(range(30))


def test_a_row_that_does_not_fit_is_told_as_in_a_build(tmp_path):
    def generate():
        yield 0, {"n": 1}
        yield 1, {"n": "x"}

    with pytest.raises(DatasetGenerationCastError) as caught:
        list(made_by(generate, features=Features({"n": Value("int32")}))(cache_dir=str(tmp_path)).as_streaming_dataset("train"))
    assert (caught.value.split, caught.value.column, caught.value.row) == ("train", "n", 1)


def test_rows_that_change_after_they_were_yielded_are_those_that_were_yielded(tmp_path):
    def generate():
        row = {"n": [0]}
        for number in range(200):
            if number < 20:
                yield number, {"n": [number]}
            else:
                row["n"] = [number]
                yield number, row

    assert ns(made_by(generate)(cache_dir=str(tmp_path)).as_streaming_dataset("train")) == [[number] for number in range(200)]


def test_rows_without_features_tell_their_own_types(tmp_path):
    def generate():
        yield 0, {"n": 1}
        yield 1, {"n": None, "m": [1.5]}

    rows = made_by(generate)(cache_dir=str(tmp_path)).as_streaming_dataset("train")
    assert rows.features is None
    assert list(rows) == [{"n": 1}, {"n": None, "m": [1.5]}]


# -- states ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 1, 39, 40, 41, 100, 119, 120])
def test_a_state_goes_on_behind_its_row(tmp_path, at):
    rows = Rows(cache_dir=str(tmp_path)).as_streaming_dataset("train")
    whole = ns(rows)
    walk = iter(rows)
    head = [next(walk)["n"] for _ in range(at)]
    state = json.loads(json.dumps(walk.state_dict()))

    again = Rows(cache_dir=str(tmp_path)).as_streaming_dataset("train")
    again.load_state_dict(state)
    assert head + ns(again) == whole
    assert len(json.dumps(state)) < 300


def test_a_state_makes_no_part_again_that_was_done(tmp_path):
    begun = []

    def generate(parts):
        for part in parts:
            begun.append(part)
            for row in range(5):
                yield f"{part}-{row}", {"n": part * 10 + row}

    builder = made_by(generate, {"parts": [0, 1, 2]})(cache_dir=str(tmp_path))
    walk = iter(builder.as_streaming_dataset("train"))
    for _ in range(12):
        next(walk)
    begun.clear()

    rows = builder.as_streaming_dataset("train")
    rows.load_state_dict(walk.state_dict())
    assert (ns(rows), begun) == ([22, 23, 24], [2])


def test_a_state_of_other_rows_is_refused(tmp_path):
    builder = Rows(cache_dir=str(tmp_path))

    with pytest.raises(StreamStateError, match="starts with 'train' of"):
        builder.as_streaming_dataset("test").load_state_dict(builder.as_streaming_dataset("train").state_dict())


# -- splits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", SLICES)
def test_rows_by_number_are_those_of_a_build(tmp_path, split):
    built, streamed = built_and_streamed(Rows(cache_dir=str(tmp_path)), split)

    assert streamed == built


@pytest.mark.parametrize("split", ["train[:50%]", "train[-5:]", "train[10%:20%]+test[-1:]", "all[:50%]"])
def test_what_counts_from_the_end_needs_a_record(tmp_path, split):
    with pytest.raises(ConfigurationError, match="the number of rows of 'train', which is not recorded"):
        Rows(cache_dir=str(tmp_path)).as_streaming_dataset(split)

    recorded = DatasetInfo(splits=SplitDict({"train": SplitInfo("train", 0, 120), "test": SplitInfo("test", 0, 3)}))
    built, streamed = built_and_streamed(Rows(cache_dir=str(tmp_path), info=recorded), split)
    assert streamed == built


def test_a_nest_of_splits_is_a_nest_of_streams(tmp_path):
    first, second = Rows(cache_dir=str(tmp_path)).as_streaming_dataset(["train[:2]", "test"])

    assert (ns(first), ns(second)) == ([0, 1], [900, 901, 902])
    with pytest.raises(UnknownSplitError) as caught:
        Rows(cache_dir=str(tmp_path)).as_streaming_dataset("tran")
    assert caught.value.name == "tran"


# -- parts -------------------------------------------------------------------------------------------------------------


def test_the_author_of_an_old_script_has_whole_lists_unless_they_are_shared(tmp_path):
    def generate(files):
        for place, file in enumerate(files):
            yield str(file), {"n": 10 * file + place}

    class Old(made_by(generate, {"files": [1, 2, 3]})):
        is_of_old_datasets = True

    builder = Old(cache_dir=str(tmp_path))
    built, streamed = built_and_streamed(builder)
    assert streamed == built
    assert ns(streamed) == [10, 21, 32]
    assert ns(split_dataset_by_node(builder.as_streaming_dataset("train"), 1, 3)) == [20]


def test_nodes_and_shuffles_take_whole_parts(tmp_path):
    rows = Rows(cache_dir=str(tmp_path)).as_streaming_dataset("train")
    shares = [ns(split_dataset_by_node(rows, rank, 3)) for rank in range(3)]
    mixed = ns(rows.shuffle(seed=2, buffer_size=10))

    assert [share[0] for share in shares] == [0, 100, 200]
    assert sorted(mixed) == ns(rows) != mixed


def test_a_split_whose_parts_begin_alike_is_streamed_as_it_was_written(tmp_path):
    def generate(files):
        count = 0
        for file in files:
            for _ in range(4):
                yield count, {"n": count, "file": str(file)}
                count += 1

    builder = made_by(generate, {"files": [0, 1, 2]})(cache_dir=str(tmp_path))
    built, streamed = built_and_streamed(builder)
    assert streamed == built
    assert ns(streamed) == list(range(12))

    rows = builder.as_streaming_dataset("train")
    for at in range(13):
        walk = iter(rows)
        for _ in range(at):
            next(walk)
        again = made_by(generate, {"files": [0, 1, 2]})(cache_dir=str(tmp_path)).as_streaming_dataset("train")
        again._signature = rows._signed()  # the classes of a test have no identity that lasts
        again.load_state_dict(walk.state_dict())
        assert ns(again) == list(range(at, 12))


@pytest.mark.parametrize("share", [False, True])
def test_a_split_whose_parts_fail_by_themselves_is_streamed_in_one_piece(tmp_path, caplog, share):
    def generate(files):
        names, numbers = files
        for name in names["names"]:
            yield name, {"n": numbers["numbers"][name]}

    files = [{"names": ["a", "b"]}, {"numbers": {"a": 1, "b": 2}}]
    rows = made_by(generate, {"files": files, "more": [1, 2]})(cache_dir=str(tmp_path)).as_streaming_dataset("train")
    if rows.num_shards == 1:
        rows = made_by(generate, {"files": files})(cache_dir=str(tmp_path)).as_streaming_dataset("train")
    found = [ns(rows.shard(2, index)) for index in range(2)] if share else [ns(rows)]

    assert sorted(itertools.chain.from_iterable(found)) == [1, 2]
    assert "streamed in one piece: a part fails on its own" in caplog.text


def test_a_part_that_fails_at_its_first_row_fails_the_stream(tmp_path):
    def generate(files):
        for file in files:
            if file == 2:
                raise OSError("broken")
            for row in range(3):
                yield f"{file}-{row}", {"n": file * 10 + row}

    rows, found = iter(made_by(generate, {"files": [0, 1, 2, 3]})(cache_dir=str(tmp_path)).as_streaming_dataset("train")), []
    with pytest.raises(DatasetGenerationError, match=r"part 3 of 4.*broken"):
        found.extend(row["n"] for row in rows)
    assert found == [0, 1, 2, 10, 11, 12]


def test_what_can_be_read_once_is_made_again_for_each_iteration(tmp_path):
    def generate(lines):
        for line in lines:
            yield line, {"n": line}

    builder = made_by(generate, lambda self: {"lines": iter(range(5))})(cache_dir=str(tmp_path))
    rows = builder.as_streaming_dataset("train")
    assert ns(rows) == ns(rows) == [0, 1, 2, 3, 4]
    walk = iter(rows)
    next(walk), next(walk)
    rows.load_state_dict(walk.state_dict())
    assert ns(rows) == [2, 3, 4]


def test_a_stream_can_be_sent(tmp_path):
    rows = Rows(cache_dir=str(tmp_path)).as_streaming_dataset("train")

    assert ns(pickle.loads(pickle.dumps(rows))) == ns(rows)


def test_a_stream_that_is_left_closes_what_the_author_opened(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{number}\n" for number in range(10_000)))
    opened = []

    def generate():
        with path.open() as handle:
            opened.append(handle)
            for line in handle:
                yield line, {"n": int(line)}

    rows = iter(made_by(generate)(cache_dir=str(tmp_path)).as_streaming_dataset("train"))
    next(rows)
    del rows
    gc.collect()
    assert opened[0].closed


# -- tables ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("features", [None, Features({"n": Value("int16"), "s": Value("string")})])
def test_tables_are_streamed_as_they_are_built(tmp_path, features):
    def generate(parts):
        for part in parts:
            yield (part, 0), pa.table({"n": range(part * 10, part * 10 + 5), "s": ["x"] * 5})
            yield (part, 1), pa.table({"n": range(part * 10 + 5, part * 10 + 7), "s": ["y"] * 2})

    builder = made_by(generate, {"parts": [0, 1]}, features, ArrowBasedBuilder)(cache_dir=str(tmp_path))
    built, streamed = built_and_streamed(builder)
    assert streamed == built

    rows = builder.as_streaming_dataset("train")
    for at in range(15):
        walk = iter(rows)
        for _ in range(at):
            next(walk)
        rows.load_state_dict(walk.state_dict())
        assert list(rows) == built[at:]
    assert list(builder.as_streaming_dataset("train[3:9]")) == built[3:9]


def test_a_table_that_does_not_fit_is_told(tmp_path):
    def generate():
        yield 0, pa.table({"n": ["x"]})

    builder = made_by(generate, None, Features({"n": Value("int16")}), ArrowBasedBuilder)(cache_dir=str(tmp_path))
    with pytest.raises(DatasetGenerationCastError) as caught:
        list(builder.as_streaming_dataset("train"))
    assert (caught.value.row, caught.value.split, caught.value.column) == (0, "train", "n")


# -- loading -----------------------------------------------------------------------------------------------------------


def test_a_format_is_streamed_from_local_files_and_from_stores(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n2,y\n")
    (tmp_path / "b.csv").write_text("a,b\n3,z\n")
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]

    rows = load_dataset("csv", data_files=files, split="train", streaming=True, cache_dir=str(tmp_path / "cache"))
    assert list(rows) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, {"a": 3, "b": "z"}]
    fsspec.filesystem("memory").pipe("/live/a.csv", b"a\n1\n")
    rows = load_dataset(
        "csv", data_files="memory://live/a.csv", split="train", streaming=True, cache_dir=str(tmp_path / "cache")
    )
    assert list(rows) == [{"a": 1}]
    assert os.listdir(tmp_path / "cache") == ["row_indexes"]


def test_a_format_whose_types_change_on_the_way_is_told(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    (tmp_path / "b.csv").write_text("a\nx\n")
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]

    rows = load_dataset("csv", data_files=files, split="train", streaming=True, cache_dir=str(tmp_path / "cache"))
    with pytest.raises(DatasetGenerationError, match=r"different types before and after row.* Pass features="):
        list(rows)


def test_what_stands_prepared_is_streamed_without_its_code(tmp_path):
    from datasets_core.building.prepared import builder_from_directory

    builder = Rows(cache_dir=str(tmp_path))
    builder.download_and_prepare(str(tmp_path / "built"))
    stands = builder_from_directory(str(tmp_path / "built"))

    assert ns(stands.as_streaming_dataset("test")) == [900, 901, 902]
    assert list(stands.as_streaming_dataset()) == ["train", "test"]


def test_files_to_be_fetched_by_hand_are_asked_for(tmp_path):
    builder = made_by(lambda: iter(()), manual_download_instructions="Fetch it.")(cache_dir=str(tmp_path))

    with pytest.raises(ManualDownloadError, match="Fetch it"):
        builder.as_streaming_dataset("train")


def test_code_that_hangs_is_stopped(tmp_path, stopped_in):
    def generate():
        yield 0, {"n": 0}
        while True:
            pass

    def load(seconds):
        rows = iter(made_by(generate)(cache_dir=str(tmp_path)).as_streaming_dataset("train", timeout=seconds))
        assert next(rows) == {"n": 0}
        next(rows)

    error, _ = stopped_in(load, "at row 1")
    assert (error.split, error.row) == ("train", 1)


def test_the_script_of_a_folder_streams_by_load_dataset(tmp_path, caplog):
    caplog.set_level(logging.WARNING)
    script = tmp_path / "reviews" / "reviews.py"
    script.parent.mkdir()
    (script.parent / "a.txt").write_text("one\ntwo\n")
    script.write_text(
        "import datasets\n"
        "class Reviews(datasets.GeneratorBasedBuilder):\n"
        "    def _info(self):\n"
        "        return datasets.DatasetInfo(features=datasets.Features({'text': datasets.Value('string')}))\n"
        "    def _split_generators(self, dl_manager):\n"
        "        self.streamed = dl_manager.is_streaming\n"
        "        return [datasets.SplitGenerator('train', {'path': dl_manager.download('a.txt')})]\n"
        "    def _generate_examples(self, path):\n"
        "        with open(path) as handle:\n"
        "            for key, line in enumerate(handle):\n"
        "                yield key, {'text': f'{line.strip()} {self.streamed}'}\n"
    )

    rows = load_dataset(str(script), split="train", streaming=True, cache_dir=str(tmp_path / "cache"))
    assert list(rows) == [{"text": "one True"}, {"text": "two True"}]
    assert next(iter(pickle.loads(pickle.dumps(rows)).with_format("numpy")))["text"] == "one True"
    assert list(load_dataset(str(script), streaming=True, cache_dir=str(tmp_path / "cache"))) == ["train"]
    assert caplog.records == []


def test_a_split_of_many_files_is_divided_once(tmp_path, monkeypatch):
    paths = []
    for number in range(30):
        paths.append(tmp_path / f"{number:02d}.json")
        paths[-1].write_text('{"a": 1}\n')
    stream = load_dataset(
        "json", data_files=list(map(str, paths)), split="train", streaming=True, cache_dir=str(tmp_path / "c")
    )
    counted, divide = [], live.divide
    monkeypatch.setattr(live, "divide", lambda *args, **options: counted.append(1) or divide(*args, **options))
    assert len(list(stream.with_row_ids())) == 30
    assert len(counted) <= 2


# Scripts that open the text of a URL while they are streamed: the files are fetched first from there on, and it is
# said.

SCRIPT = """
import datasets, os, pathlib

class Texts(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name=name)
        for name in ("format", "percent", "text", "pathlib", "named", "late", "zip", "parts", "whole", "absent")
    ]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"t": datasets.Value("string")}))

    def _split_generators(self, dl):
        name = self.config.name
        path = dl.download_and_extract("URL/z.zip") if name in ("zip", "whole") else dl.download("URL/a.txt")
        if name == "named":
            open(f"{path}").close()
        if name == "parts":
            path = dl.download(["URL/a.txt", "URL/b.txt"])
        return [datasets.SplitGenerator("train", {"path": path})]

    def _generate_examples(self, path):
        name = self.config.name
        for place in path if name == "parts" else [path]:
            if name in ("late", "named"):
                lines = open(place)
            elif name == "whole":
                lines = [file + "\\n" for file in sorted(os.listdir(place))]
            elif name == "pathlib":
                lines = pathlib.Path(str(place)).open()
            elif name in ("zip", "absent"):
                lines = open(str(place) + "/d/a.txt")
            else:
                lines = open({"format": f"{place}", "percent": "%s" % place}.get(name, str(place)))
            for number, line in enumerate(lines):
                if name == "late" and number == 50:
                    open(f"{place}").close()
                yield f"{place}{number}", {"t": line.strip()}
"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        return None


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text("".join(f"{name}{number}\n" for number in range(99)))
    with zipfile.ZipFile(folder / "z.zip", "w") as archive:
        archive.writestr("d/a.txt", "one\ntwo\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        path = tmp_path_factory.mktemp("texts") / "texts.py"
        path.write_text(SCRIPT.replace("URL", f"http://127.0.0.1:{server.server_port}"))
        yield str(path)
        server.shutdown()


@pytest.fixture(params=[True, None], ids=["trusted", "confined"])
def load(request: pytest.FixtureRequest, script: str, tmp_path: Path) -> Iterator[Any]:
    options: dict[str, Any] = {"trust_remote_code": True} if request.param else {}
    with config.using(cache_dir=str(tmp_path)):
        yield lambda name, **more: load_dataset(script, name, split="train", **options, **more)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["format", "percent", "text", "pathlib", "named", "late", "zip", "parts"])
def test_a_text_of_a_path_is_opened_once_its_file_is_fetched(name: str, load: Any, caplog: pytest.LogCaptureFixture) -> None:
    lines = {"zip": ["one", "two"], "parts": [f"{part}{number}" for part in "ab" for number in range(99)]}
    told = lines.get(name, [f"a{number}" for number in range(99)])
    rows = load(name, streaming=True)
    with caplog.at_level(logging.WARNING):
        assert [row["t"] for row in rows] == told
        assert [row["t"] for row in rows] == told
    (record,) = (each for each in caplog.records if "converts the path of http://" in each.getMessage())
    assert "without streaming" in record.getMessage()
    with contextlib.closing(iter(rows)) as walk:
        next(walk)
        again = pickle.loads(pickle.dumps(rows))
        again.load_state_dict(walk.state_dict())
    assert [row["t"] for row in again] == told[1:]
    del rows, again, walk
    gc.collect()  # the script leaves files open; their warnings are ignored here and not in another test


def test_what_is_nowhere_fails_as_it_does_in_a_build(load: Any) -> None:
    with pytest.raises(DatasetGenerationError) as caught:
        list(load("absent", streaming=True))
    assert str(caught.value.file).endswith("texts.py")
    assert (caught.value.row, caught.value.split) == (0, "train")


def test_that_an_archive_is_fetched_whole_is_said_once(load: Any, caplog: pytest.LogCaptureFixture) -> None:
    rows = load("whole", streaming=True)
    with caplog.at_level(logging.WARNING):
        assert list(rows) == list(rows) == [{"t": "d"}]
    (message,) = (each.getMessage() for each in caplog.records if "z.zip is fetched whole (" in each.getMessage())
    assert "bytes) and extracted" in message
    assert "Load the dataset without streaming" in message


def test_only_failures_to_open_a_given_url_count() -> None:
    given = ["https://example.org/a", "https://example.org/a/z.zip"]
    opened = DatasetGenerationError("x failed: FileNotFoundError: [Errno 2] No such file or directory: 'https:/example.org/a'")
    assert unopened(opened, given) == "https://example.org/a"
    assert unopened(opened, []) is None
    assert unopened(DatasetGenerationError("x failed: ValueError: bad line in https://example.org/a"), given) is None
    beside = UrlNotFoundError("https://example.org/a/z.zip.tmp", "HTTP 404")
    assert unopened(beside, given) == given[1]
    assert unopened(UrlNotFoundError(given[1], "HTTP 404"), given[1:]) is None
    assert unopened(DeniedAccessError("connect to 'example.org', port 443"), given) is not None
    assert unopened(DeniedAccessError("read '/etc/passwd'"), given) is None
    assert unopened(ValueError(given[0]), given) is None


# Split expressions on streams of Parquet and Arrow files: the rows that a build gives, and no more read than these.

EXPRESSIONS = [
    "train",
    "train[3:8]",
    "train[:4]",
    "train[7:]",
    "train[-5:]",
    "train[:-5]",
    "train[-12:-2]",
    "train[10%:60%]",
    "train[:33%]",
    "train[-20%:]",
    "train(even3[1])",
    "train[2:20](even2[0])",
    "train[:5]+test[-3:]",
    "test+train",
    "all",
    "all[3:28]",
    "all[50%:]",
    "train[8:3]",
    "train[100:]",
]


@pytest.fixture(scope="module")
def data_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    lengths = {"train": [10, 1, 12], "test": [7]}
    found, row = {}, 0
    for split, counts in lengths.items():
        found[split] = []
        for number, count in enumerate(counts):
            table = pa.table({"a": list(range(row, row + count)), "b": [f"row {n}" for n in range(count)]})
            path = folder / f"{split}-{number}.parquet"
            pq.write_table(table, path, row_group_size=4)
            found[split].append(str(path))
            row += count
    return found


@pytest.fixture(scope="module")
def cache_dir(tmp_path_factory):
    return str(tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize("split", EXPRESSIONS)
def test_a_stream_has_the_rows_of_a_build(split, data_files, cache_dir):
    streamed = load_dataset("parquet", data_files=data_files, split=split, streaming=True)
    built = load_dataset("parquet", data_files=data_files, split=split, cache_dir=cache_dir)
    assert list(streamed) == list(built)


def test_shards_are_files(data_files):
    def rows(split):
        return [row["a"] for row in load_dataset("parquet", data_files=data_files, split=split, streaming=True)]

    assert (
        rows("train[:2shard]") == list(range(11))
        and rows("train[1shard]") == [10]
        and rows("train[-1shard:]") == list(range(11, 23))
    )


def test_unknown_splits_are_told_at_once(data_files):
    with pytest.raises(UnknownSplitError, match="nothing"):
        load_dataset("parquet", data_files=data_files, split="nothing[:3]", streaming=True)


def test_a_slice_takes_the_footers_before_it_and_one_row_group(tmp_path, range_server):
    for number in range(8):
        rows = range(number * 4000, number * 4000 + 4000)
        text = [f"{n:<100}" for n in rows]
        pq.write_table(
            pa.table({"a": list(rows), "b": text}),
            tmp_path / f"{number}.parquet",
            row_group_size=1000,
            use_dictionary=False,
            compression="none",
        )
    base = range_server.serve(tmp_path)
    urls = [f"{base}/{number}.parquet" for number in range(8)]
    group = (tmp_path / "0.parquet").stat().st_size // 4

    def rows(split="train", cut=lambda stream: stream):
        range_server.reset()
        return [row["a"] for row in cut(load_dataset("parquet", data_files=urls, split=split, streaming=True))]

    with using(cache_dir=str(tmp_path / "cache"), downloads_dir=str(tmp_path / "downloads")):
        stream = load_dataset("parquet", data_files=urls, split="train", streaming=True)
        assert range_server.requests == []
        assert [row["a"] for row in stream.take(5)] == list(range(5))
        assert len(range_server.requests) == 2 and range_server.num_bytes < 65536 + 1.1 * group
        assert rows("train[20000:20010]") == list(range(20000, 20010))
        assert len(range_server.requests) <= 10 and range_server.num_bytes < 8 * 65536 + 1.1 * group
        assert rows(cut=lambda stream: stream.skip(20000).take(10)) == list(range(20000, 20010))
        assert len(range_server.requests) == 1 and range_server.num_bytes < 1.1 * group  # the footers are known
        assert rows("train[62.5%:62.6%]") == list(range(20000, 20032))
        columns = sum(
            pq.read_metadata(tmp_path / f"{n}.parquet").row_group(g).column(0).total_compressed_size
            for n in range(8)
            for g in range(4)
        )
        assert rows(cut=lambda stream: stream.select_columns(["a"])) == list(range(32000))
        assert range_server.num_bytes <= 1.1 * columns + 2 * 65536


@pytest.mark.parametrize("group", [37, 1000])
@pytest.mark.parametrize("split", ["train", "train[100:140]", "train[:30]", "train[250:]", "train[900:]"])
def test_slices_number_the_rows_that_filters_keep(group: int, split: str, tmp_path: Path) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": range(400)}), path, row_group_size=group)
    wanted = [("id", ">=", 90)]
    rows = load_dataset("parquet", data_files=path, split=split, filters=wanted, streaming=True)
    built = load_dataset("parquet", data_files=path, split=split, filters=wanted, cache_dir=str(tmp_path / "cache"))
    assert [row["id"] for row in rows] == built["id"][:]


@pytest.mark.parametrize("split", ["train[50%:]", "train[-5:]", "train[:5]+train[7:9]", "train[:1shard]"])
def test_slices_that_count_filtered_rows_are_told(split: str, tmp_path: Path) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": range(400)}), path)
    with pytest.raises(ConfigurationError, match="filters="):
        load_dataset("parquet", data_files=path, split=split, filters=[("id", ">", 5)], streaming=True)
