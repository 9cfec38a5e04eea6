"""Rows into runs, and runs into shards: every row once, in order, in bounded pieces."""

import itertools
import json
import random
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.building.builder import ArrowBasedBuilder, GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.write import reorder, runs
from datasets_core.building.write.reorder import (
    ROW_BYTES,
    MergeJob,
    SortJob,
    cut_job,
    cut_jobs,
    merge_job,
    number_of_shards,
    shard_boundaries,
    sort_job,
)
from datasets_core.building.write.row_keys import key_hash, row_words
from datasets_core.building.write.runs import batches_of, merge_plan
from datasets_core.engines.deadline import SerialEngine
from datasets_core.engines.pool import ThreadEngine
from datasets_core.errors import DatasetGenerationCastError, DatasetGenerationError, DuplicateKeysError, InvalidKeyError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import shard_file_name
from datasets_core.store.manifest import read_manifest
from datasets_core.store.writer import ShardWriter

SCHEMA = pa.schema({"number": pa.int64()})


def shard_of(folder, numbers, stem):
    with ShardWriter(str(folder), stem, split="train", schema=SCHEMA) as writer:
        writer.write(pa.table({"number": numbers}, SCHEMA))
        (record,) = writer.close()
    return record


def numbers_of(folder, records):
    return [row for batch in batches_of(records, str(folder)) for row in batch["number"].to_pylist()]


def merged(folder, runs, ends, file_format="arrow"):
    plan = merge_plan(str(folder), "plan", runs, ends)
    starts = [0, *ends[:-1]]
    return [
        merge_job(
            MergeJob(
                str(folder),
                "train",
                f"final{index}",
                SCHEMA,
                file_format,
                tuple(runs),
                plan.name,
                start,
                stop,
                plan.starts[index],
            )
        )
        for index, (start, stop) in enumerate(zip(starts, ends, strict=True))
    ]


@pytest.mark.parametrize("limits", [{}, {"sort_bytes": 1}, {"sort_bytes": 400, "batch_bytes": 40}, {"batch_rows": 3}])
def test_shards_are_merged_in_the_order_of_the_words(tmp_path, limits):
    first, second = shard_of(tmp_path, range(40), "a"), shard_of(tmp_path, range(40, 70), "b")
    told = []

    with config.using(**limits):
        jobs = [SortJob(str(tmp_path), "train", SCHEMA, shard, start, "numbers") for shard, start in ((first, 0), (second, 40))]
        runs = [run for job in jobs for run in sort_job(job, told.append).runs]
        results = merged(tmp_path, runs, [30, 31, 70])

    words = row_words(0, 70, "train")
    expected = sorted(range(70), key=lambda row: (words[0, row], words[1, row]))
    assert sum(told) == 70
    assert [numbers_of(tmp_path, result.shards) for result in results] == [expected[:30], expected[30:31], expected[31:]]


def test_a_shard_in_order_is_not_written_again(tmp_path):
    shard = shard_of(tmp_path, range(5), "a")

    result = sort_job(SortJob(str(tmp_path), "train", SCHEMA, shard, 0, "place"))

    assert result.shards == ()
    assert [run.data for run in result.runs] == [shard.name]


def test_batches_end_where_bytes_are_reached_wherever_rows_came_from(tmp_path):
    def batches(cuts, folder):
        folder.mkdir()
        shards = [shard_of(folder, range(start, stop), f"s{start}") for start, stop in cuts]
        jobs = [
            SortJob(str(folder), "train", SCHEMA, shard, start, "numbers")
            for shard, (start, _) in zip(shards, cuts, strict=True)
        ]
        runs = [run for job in jobs for run in sort_job(job).runs]
        return [result.shards for result in merged(folder, runs, [60])]

    with config.using(batch_bytes=80):
        (one,), (other,) = batches([(0, 60)], tmp_path / "one"), batches([(0, 7), (7, 31), (31, 60)], tmp_path / "other")

    assert one == other
    assert one[0].batches == ((10, 6),)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.data())
