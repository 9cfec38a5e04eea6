"""The rows of a builder as they are made: the same as those of a build, in the same order."""

import gc
import itertools
import json
import logging
import os
import pickle

import fsspec
import pyarrow as pa
import pytest

from datasets_core.building import live
from datasets_core.building.builder import ArrowBasedBuilder, GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import (
    ConfigurationError,
    DatasetGenerationCastError,
    DatasetGenerationError,
    ManualDownloadError,
    ScriptTimeoutError,
    StreamStateError,
    UnknownSplitError,
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
    assert "failed at row 30, behind key 'k29' of split 'train'" in str(streamed.value)
    assert ns(builder.as_streaming_dataset("train").take(30)) == list(range(30))


def test_a_row_that_does_not_fit_is_told_as_in_a_build(tmp_path):
    def generate():
        yield 0, {"n": 1}
        yield 1, {"n": "x"}

    with pytest.raises(DatasetGenerationCastError, match=r"Row 1 \(key 1\) of split 'train'.*column 'n'"):
        list(made_by(generate, features=Features({"n": Value("int32")}))(cache_dir=str(tmp_path)).as_streaming_dataset("train"))


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

    with pytest.raises(StreamStateError, match="begins with 'train' of"):
        builder.as_streaming_dataset("test").load_state_dict(builder.as_streaming_dataset("train").state_dict())


# -- splits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", SLICES)
def test_rows_by_number_are_those_of_a_build(tmp_path, split):
    built, streamed = built_and_streamed(Rows(cache_dir=str(tmp_path)), split)

    assert streamed == built


@pytest.mark.parametrize("split", ["train[:50%]", "train[-5:]", "train[10%:20%]+test[-1:]", "all[:50%]"])
def test_what_counts_from_the_end_needs_a_record(tmp_path, split):
    with pytest.raises(ConfigurationError, match="how many rows 'train' has, and that is not on record"):
        Rows(cache_dir=str(tmp_path)).as_streaming_dataset(split)

    recorded = DatasetInfo(splits=SplitDict({"train": SplitInfo("train", 0, 120), "test": SplitInfo("test", 0, 3)}))
    built, streamed = built_and_streamed(Rows(cache_dir=str(tmp_path), info=recorded), split)
    assert streamed == built


def test_a_nest_of_splits_is_a_nest_of_streams(tmp_path):
    first, second = Rows(cache_dir=str(tmp_path)).as_streaming_dataset(["train[:2]", "test"])

    assert (ns(first), ns(second)) == ([0, 1], [900, 901, 902])
    with pytest.raises(UnknownSplitError, match="Unknown split 'tran'"):
        Rows(cache_dir=str(tmp_path)).as_streaming_dataset("tran")


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
    assert "streamed in one piece: a part fails by itself" in caplog.text


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
    with pytest.raises(DatasetGenerationCastError, match=r"does not fit split 'train' of .*column 'n'"):
        list(builder.as_streaming_dataset("train"))


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
    with pytest.raises(DatasetGenerationError, match=r"other types behind row .* Give features="):
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


def test_code_that_hangs_is_stopped(tmp_path):
    def generate():
        yield 0, {"n": 0}
        while True:
            pass

    rows = iter(made_by(generate)(cache_dir=str(tmp_path)).as_streaming_dataset("train", timeout=0.3))
    assert next(rows) == {"n": 0}
    with pytest.raises(ScriptTimeoutError):
        next(rows)


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