def test_shards_are_cut_at_any_rows(tmp_path_factory, lengths, data):
    total = sum(lengths)
    folder = tmp_path_factory.mktemp("cut")
    edges = [sum(lengths[:index]) for index in range(len(lengths) + 1)]
    sources = [
        shard_of(folder, range(start, stop), f"s{index}") for index, (start, stop) in enumerate(itertools.pairwise(edges))
    ]
    ends = sorted(data.draw(st.sets(st.integers(1, total))) | {total})

    jobs = cut_jobs(str(folder), "train", sources, ends, schema=SCHEMA, file_format="arrow")
    found = [numbers_of(folder, cut_job(job).shards) for job in jobs]

    assert found == [list(range(start, stop)) for start, stop in itertools.pairwise([0, *ends])]


# Builds whose rows are sorted: the same bytes however they came, the recorded orders, keys that clash, and what is
# left.

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "tfds_generation.json").read_text())
NESTED = Features(
    {
        "key": Value("string"),
        "number": Value("int64"),
        "parts": List(Value("string")),
        "both": {"flag": Value("bool"), "bytes": Value("binary")},
    }
)


def row_of(key):
    """A row that follows from its key, with nulls at every depth."""
    chance = random.Random(repr(key))

    def maybe(value):
        return None if chance.random() < 0.3 else value

    return {
        "key": repr(key),
        "number": maybe(chance.randrange(9)),
        "parts": maybe([maybe("x" * chance.randrange(9)) for _ in range(chance.randrange(3))]),
        "both": maybe({"flag": maybe(True), "bytes": maybe(b"ab")}),
    }


class Keyed(GeneratorBasedBuilder):
    """Rows of the keys that it is given."""

    shuffle_on_write = True
    features = NESTED
    parts = ()
    disables = False

    def _info(self):
        return DatasetInfo(features=self.features, disable_shuffling=self.disables)

    def _split_generators(self, dl_manager):
        return [SplitGenerator("train", {"parts": list(map(list, self.parts))})]

    def _generate_examples(self, parts):
        for part in parts:
            for key in part:
                yield key, row_of(key)


class Inferred(Keyed):
    """The same without features."""

    features = None


def untidy_row_of(key):
    """A row that follows from its key, whose columns, fields and types are not those of other rows."""
    chance = random.Random(repr(key))

    def some(sure, **values):
        names = [*sure, *chance.sample(sorted(values), chance.randrange(len(values) + 1))]
        return {name: (sure | values)[name] for name in chance.sample(names, len(names))}

    number = chance.randrange(9)
    inner = some({"x": number}, y=[some({"p": 1}, q=number / 2)], z=chance.choice(["x", b"x", None]))
    numbers = {"n": chance.choice([number, number + 0.5]), "u": chance.choice([number, 2**63 + number])}
    return some({"key": repr(key)}, s=inner, **numbers)


class Untidy(Keyed):
    """Rows without features, whose columns and types differ."""

    features = None

    def _generate_examples(self, parts):
        for part in parts:
            for key in part:
                yield key, untidy_row_of(key)


class Kept(Keyed):
    """The same by key."""

    disables = True


class Numbers(ArrowBasedBuilder):
    """Tables of numbers."""

    shuffle_on_write = True
    parts = ()

    def _info(self):
        return DatasetInfo()

    def _split_generators(self, dl_manager):
        return [SplitGenerator("train", {"parts": list(map(list, self.parts))})]

    def _generate_tables(self, parts):
        yield from ((nth, pa.table({"number": part})) for nth, part in enumerate(parts) if part)


class Plain(Keyed):
    """The same as they come."""

    shuffle_on_write = False


def built(builder_class, cache, parts, **options):
    builder = builder_class(cache_dir=str(cache), dataset_name="keyed", hash="h")
    builder.parts = parts
    builder.download_and_prepare(**options)
    return builder


def shards_of(builder):
    return {path.name: path.read_bytes() for path in sorted(Path(builder.cache_dir).iterdir()) if path.suffix != ".json"}


def keys_of(builder, split="train"):
    return builder.as_dataset(split)["key"][:]


def by_hash(keys, split="train"):
    return [repr(key) for key in sorted(keys, key=lambda key: key_hash(key, split))]


def litter_of(cache):
    return [path.name for path in Path(cache).rglob("*") if ".incomplete-" in path.name or ".tmp-" in path.name]


# -- the recorded orders -----------------------------------------------------------------------------------------------


def files_of(builder):
    lengths = builder.info.splits["train"].shard_lengths
    keys = iter(keys_of(builder))
    return {"shard_lengths": lengths, "files": [[next(keys) for _ in range(length)] for length in lengths]}


@pytest.mark.parametrize("engine", [SerialEngine(), ThreadEngine(3)])
@pytest.mark.parametrize("case", [case for case in GOLDEN["generated_order"] if "value" in case["expected"]], ids=str)
def test_orders_are_those_on_record(tmp_path, case, engine):
    keys = [eval(key) for key in case["keys"]]

    builder = built(
        Keyed,
        tmp_path,
        [keys],
        engine=engine,
        num_shards=case["num_shards"],
        disable_shuffling=case["disable_shuffling"],
        max_examples_per_split=case.get("max_examples_per_split"),
    )

    assert files_of(builder) == case["expected"]["value"]["train"]


@pytest.mark.parametrize("case", [case for case in GOLDEN["generated_order"] if "error" in case["expected"]], ids=str)
def test_what_is_refused_on_record_is_refused(tmp_path, case):
    with pytest.raises(ValueError, match="have the same key 1: row 0 and row 2"):
        built(Keyed, tmp_path, [[eval(key) for key in case["keys"]]], disable_shuffling=case["disable_shuffling"])


# -- the same bytes ----------------------------------------------------------------------------------------------------

keys = st.lists(st.integers(-9, 99) | st.text("abcé/", max_size=3), min_size=3, max_size=40, unique_by=str)


@settings(max_examples=12, deadline=None)
@given(
    keys, st.sampled_from(["arrow", "parquet"]), st.sampled_from([{}, {"num_shards": 3}, {"max_shard_size": 150}]), st.data()
)
@pytest.mark.parametrize("builder_class", [Keyed, Inferred, Untidy])
def test_bytes_follow_from_the_rows_alone(tmp_path_factory, builder_class, listed, file_format, wish, data):
    """Neither the order of the source, nor its parts, nor memory, nor the engine changes a byte."""
    limits = data.draw(st.sampled_from([{}, {"batch_bytes": 100}, {"batch_rows": 3}]))
    options = {"file_format": file_format, **wish}
    with config.using(**limits):
        first = built(builder_class, tmp_path_factory.mktemp("one"), [listed], **options)
    shuffled = data.draw(st.permutations(listed))
    cut = data.draw(st.integers(0, len(listed)))
    engine = data.draw(st.sampled_from(["serial", "threads"]))
    with config.using(**limits, sort_bytes=data.draw(st.sampled_from([1, 3000]))):
        other = built(
            builder_class, tmp_path_factory.mktemp("other"), [shuffled[:cut], [], shuffled[cut:]], engine=engine, **options
        )

    assert shards_of(other) == shards_of(first)
    assert other.info.splits == first.info.splits
    assert list(other.info.features.items()) == list(first.info.features.items())
    assert keys_of(first) == by_hash(listed)


@pytest.mark.parametrize("builder_class", [Keyed, Inferred, Untidy, Kept])
def test_bytes_do_not_depend_on_worker_processes(tmp_path, builder_class):
    alone = built(builder_class, tmp_path / "one", [range(20), range(20, 50)], num_shards=4)
    several = built(builder_class, tmp_path / "two", [range(20, 50), range(20)], num_shards=4, num_proc=2)

    assert shards_of(several) == shards_of(alone)
    assert litter_of(tmp_path) == []


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([{"b": 1, "a": 2}, {"b": 1, "a": 3}], ["b", "a", "z"]),
        ([{"b": 1, "a": 2}, {"a": 3, "b": 1}], ["a", "b", "z"]),
        ([{"b": 1}, {"a": 3}], ["a", "b", "z"]),
        ([{"c": 1, "a": 2}, {"b": 1, "a": 3}], ["b", "c", "a", "z"]),
    ],
)
@pytest.mark.parametrize("disables", [False, True])
def test_columns_have_the_order_of_all_rows_or_that_of_their_names(tmp_path, rows, names, disables):
    class Given(Keyed):
        features = None

        def _generate_examples(self, parts):
            for number in parts[0]:
                yield number, {**rows[number], "z": rows[number]}

    for name, order in (("one", [0, 1]), ("two", [1, 0])):
        with config.using(batch_rows=1):
            dataset = built(Given, tmp_path / name, [order], disable_shuffling=disables).as_dataset("train")
        assert dataset.column_names == names
        assert [*dataset.features["z"], "z"] == names


def test_whether_values_share_a_type_does_not_depend_on_their_order(tmp_path):
    class Given(Keyed):
        features = None
        values = ()

        def _generate_examples(self, parts):
            for number in parts[0]:
                yield number, {"a": self.values[number]}

    for case, (values, dtype) in enumerate([([1, 2**63], "uint64"), ([1, -1, 2**63], None), ([1, 2**53 + 1, 0.5], None)]):
        Given.values = values
        for place, order in enumerate(itertools.permutations(range(len(values)))):
            for batch_rows in (1, 9):
                folder = tmp_path / f"{case}-{place}-{batch_rows}"
                with config.using(batch_rows=batch_rows):
                    if dtype:
                        assert built(Given, folder, [order]).info.features["a"].dtype == dtype
                    else:
                        with pytest.raises(DatasetGenerationCastError):
                            built(Given, folder, [order])


def test_splits_have_orders_of_their_own(tmp_path):
    class Two(Keyed):
        def _split_generators(self, dl_manager):
            return [SplitGenerator(name, {"parts": [list(range(9))]}) for name in ("train", "test")]

    builder = built(Two, tmp_path, [])

    assert keys_of(builder) == by_hash(range(9))
    assert keys_of(builder, "test") == by_hash(range(9), "test") != by_hash(range(9))


@pytest.mark.parametrize("cuts", [[range(30)], [range(7), range(7, 8), range(8, 30)]])
def test_rows_of_tables_are_ordered_by_their_numbers(tmp_path, cuts):
    with config.using(sort_bytes=100):
        builder = built(Numbers, tmp_path, cuts, num_shards=2)

    assert list(map(str, builder.as_dataset("train")["number"][:])) == by_hash(range(30))
    assert read_manifest(builder.cache_dir).write_order == "hash"


class Wide(Keyed):
    """Rows of one text, of as many letters as the key says."""

    features = Features({"text": Value("string")})

    def _generate_examples(self, parts):
        for part in parts:
            for key in part:
                yield key, {"text": "x" * key}


@pytest.mark.parametrize("wish", [{}, {"num_shards": 3}, {"file_format": "parquet"}])
@pytest.mark.parametrize("least", [1, 5000])
@pytest.mark.parametrize("piece", [1, 1 << 20])
def test_rows_that_fit_in_memory_make_the_shards_that_sorted_runs_make(tmp_path, monkeypatch, wish, least, piece):
    keys = [range(least, least + 60)]
    with config.using(batch_bytes=20 * (least + 70), batch_rows=40):
        with config.using(sort_bytes=least * 100):
            merged_shards = shards_of(built(Wide, tmp_path / "merged", keys, **wish))
        monkeypatch.setattr(runs, "_PIECE_BYTES", piece)
        monkeypatch.setattr(reorder, "merge_plan", None)  # not called
        shards = shards_of(built(Wide, tmp_path / "direct", keys, **wish))

    assert shards == merged_shards


# -- by key, and as they come ------------------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(), min_size=2, max_size=30, unique=True), st.data())
def test_without_shuffling_integers_decide_whatever_order_they_come_in(tmp_path_factory, listed, data):
    listed = [key % (1 << 63) for key in listed]
    listed = list(dict.fromkeys(listed))
    builder = built(Kept, tmp_path_factory.mktemp("one"), [sorted(listed)])
    shuffled = data.draw(st.permutations(listed))
    with config.using(sort_bytes=data.draw(st.sampled_from([1, 1 << 29]))):
        other = built(Kept, tmp_path_factory.mktemp("other"), [shuffled[:1], shuffled[1:]])

    assert keys_of(builder) == list(map(repr, sorted(listed)))
    assert shards_of(other) == shards_of(builder)
    assert read_manifest(builder.cache_dir).write_order == "key"


def test_without_shuffling_other_keys_stay_as_they_come(tmp_path):
    builder = built(Kept, tmp_path, [["z", 4], ["a", 1]], num_shards=3)

    assert keys_of(builder) == ["'z'", "4", "'a'", "1"]
    assert builder.info.splits["train"].shard_lengths == [1, 2, 1]
    manifest = read_manifest(builder.cache_dir)
    assert (manifest.write_order, manifest.disable_shuffling) == ("source", True)


def test_tables_without_shuffling_stay_as_they_come(tmp_path):
    builder = built(Numbers, tmp_path, [[5, 3], [4]], disable_shuffling=True)

    assert builder.as_dataset("train")["number"][:] == [5, 3, 4]


def test_another_order_is_another_dataset(tmp_path):
    shuffled = built(Keyed, tmp_path, [range(9)])
    kept = built(Keyed, tmp_path, [range(9)], disable_shuffling=True)
    again = built(Keyed, tmp_path, [range(9)])

    assert keys_of(kept) == [repr(key) for key in range(9)]
    assert keys_of(shuffled) == keys_of(again) == by_hash(range(9))
    assert again.cache_dir == shuffled.cache_dir != kept.cache_dir


@pytest.mark.parametrize("first", [False, True])
def test_a_folder_of_the_user_is_built_again_in_another_order(tmp_path, first):
    built(Keyed, tmp_path, [range(9)], output_dir=tmp_path / "out", disable_shuffling=first)

    builder = built(Keyed, tmp_path, [range(9)], output_dir=tmp_path / "out", disable_shuffling=not first)

    assert (keys_of(builder) == by_hash(range(9))) is first


# -- which rows, and how many shards -----------------------------------------------------------------------------------


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
@pytest.mark.parametrize("count", [1, 2, 4, 10])
def test_rows_as_they_come_are_cut_into_as_many_shards_as_are_wanted(tmp_path, count, file_format):
    builder = built(Plain, tmp_path, [range(3), range(3, 10)], num_shards=count, file_format=file_format)

    assert keys_of(builder) == [repr(key) for key in range(10)]
    assert len(builder.info.splits["train"].shard_lengths) == len(shards_of(builder)) == count


def test_what_stands_with_other_shards_is_built_again(tmp_path):
    built(Keyed, tmp_path, [range(10)], num_shards=2)

    assert len(shards_of(built(Keyed, tmp_path, [range(10)]))) == 2
    assert built(Keyed, tmp_path, [range(10)], num_shards=5).info.splits["train"].num_shards == 5


@pytest.mark.parametrize("builder_class", [Plain, Keyed])
def test_more_shards_than_rows_are_refused_with_the_split(tmp_path, builder_class):
    with pytest.raises(ValueError, match="num_shards is 4, and split 'train' of keyed has 3 rows"):
        built(builder_class, tmp_path, [range(3)], num_shards=4)
    assert litter_of(tmp_path) == []


@pytest.mark.parametrize("builder_class", [Plain, Keyed, Kept])
@pytest.mark.parametrize("most", [0, 1, 4])
def test_the_first_rows_that_come_are_taken(tmp_path, builder_class, most):
    taken = built(builder_class, tmp_path, [[5, 3], [4, 8, 1]], max_examples_per_split=most)

    assert sorted(keys_of(taken)) == sorted(map(repr, [5, 3, 4, 8, 1][:most]))
    assert len(keys_of(built(builder_class, tmp_path, [[5, 3], [4, 8, 1]]))) == 5


def test_the_first_rows_of_tables_are_taken(tmp_path):
    builder = built(Numbers, tmp_path, [[5, 3], [4, 8, 1]], max_examples_per_split=3, disable_shuffling=True)

    assert builder.as_dataset("train")["number"][:] == [5, 3, 4]


@pytest.mark.parametrize("builder_class", [Keyed, Inferred, Kept])
def test_a_split_without_rows_is_read_as_an_empty_one(tmp_path, builder_class):
    builder = built(builder_class, tmp_path, [[]], num_shards=3)

    assert len(builder.as_dataset("train")) == 0
    train = builder.info.splits["train"]
    assert (train.num_examples, train.num_shards, train.file_instructions) == (0, 1, [])
    assert list(shards_of(builder)) == train.filenames  # its one file holds the schema


# -- keys that clash ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "places"),
    [
        ([[7, 1, 7]], ("row 0", "row 2")),
        ([[1, "x", "1"]], ("row 0", "row 2")),
        ([["a/b", "a\\b"]], ("row 0", "row 1")),
        ([[3, 4], [5, 3]], ("row 0", "row 3")),
        ([[3, 4], [5, 6, 5]], ("row 0 of part 2 of 2", "row 2 of part 2 of 2")),
    ],
)
@pytest.mark.parametrize("mode", ["basic_checks", "no_checks"])
@pytest.mark.parametrize("builder_class", [Keyed, Inferred, Kept])
def test_two_rows_of_one_key_are_refused_with_key_and_places(tmp_path, builder_class, mode, parts, places):
    with pytest.raises(DuplicateKeysError, match="an integer equals its text") as caught:
        built(builder_class, tmp_path, parts, verification_mode=mode)

    assert caught.value.places == places
    assert key_hash(caught.value.key, "train") in [key_hash(key, "train") for part in parts for key in part]
    assert litter_of(tmp_path) == []


class Watched(SerialEngine):
    """Knows how many jobs were done."""

    def __init__(self):
        super().__init__()
        self.done = 0

    def run(self, function, jobs):
        for found in super().run(function, jobs):
            self.done += 1
            yield found


@pytest.mark.parametrize("rows", [3, 300])
def test_keys_that_two_parts_share_are_found_when_the_second_is_done(tmp_path, rows):
    parts = [[f"{part}-{row}" for row in range(rows)] for part in range(6)]
    parts[1][-1] = parts[0][-1]
    watched = Watched()

    with pytest.raises(DuplicateKeysError):
        built(Keyed, tmp_path, parts, engine=watched)

    assert watched.done == 2


def test_keys_that_count_the_rows_of_a_part_are_built_in_one_piece(tmp_path, caplog):
    class Counting(Keyed):
        def _generate_examples(self, parts):
            yield from enumerate(row_of(key) for part in parts for key in part)

    builder = built(Counting, tmp_path, [["a", "b"], ["c"]])

    assert "built in one piece" in caplog.text
    assert keys_of(builder) == [repr("abc"[int(number)]) for number in by_hash(range(3))]


@pytest.mark.parametrize("key", [1.5, None, ("a", 1)])
def test_keys_without_a_hash_are_refused_with_row_and_split(tmp_path, key):
    with pytest.raises(InvalidKeyError, match=r"The key of row 2 of split 'train' is .*Yield an int, a str or bytes"):
        built(Keyed, tmp_path, [[1, 2, key]])


def test_true_and_one_have_one_place_among_integers(tmp_path):
    with pytest.raises(DatasetGenerationError, match="True is 1"):
        built(Kept, tmp_path, [[True, 1]])


# -- builds that are stopped -------------------------------------------------------------------------------------------


class Stopped(SerialEngine):
    """Stops the build, as Ctrl-C does, behind some job."""

    def __init__(self, behind):
        super().__init__()
        self.left = behind
        self.names = []

    def run(self, function, jobs):
        for index, result in super().run(function, jobs):
            self.names.append(jobs[index].name)
            yield index, result
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt


PARTS = [[f"{part}-{row}" for row in range(20)] for part in range(3)]


@pytest.mark.parametrize("builder_class", [Keyed, Inferred, Untidy, Kept])
@pytest.mark.parametrize("behind", range(1, 7))
def test_a_build_that_was_stopped_goes_on_behind_its_finished_jobs(tmp_path, builder_class, behind):
    clean, stopped, rest = Stopped(0), Stopped(behind), Stopped(0)
    expected = shards_of(built(builder_class, tmp_path / "clean", PARTS, num_shards=4, engine=clean))
    with pytest.raises(KeyboardInterrupt):
        built(builder_class, tmp_path / "cache", PARTS, num_shards=4, engine=stopped)

    with config.using(sort_bytes=1000):
        builder = built(builder_class, tmp_path / "cache", PARTS, num_shards=4, engine=rest)

    assert stopped.names == clean.names[:behind]
    assert [name for name in stopped.names + rest.names if "final" in name] == clean.names[-4:]
    assert set(rest.names).isdisjoint(stopped.names)
    assert shards_of(builder) == expected
    assert litter_of(tmp_path) == []


# How many shards, and where they end: the recorded tables, and the laws.


@pytest.mark.parametrize("case", GOLDEN["number_of_shards"], ids=str)
def test_numbers_of_shards_are_those_on_record(case):
    found = number_of_shards(case["total_size"], case["num_examples"], is_precise=case["precise"])

    assert found == case["expected"]


@pytest.mark.parametrize("case", [case for case in GOLDEN["number_of_shards_config"] if "tfds_quirk" not in case], ids=str)
def test_a_wish_for_shards_is_met_and_zero_is_none(case):
    assert number_of_shards(case["total_size"], case["num_examples"], **case["config"]) == case["expected"]


@pytest.mark.parametrize("case", [case for case in GOLDEN["shard_boundaries"] if "value" in case.get("expected", {})], ids=str)
def test_boundaries_are_those_on_record(case):
    assert shard_boundaries(case["num_examples"], case["num_shards"]) == case["expected"]["value"]


@pytest.mark.parametrize("case", [case for case in GOLDEN["shard_boundaries"] if "error" in case.get("expected", {})], ids=str)
def test_shards_without_rows_are_refused(case):
    with pytest.raises(ValueError, match="rows cannot fill"):
        shard_boundaries(case["num_examples"], case["num_shards"])


@pytest.mark.parametrize("case", [case for case in GOLDEN["shard_boundaries"] if "expected_starts" in case], ids=str)
def test_starts_of_a_large_split_are_those_on_record(case):
    starts = [0, *shard_boundaries(case["num_examples"], case["num_shards"])]

    assert {index: starts[int(index)] for index in case["expected_starts"]} == case["expected_starts"]


@pytest.mark.parametrize("wish", [-1, 11])
def test_wishes_that_cannot_be_met_are_refused(wish):
    with pytest.raises(ValueError, match=f"num_shards is {wish} for 10 rows"):
        number_of_shards(100, 10, num_shards=wish)


@given(st.integers(0, 1 << 50), st.integers(1, 10_000), st.integers(1, 1 << 40))
def test_shards_keep_to_their_largest_size_on_the_average_and_no_fewer_would(num_bytes, num_rows, most):
    count = number_of_shards(num_bytes, num_rows, max_shard_bytes=most)

    total = num_bytes + ROW_BYTES * num_rows
    assert 1 <= count <= num_rows
    assert total <= most * count or count == num_rows
    assert count == 1 or total > most * (count - 1)


@given(st.integers(1, 1 << 40).flatmap(lambda rows: st.tuples(st.just(rows), st.integers(1, min(rows, 2000)))))
def test_boundaries_cut_rows_into_shards_of_about_one_length(rows_and_shards):
    rows, shards = rows_and_shards

    ends = shard_boundaries(rows, shards)

    lengths = [stop - start for start, stop in itertools.pairwise([0, *ends])]
    assert len(lengths) == shards
    assert sum(lengths) == rows
    assert max(lengths) - min(lengths) <= 1
    assert min(lengths) >= 1


def test_boundaries_of_many_rows_are_exact():
    assert shard_boundaries(10**18 + 1, 2) == [5 * 10**17, 10**18 + 1]


@pytest.mark.parametrize(("total", "name"), [(2, "a-b-00001-of-00002.arrow"), (100_000, "a-b-000001-of-100000.arrow")])
def test_shards_are_named_with_five_digits_or_more(total, name):
    assert shard_file_name("a", "b", 1, total) == name
