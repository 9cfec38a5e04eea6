"""Builds, from the plan to the commit: bytes, checks, messages, resume."""

import base64
import dataclasses
import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from datasets_core import config
from datasets_core.building.builder import ArrowBasedBuilder, GeneratorBasedBuilder
from datasets_core.building.hooks import Replay, SplitGenerator
from datasets_core.building.write.build import build_journal
from datasets_core.building.write.jobs import ShardResult
from datasets_core.building.write.row_keys import KeyRecord
from datasets_core.building.write.runs import Run
from datasets_core.cli.main import main
from datasets_core.engines.deadline import SerialEngine
from datasets_core.engines.pool import ThreadEngine
from datasets_core.engines.process import packed
from datasets_core.errors import (
    ConfigurationError,
    DatasetDiskError,
    DatasetGenerationCastError,
    DatasetGenerationError,
    DownloadError,
    DuplicateKeysError,
    ExpectedMoreSplitsError,
    FileFormatError,
    ManualDownloadError,
    NonMatchingSplitsSizesError,
    UnexpectedSplitsError,
    WorkerDiedError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.features.unordered import Facts
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.store.manifest import JOURNAL_NAME, ShardRecord, read_manifest

ROOT = Path(__file__).parents[3]


class Numbers(GeneratorBasedBuilder):
    """Four parts of 50 rows, and a small test split."""

    features = Features({"number": Value("int32"), "text": Value("string")})

    def _info(self):
        return DatasetInfo(features=self.features)

    def _split_generators(self, dl_manager):
        return [SplitGenerator("train", {"parts": [0, 1, 2, 3]}), SplitGenerator("test", {"parts": [9]})]

    def _generate_examples(self, parts):
        for part in parts:
            for row in range(50):
                yield f"{part}-{row}", {"number": part * 100 + row, "text": f"row {row}"}


class Inferred(Numbers):
    """The same without features: types widen from part to part."""

    features = None

    def _generate_examples(self, parts):
        for part in parts:
            for row in range(50):
                number = None if part == 0 else row if part == 1 else row / 2
                yield (part, row), {"number": number} if part < 3 else {"number": number, "more": "x"}


class Tables(ArrowBasedBuilder):
    """Two files of numbers."""

    def _info(self):
        return DatasetInfo()

    def _split_generators(self, dl_manager):
        return [SplitGenerator("train", {"shards": [0, 1]})]

    def _generate_tables(self, shards):
        for shard in shards:
            yield (shard, 0), pa.table({"a": pa.array([shard, None]), "b": pa.array(["x", "y"])})


def shards_of(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(folder).glob("*.arrow"))}


def litter_of(cache):
    return [
        str(path)
        for path in Path(cache).rglob("*")
        if ".incomplete-" in path.name or ".tmp-" in path.name or path.suffix == ".keys"
    ]


def built(builder_class, cache, **options):
    builder = builder_class(cache_dir=str(cache))
    builder.download_and_prepare(**options)
    return builder


def rows_of(builder, split="train"):
    return builder.as_dataset(split).to_list()


# -- bytes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("builder_class", [Numbers, Inferred, Tables])
@pytest.mark.parametrize("options", [{"num_proc": 2}, {"num_proc": 3}, {"engine": ThreadEngine(3)}, {"engine": "serial"}])
def test_bytes_do_not_depend_on_workers_or_engine(tmp_path, builder_class, options):
    alone = built(builder_class, tmp_path / "one")
    several = built(builder_class, tmp_path / "several", **options)

    assert shards_of(several.cache_dir) == shards_of(alone.cache_dir)
    assert rows_of(several) == rows_of(alone)


def test_a_local_class_travels_to_workers(tmp_path):
    class Local(Numbers):
        def _generate_examples(self, parts):
            yield from ((f"{part} {os.getpid() == self.parent}", {"number": part, "text": "x"}) for part in parts)

    builder = Local(cache_dir=str(tmp_path))
    builder.parent = os.getpid()
    builder.download_and_prepare(num_proc=2)

    assert [row["number"] for row in rows_of(builder)] == [0, 1, 2, 3]


def test_types_widen_over_all_jobs(tmp_path):
    builder = built(Inferred, tmp_path)

    assert builder.info.features == Features({"number": Value("float64"), "more": Value("string")})
    assert [row for row in rows_of(builder) if row["number"] == 1.0] == [
        {"number": 1.0, "more": None}, {"number": 1.0, "more": None}, {"number": 1.0, "more": "x"},
    ]  # fmt: skip
    assert rows_of(builder, "test[:1]") == [{"number": 0.0, "more": "x"}]


def test_shards_roll_by_size(tmp_path):
    builder = built(Numbers, tmp_path, max_shard_size=200)

    assert len(builder.info.splits["train"].shard_lengths) > 4
    assert len(rows_of(builder)) == 200


def test_parquet_holds_the_same_rows(tmp_path):
    parquet = built(Numbers, tmp_path / "parquet", file_format="parquet")

    assert rows_of(parquet) == rows_of(built(Numbers, tmp_path / "arrow"))
    assert {path.suffix for path in Path(parquet.cache_dir).iterdir()} == {".parquet", ".json"}


def test_a_build_into_memory_is_read_back():
    builder = Numbers(cache_dir="unused-cache")
    builder.download_and_prepare(output_dir="memory://building/numbers")

    assert len(builder.as_dataset("train")) == 200
    assert read_manifest("memory://building/numbers").split_lengths() == {"train": [50, 50, 50, 50], "test": [50]}


# -- splits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [[], ["all"], ["train", "train"], ["a/b"], ["train[:5]"], [""]])
def test_splits_without_a_meaning_are_refused(tmp_path, names):
    class Named(Numbers):
        def _split_generators(self, dl_manager):
            return [SplitGenerator(name, {"parts": [0]}) for name in names]

    with pytest.raises(ConfigurationError):
        built(Named, tmp_path)

    assert litter_of(tmp_path) == []


@pytest.mark.parametrize(("features", "columns"), [(Numbers.features, ["number", "text"]), (None, [])])
def test_a_split_without_rows_has_the_schema(tmp_path, features, columns):
    class Empty(Numbers):
        def _info(self):
            return DatasetInfo(features=features)

        def _generate_examples(self, parts):
            return iter(())

    dataset = built(Empty, tmp_path).as_dataset()

    assert {name: (len(split), split.column_names) for name, split in dataset.items()} == {
        "train": (0, columns),
        "test": (0, columns),
    }


def test_split_generators_know_their_split_afterwards(tmp_path):
    class Remembers(Numbers):
        def _split_generators(self, dl_manager):
            self.splits = super()._split_generators(dl_manager)
            return self.splits

    builder = built(Remembers, tmp_path)

    assert [(split.split_info.name, split.split_info.num_examples) for split in builder.splits] == [
        ("train", 200),
        ("test", 50),
    ]


# -- rows and keys -----------------------------------------------------------------------------------------------------


def script(tmp_path, body, *, gen_kwargs="{}", features="None", name="reviews"):
    """A builder class from a file, as an author writes it."""
    path = tmp_path / f"{name}.py"
    path.write_text(
        textwrap.dedent(f"""
        from datasets_core.building.builder import GeneratorBasedBuilder
        from datasets_core.building.hooks import SplitGenerator
        from datasets_core.features.base import Value
        from datasets_core.features.schema import Features
        from datasets_core.meta.info import DatasetInfo

        class Reviews(GeneratorBasedBuilder):
            def _info(self):
                return DatasetInfo(features={features})

            def _split_generators(self, dl_manager):
                return [SplitGenerator("train", {gen_kwargs})]

            def _generate_examples(self, **arguments):
        """)
        + textwrap.indent(textwrap.dedent(body), "        ")
    )
    namespace = {"__name__": name}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    return namespace["Reviews"], path


def line_of(path, text):
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def test_a_failure_names_dataset_split_row_key_line_and_cause(tmp_path):
    cls, path = script(
        tmp_path,
        """
        for row in range(300):
            yield row, {"a": row}
        raise RuntimeError("the well is dry")
        """,
    )

    with pytest.raises(DatasetGenerationError) as caught:
        built(cls, tmp_path / "cache")

    line = line_of(path, "raise RuntimeError")
    words = str(caught.value)
    for part in ("reviews", "split 'train'", "row 300", "key 299", f"{path}, line {line}", "RuntimeError: the well is dry"):
        assert part in words
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert litter_of(tmp_path / "cache") == []


def test_a_failure_before_the_splits_names_the_line(tmp_path):
    cls, path = script(tmp_path, "yield 1, {}", gen_kwargs="{'x': 1 / 0}")

    with pytest.raises(DatasetGenerationError, match=f"{path}, line {line_of(path, '1 / 0')}: ZeroDivisionError"):
        built(cls, tmp_path / "cache")


def test_errors_of_the_library_pass_as_they_are(tmp_path):
    class Fails(Numbers):
        def _generate_examples(self, parts):
            yield 1, {"number": 1, "text": "a"}
            raise FileFormatError("a.csv", "is broken", line=3)

    with pytest.raises(FileFormatError) as caught:
        built(Fails, tmp_path)
    assert str(caught.value.file).endswith("a.csv")
    assert caught.value.line == 3


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("yield 1", "yields a int as row 0"),
        ("yield 1, 2", "yields a key and a int as row 0"),
        ("yield 1, {}, 3", "yields a tuple of 3 as row 0"),
        ("return None", "returned None"),
        ("yield None, {'a': 1}", "key of row 0 of split 'train' is None"),
        ("yield [1], {'a': 1}", r"key of row 0 of split 'train' is \[1\]"),
    ],
)
def test_what_is_no_pair_of_key_and_row_is_refused(tmp_path, body, words):
    cls, _ = script(tmp_path, body)

    with pytest.raises((DatasetGenerationError, ConfigurationError), match=words):
        built(cls, tmp_path / "cache")


def test_a_value_that_does_not_fit_is_named_with_row_key_and_column(tmp_path):
    class Wrong(Numbers):
        def _generate_examples(self, parts):
            for row in range(500):
                yield f"k{row}", {"number": row if row != 321 else "many", "text": "a"}

    with pytest.raises(DatasetGenerationCastError, match=r"Row 321 \(key 'k321'\) of split 'train'.*'number'.*many"):
        built(Wrong, tmp_path)


@pytest.mark.parametrize("keys", [["a", "b", "a"], [0, 1, 1], [(1, "x"), (2, "x"), (1, "x")], [b"a", b"b", b"a"]])
def test_a_key_used_twice_is_named_with_both_rows(tmp_path, keys):
    class Twice(Numbers):
        def _split_generators(self, dl_manager):
            return [SplitGenerator("train", {})]

        def _generate_examples(self):
            return ((key, {"number": row, "text": ""}) for row, key in enumerate(keys))

    with pytest.raises(DuplicateKeysError) as caught:
        built(Twice, tmp_path)

    first = keys.index(keys[2])
    assert (caught.value.key, caught.value.places) == (keys[2], (f"row {first}", "row 2"))
    assert len(rows_of(built(Twice, tmp_path, verification_mode="no_checks"))) == 3


def test_a_key_of_two_parts_is_found(tmp_path):
    class Twice(Numbers):
        def _generate_examples(self, parts):
            for part in parts:
                yield f"same {part % 3}", {"number": part, "text": ""}

    with pytest.raises(DuplicateKeysError, match=r"'same 0': row 0 and row 3"):
        built(Twice, tmp_path, num_proc=2)


@pytest.mark.parametrize("num_proc", [None, 2])
def test_keys_that_count_through_all_parts_are_built_in_one_piece(tmp_path, caplog, num_proc):
    class Counts(Numbers):
        def _generate_examples(self, parts):
            key = 0
            for part in parts:
                for row in range(50):
                    yield key, {"number": part * 100 + row, "text": ""}
                    key += 1

    builder = built(Counts, tmp_path, num_proc=num_proc)

    assert [row["number"] for row in rows_of(builder)] == [part * 100 + row for part in range(4) for row in range(50)]
    assert "in one piece" in caplog.text
    assert litter_of(tmp_path) == []


def test_lists_that_belong_together_are_built_in_one_piece(tmp_path):
    class Pair(Numbers):
        def _split_generators(self, dl_manager):
            return [SplitGenerator("train", {"pair": ["en", "fr"]})]

        def _generate_examples(self, pair):
            source, target = pair
            yield "only", {"number": 1, "text": f"{source}-{target}"}

    assert rows_of(built(Pair, tmp_path)) == [{"number": 1, "text": "en-fr"}]


def test_a_row_changed_after_it_was_yielded_is_kept_as_it_was(tmp_path):
    class Reuses(Numbers):
        def _generate_examples(self, parts):
            row = {}
            for number in range(300):
                row["number"], row["text"] = number, str(number)
                yield (parts[0], number), row

    class ReusesInside(Inferred):
        def _generate_examples(self, parts):
            tokens = []
            for number in range(300):
                tokens.append(number)
                yield (parts[0], number), {"deep": {"tokens": tokens}}
                if number % 3 == 2:
                    tokens.clear()

    assert [row["number"] for row in rows_of(built(Reuses, tmp_path))][:300] == list(range(300))
    assert rows_of(built(ReusesInside, tmp_path))[4] == {"deep": {"tokens": [3, 4]}}


def test_an_iterator_among_the_arguments_is_read_once(tmp_path):
    class Once(Numbers):
        def _split_generators(self, dl_manager):
            return [SplitGenerator("train", {"numbers": iter(range(300))})]

        def _generate_examples(self, numbers):
            row = {"text": ""}
            for row["number"] in numbers:
                yield row["number"], row

    assert [row["number"] for row in rows_of(built(Once, tmp_path))] == list(range(300))


def test_chunks_are_bounded_by_bytes(tmp_path):
    class Wide(Numbers):
        features = Features({"data": Value("binary")})

        def _generate_examples(self, parts):
            for row in range(40):
                yield (parts[0], row), {"data": bytes(100_000)}

    with config.using(batch_bytes=1_000_000):
        builder = built(Wide, tmp_path)
    manifest = read_manifest(builder.cache_dir)

    assert max(rows for shard in manifest.shards for rows, _ in shard.batches) <= 20


def test_class_labels_are_stored_by_number(tmp_path):
    class Labelled(Numbers):
        features = Features({"label": ClassLabel(names=["neg", "pos"])})

        def _generate_examples(self, parts):
            yield from (((parts[0], name), {"label": name}) for name in ("pos", "neg"))

    assert rows_of(built(Labelled, tmp_path), "test") == [{"label": 1}, {"label": 0}]


# -- tables ------------------------------------------------------------------------------------------------------------


def test_files_of_other_columns_are_refused_with_their_names(tmp_path):
    class Mixed(Tables):
        def _split_generators(self, dl_manager):
            return [SplitGenerator("train", {"files": ["a.x", "b.x"], "names": ["a.x", "b.x"]})]

        def _generate_tables(self, files, names):
            for number, name in enumerate(names):
                yield (number, 0), pa.table({"id": [1], name[0]: [2]})

    with pytest.raises(DatasetGenerationCastError) as caught:
        built(Mixed, tmp_path)

    for part in ("b.x", "a.x", "new columns ['b']", "missing columns ['a']"):
        assert part in str(caught.value)


def test_merged_columns_are_the_union(tmp_path):
    class Merged(Tables):
        merge_columns = True

        def _generate_tables(self, shards):
            for shard in shards:
                yield (shard, 0), pa.table({"id": [shard], f"c{shard}": [shard / 2]})

    assert rows_of(built(Merged, tmp_path)) == [{"id": 0, "c0": 0.0, "c1": None}, {"id": 1, "c0": None, "c1": 0.5}]


def test_columns_in_another_order_fit(tmp_path):
    class Turned(Tables):
        def _generate_tables(self, shards):
            for shard in shards:
                yield shard, pa.table({"a": [1], "b": [2]} if shard else {"b": [3], "a": [4]})

    assert rows_of(built(Turned, tmp_path)) == [{"b": 3, "a": 4}, {"b": 2, "a": 1}]


class Text(Tables):
    """Reads `1`, `2` as integers, and again as text where another part holds letters."""

    rereads = True

    def _split_generators(self, dl_manager):
        return [SplitGenerator("train", {"shards": [["01", "2"], ["3", "x"], ["4"]]})]

    def _generate_tables(self, shards):
        for shard in shards:
            for value in shard:
                as_text = self.read_schema is not None and self.read_schema.field("a").type == pa.string()
                if not as_text and not value.isdecimal():
                    raise Replay(pa.schema({"a": pa.string()}))
                yield value, pa.table({"a": [value if as_text else int(value)]})


@pytest.mark.parametrize("num_proc", [None, 2])
def test_text_is_read_again_where_types_do_not_widen(tmp_path, num_proc):
    assert [row["a"] for row in rows_of(built(Text, tmp_path, num_proc=num_proc))] == ["01", "2", "3", "x", "4"]


def test_a_builder_that_asks_for_the_same_schema_again_is_stopped(tmp_path):
    class Endless(Text):
        def _generate_tables(self, shards):
            raise Replay(pa.schema({"a": pa.string()}))
            yield

    with pytest.raises(DatasetGenerationError, match="wider"):
        built(Endless, tmp_path)


# -- checks ------------------------------------------------------------------------------------------------------------


def recorded(**rows):
    return DatasetInfo(splits=SplitDict({name: SplitInfo(name, *numbers) for name, numbers in rows.items()}))


@pytest.mark.parametrize(
    ("record", "error", "words"),
    [
        (recorded(train=(0, 200), test=(0, 50), more=(0, 1)), ExpectedMoreSplitsError, "more"),
        (recorded(train=(0, 200)), UnexpectedSplitsError, "test"),
        (recorded(train=(0, 201), test=(0, 50)), NonMatchingSplitsSizesError, "num_examples=201.*num_examples=200"),
    ],
)
def test_a_record_that_differs_stops_the_build_unless_unchecked(tmp_path, record, error, words):
    with pytest.raises(error, match=words):
        Numbers(cache_dir=str(tmp_path), info=record).download_and_prepare()
    assert not os.path.exists(Numbers(cache_dir=str(tmp_path)).cache_dir)

    builder = Numbers(cache_dir=str(tmp_path), info=record)
    builder.download_and_prepare(ignore_verifications=True)
    assert len(rows_of(builder)) == 200

    with pytest.raises(error, match=words):  # what was built unchecked is checked before it is used
        Numbers(cache_dir=str(tmp_path), info=record).download_and_prepare()


def test_bytes_are_compared_under_all_checks_only(tmp_path):
    record = recorded(train=(7, 200), test=(7, 50))
    Numbers(cache_dir=str(tmp_path), info=record).download_and_prepare()

    with pytest.raises(NonMatchingSplitsSizesError, match="num_bytes=7"):
        Numbers(cache_dir=str(tmp_path), info=record).download_and_prepare(verification_mode="all_checks")


def test_unknown_is_no_mismatch(tmp_path):
    record = recorded(train=(None, None), test=(0, 0))

    Numbers(cache_dir=str(tmp_path), info=record).download_and_prepare(verification_mode="all_checks")


def test_a_partial_load_compares_no_totals(tmp_path):
    data = tmp_path / "a.txt"
    data.write_text("a")
    builder = Numbers(cache_dir=str(tmp_path / "cache"), info=recorded(train=(0, 7)), data_files=str(data))

    builder.download_and_prepare()

    assert len(rows_of(builder)) == 200


def test_the_outcome_of_a_later_check_is_kept(tmp_path):
    folder = built(Numbers, tmp_path, verification_mode="no_checks").cache_dir
    assert read_manifest(folder).verification == "no_checks"

    built(Numbers, tmp_path)

    assert read_manifest(folder).verification == "basic_checks"


def test_manual_instructions_are_given_where_the_folder_is_missing(tmp_path):
    class Manual(Numbers):
        @property
        def manual_download_instructions(self):
            return "Fetch it from the shelf."

        def _split_generators(self, dl_manager):
            assert os.path.isdir(dl_manager.manual_dir)
            return super()._split_generators(dl_manager)

    with pytest.raises(ManualDownloadError, match="Fetch it from the shelf"):
        built(Manual, tmp_path)
    Manual(cache_dir=str(tmp_path), data_dir=str(tmp_path)).download_and_prepare()


def test_downloads_are_recorded(tmp_path):
    source = tmp_path / "numbers.txt"
    source.write_text("1\n2\n")

    class Reads(Numbers):
        def _split_generators(self, dl_manager):
            return [SplitGenerator("train", {"path": dl_manager.download("numbers.txt")})]

        def _generate_examples(self, path):
            with open(path) as lines:
                yield from ((line, {"number": int(line), "text": ""}) for line in lines)

    builder = Reads(cache_dir=str(tmp_path / "cache"), base_path=str(tmp_path))
    builder.download_and_prepare(verification_mode="all_checks")
    (found,) = [record for record in read_manifest(builder.cache_dir).sources if record.path == str(source)]
    source.write_text("1\n2\n3\n")
    again = Reads(cache_dir=str(tmp_path / "cache"), base_path=str(tmp_path))
    again.download_and_prepare()

    assert (found.size, found.sha256) == (4, hashlib.sha256(b"1\n2\n").hexdigest())
    assert len(rows_of(again)) == 3


def test_any_object_with_the_methods_is_a_download_manager(tmp_path):
    class Own:
        manual_dir = None

        def download(self, name):
            return f"own {name}"

    class Reads(Numbers):
        def _split_generators(self, dl_manager):
            return [SplitGenerator("train", {"text": dl_manager.download("x")})]

        def _generate_examples(self, text):
            yield 1, {"number": 1, "text": text}

    assert rows_of(built(Reads, tmp_path, dl_manager=Own())) == [{"number": 1, "text": "own x"}]


# -- kill and resume ---------------------------------------------------------------------------------------------------

KILLED = """
import os, signal, sys
sys.path.insert(0, {root!r})
sys.path.insert(0, {folder!r})
import numbers_script
real = os.{name}
calls = 0
def dying(*arguments, **options):
    global calls
    calls += 1
    if calls == {nth}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **options)
os.{name} = dying
numbers_script.Numbers(cache_dir={cache!r}, hash="h").download_and_prepare(num_proc={num_proc})
"""


SCRIPT = """
from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo

class Numbers(GeneratorBasedBuilder):
    def _info(self):
        return DatasetInfo(features=Features({"number": Value("int32")}))

    def _split_generators(self, dl_manager):
        return [SplitGenerator("train", {"parts": [0, 1, 2]})]

    def _generate_examples(self, parts):
        for part in parts:
            for row in range(50):
                yield f"{part}-{row}", {"number": part * 100 + row}
"""


@pytest.mark.parametrize(
    ("name", "nth", "num_proc"),
    [("fsync", nth, 1) for nth in (1, 4, 9, 12)]
    + [("fsync", nth, 2) for nth in (1, 3, 4, 5, 6)]
    + [("replace", 2, 1), ("replace", 4, 1), ("replace", 1, 2)]
    + [(name, nth, num_proc) for name, nth in (("rename", 1), ("link", 2)) for num_proc in (1, 2)],
)
def test_a_killed_build_leaves_nothing_that_loads_and_the_next_one_is_clean(tmp_path, name, nth, num_proc):
    path = tmp_path / "numbers_script.py"
    path.write_text(SCRIPT)
    cache = str(tmp_path / "cache")
    code = KILLED.format(root=str(ROOT), folder=str(tmp_path), name=name, nth=nth, cache=cache, num_proc=num_proc)
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    namespace = {"__name__": "numbers_script"}
    exec(compile(SCRIPT, str(path), "exec"), namespace)
    folder = namespace["Numbers"](cache_dir=cache, hash="h").cache_dir
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert read_manifest(folder) is None

    resumed = namespace["Numbers"](cache_dir=cache, hash="h")
    resumed.download_and_prepare()
    clean = namespace["Numbers"](cache_dir=str(tmp_path / "clean"), hash="h")
    clean.download_and_prepare()

    assert shards_of(resumed.cache_dir) == shards_of(clean.cache_dir)
    assert litter_of(cache) == []


class Interrupted(SerialEngine):
    """Stops the build, as Ctrl-C does, behind some job."""

    def __init__(self, behind):
        super().__init__()
        self.left = behind

    def run(self, function, jobs):
        for index, result in super().run(function, jobs):
            yield index, result
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt


class Counted(SerialEngine):
    """Knows which jobs it was given."""

    def __init__(self):
        super().__init__()
        self.names = []

    def run(self, function, jobs):
        self.names += [job.name for job in jobs]
        return super().run(function, jobs)


@pytest.mark.parametrize("kept", range(1, 6))
def test_the_next_build_takes_over_the_finished_jobs(tmp_path, kept):
    with pytest.raises(KeyboardInterrupt):
        built(Numbers, tmp_path / "cache", engine=Interrupted(kept))
    counted = Counted()

    builder = built(Numbers, tmp_path / "cache", engine=counted)

    every = [f"train-{part:05d}" for part in range(4)] + ["test-00000"]
    assert counted.names == every[kept:]
    assert shards_of(builder.cache_dir) == shards_of(built(Numbers, tmp_path / "clean").cache_dir)
    assert litter_of(tmp_path) == []


def test_finished_jobs_of_another_plan_do_not_count(tmp_path):
    staging = tmp_path / "numbers.incomplete-1-ab"
    staging.mkdir()
    with build_journal(str(staging), "one plan"):
        pass

    assert build_journal(str(staging), "one plan").entries == build_journal(str(staging), "another").entries == []
    assert json.loads((staging / JOURNAL_NAME).read_text()) == {"plan": "one plan"}


@pytest.mark.parametrize(
    ("splits", "words"),
    [
        ({"train": []}, "'train' .str.. Return a list of SplitGenerators"),
        ([None], "None"),
        (None, r"^_split_generators of .*returned None \(NoneType\)\. Return a list of SplitGenerators\.$"),
        (SplitGenerator("train"), r"returned SplitGenerator\(.*\(SplitGenerator\)\. Return a list"),
        ([SplitGenerator("train", ["a.txt"])], "Pass a dict"),
    ],
)
def test_what_is_no_list_of_splits_is_refused(tmp_path, splits, words):
    class Odd(Numbers):
        def _split_generators(self, dl_manager):
            return splits

    with pytest.raises(ConfigurationError, match=words):
        built(Odd, tmp_path)


class Archived(Numbers):
    """Rows from an archive beside the script, unpacked or not."""

    opened = "download_and_extract"

    def _split_generators(self, dl_manager):
        path = getattr(dl_manager, self.opened)("numbers.zip")
        return [SplitGenerator("train", {"members": path if self.opened == "iter_archive" else Path(path)})]

    def _generate_examples(self, members):
        for name, member in members if self.opened == "iter_archive" else ((p.name, p.open("rb")) for p in members.iterdir()):
            with member:
                yield name, {"number": int(member.read()), "text": name}


class Walked(Archived):
    """The same without unpacking it."""

    opened = "iter_archive"


@pytest.mark.parametrize("builder_class", [Archived, Walked])
def test_an_archive_that_changed_is_read_again(tmp_path, builder_class):
    found = []
    for number in (1, 2):
        with zipfile.ZipFile(tmp_path / "numbers.zip", "w") as archive:
            archive.writestr("a.txt", str(number))
        builder = builder_class(cache_dir=str(tmp_path / "cache"), base_path=str(tmp_path))
        builder.download_and_prepare()
        found.append(rows_of(builder))

    assert [row["number"] for rows in found for row in rows] == [1, 2]


def test_a_source_that_changes_while_it_is_read_is_refused_and_nothing_is_committed(tmp_path):
    source = tmp_path / "numbers.txt"
    source.write_text("1")

    class Reads(Numbers):
        def _split_generators(self, dl_manager):
            return [SplitGenerator("train", {"path": str(source)})]

        def _generate_examples(self, path):
            content = source.read_text()
            source.write_text("22")
            yield 0, {"number": int(content), "text": ""}

    with pytest.raises(FileFormatError) as caught:
        built(Reads, tmp_path / "cache")
    assert str(caught.value.file).endswith("numbers.txt")
    assert not list(tmp_path.rglob("*.arrow"))
    Reads._generate_examples = lambda self, path: [(0, {"number": int(source.read_text()), "text": ""})]

    assert [row["number"] for row in rows_of(built(Reads, tmp_path / "cache"))] == [22]


def test_a_download_that_fails_leaves_no_staging_folder(tmp_path):
    class Fetches(Numbers):
        def _split_generators(self, dl_manager):
            raise DownloadError("https://host/a", "the server answers 500")

    with pytest.raises(DownloadError):
        built(Fetches, tmp_path)

    assert litter_of(tmp_path) == []


def test_a_build_removes_what_dead_builds_of_other_datasets_left(tmp_path):
    left = tmp_path / "other" / "default" / "0.0.0" / f"key.incomplete-{2**22 + 1}-ab"
    left.mkdir(parents=True)
    os.utime(left, (1, 1))

    built(Numbers, tmp_path)

    assert litter_of(tmp_path) == []


def test_a_build_removes_unfinished_files_of_dead_processes_and_keeps_those_of_living_ones(tmp_path):
    dead, downloads = 2**22 + 1, tmp_path / "downloads"
    (tmp_path / "other" / "default" / "0.0.0" / "key").mkdir(parents=True)
    downloads.mkdir()
    mapped = tmp_path / "other" / "default" / "0.0.0" / "key" / "cache-1.arrow.tmp-"
    old = [f"{mapped}{dead}-ab", str(downloads / "0123.part")]
    living = f"{mapped}{os.getpid()}-ab"
    for path in (*old, living):
        with open(path, "w"):
            os.utime(path, (1, 1))

    built(Numbers, tmp_path)

    assert [path for path in (*old, living) if os.path.exists(path)] == [living]


# The jobs of a split on every engine: results, deadlines, and workers that die.


class Parts(GeneratorBasedBuilder):
    """One row for each part, and what else a part says."""

    parts = ("row", "row")

    def _info(self):
        return DatasetInfo(features=Features({"number": Value("int32")}))

    def _split_generators(self, dl_manager):
        return [SplitGenerator("train", {"parts": list(self.parts)})]

    def _generate_examples(self, parts):
        for part in parts:
            yield os.urandom(8), {"number": 1}
            if part == "hang":
                time.sleep(10**6)
            if part == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if part == "exit":
                os._exit(3)


class HangingPart(Parts):
    parts = ("row", "hang")


class KilledPart(Parts):
    parts = ("row", "kill")


class LeavingPart(Parts):
    parts = ("row", "exit")


@pytest.mark.parametrize("engine", ["serial", "threads", "processes"])
def test_all_engines_give_the_rows_of_all_parts(tmp_path, engine):
    builder = Parts(cache_dir=tmp_path)
    builder.download_and_prepare(engine=engine)

    assert builder.info.splits["train"].num_examples == 2


@pytest.mark.parametrize(("kind", "how"), [(KilledPart, "SIGKILL"), (LeavingPart, "exited with code")])
def test_a_worker_that_dies_names_the_part_and_the_dataset(tmp_path, kind, how):
    builder = kind(cache_dir=tmp_path)

    with pytest.raises(WorkerDiedError, match=r"split 'train' \(part 2 of 2\)") as caught:
        builder.download_and_prepare(num_proc=2)

    assert how in str(caught.value)
    assert builder.label in str(caught.value)
    assert caught.value.job == 1


class FailingPart(GeneratorBasedBuilder):
    def _info(self):
        return DatasetInfo(features=Features({"a": Value("int64")}))

    def _split_generators(self, dl_manager):
        return [
            SplitGenerator(name=name, gen_kwargs={"parts": parts}) for name, parts in (("train", [0, 1]), ("test", [2, 3, 4]))
        ]

    def _generate_examples(self, parts):
        for part in parts:
            yield part, {"a": part}
            if part == 3 and not self.is_mended:
                raise OSError(f"no part {part}")

    is_mended = False


def test_a_job_that_fails_names_its_arguments_and_is_run_alone(tmp_path, capsys):
    secrets = {"token": "hf_SECRET", "storage_options": {"key": "SECRET", "anon": False}}
    builder = FailingPart(cache_dir=tmp_path, **secrets)
    with pytest.raises(DatasetGenerationError, match="no part 3") as caught:
        builder.download_and_prepare(num_proc=2)
    (note,) = (note for note in caught.value.__notes__ if note.startswith("Job "))
    said, _, command = note.partition(" To run it alone: datasets-core run-job ")
    assert said == "Job 3 of 5 has the arguments parts=[3]."
    path, number = command.split()
    plan = json.loads(Path(path).read_bytes())
    assert plan["jobs"] == {"train": 2, "test": 3} and plan["failed"]["job"] == int(number) == 3
    assert "SECRET" not in Path(path).read_text() and b"SECRET" not in base64.b64decode(plan["code"])

    assert main(["run-job", path, "4"]) == 0
    assert "job 4: split 'test' (part 3 of 3) of test_build, parts=[4]\n1 row in 1 shard" in capsys.readouterr().out
    assert main(["run-job", path, "0", "--output-dir", str(tmp_path / "kept")]) == 0
    assert {file.suffix for file in (tmp_path / "kept").iterdir()} == {".arrow", ".keys"}
    assert main(["run-job", path, number]) == 1
    assert "no part 3" in capsys.readouterr().err
    for wrong, told in ((["5"], "There is no job 5. Give a number from 0 to 4."), (["-1"], "There is no job -1")):
        assert main(["run-job", path, "--", *wrong]) == 1
        assert told in capsys.readouterr().err
    (tmp_path / "other.json").write_text("{}")
    assert main(["run-job", str(tmp_path / "other.json"), "0"]) == 1
    Path(path).write_text(json.dumps({**plan, "versions": {**plan["versions"], "pyarrow": "1.0"}}))
    assert main(["run-job", path, "0"]) == 1
    said = capsys.readouterr().err
    assert "other.json is not the plan of a build" in said and "was written with Python" in said

    builder.is_mended = True
    builder.download_and_prepare(num_proc=2)
    assert not (tmp_path / "plans").exists()


def test_credentials_of_a_builder_do_not_travel(tmp_path):
    sent = []

    class Far(ThreadEngine):
        spans_machines = True

        def run(self, function, jobs, **options):
            sent.append(packed((function, list(jobs))))
            return super().run(function, jobs, **options)

    builder = FailingPart(cache_dir=tmp_path, token="hf_SECRET", storage_options={"key": "SECRET", "anon": False})
    builder.is_mended = True
    builder.download_and_prepare(engine=Far(2))
    assert sent and not [each for each in sent if b"SECRET" in each]
    assert builder.token == "hf_SECRET" and builder.storage_options["key"] == "SECRET"


@pytest.mark.parametrize("options", [{}, {"num_proc": 2}])
def test_a_part_that_hangs_is_stopped_and_nothing_stays(tmp_path, options, stopped_in):
    builder, part = HangingPart(cache_dir=tmp_path), "generating the rows of split 'train' (part 2 of 2)"
    error, seconds = stopped_in(lambda seconds: builder.download_and_prepare(timeout=seconds, **options), part)

    assert (error.path, error.split, error.seconds) == (__file__, "train", seconds)
    assert error.row == 1 or options  # a row that a worker had on its way is not known
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".lock"] == []


def test_enough_time_changes_nothing(tmp_path):
    builder = Parts(cache_dir=tmp_path)
    builder.download_and_prepare(timeout=600)

    assert builder.info.splits["train"].num_examples == 2


@pytest.mark.parametrize("options", [{}, {"engine": "threads"}])
def test_where_no_code_can_be_stopped_none_is_begun(tmp_path, options):
    raised = []

    def work():
        try:
            HangingPart(cache_dir=tmp_path).download_and_prepare(timeout=1, **options)
        except ConfigurationError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)

    assert "thread" in str(raised[0])


# The journal: what is on the disk counts, what is cut does not.

SCHEMA = pa.schema([pa.field("a", pa.int8())], metadata={"k": "v"})


def result(folder, name):
    content = name.encode() * 5
    (folder / f"{name}.arrow").write_bytes(content)
    shard = ShardRecord(f"{name}.arrow", "train", 3, len(content), 3, hashlib.sha256(content).hexdigest(), ((1, 3),))
    return ShardResult(name, (shard,), SCHEMA, KeyRecord(3, ((0, 3, 0),), (), ((1, 2, 3),)))


def finished(folder, plan):
    return {done.name: done for done in build_journal(folder, plan).entries}


@pytest.fixture
def written(tmp_path):
    results = [result(tmp_path, name) for name in ("one", "two", "three")]
    with build_journal(str(tmp_path), "plan") as journal:
        for done in results:
            journal.add(done)
    return {done.name: done for done in results}


def test_finished_jobs_are_read_back_whole(tmp_path, written):
    found = finished(str(tmp_path), "plan")

    assert found == written
    assert found["one"].schema.metadata == {b"k": b"v"}


def test_a_journal_cut_anywhere_gives_the_jobs_before_the_cut(tmp_path, written):
    path = tmp_path / JOURNAL_NAME
    content = path.read_bytes()

    for cut in range(len(content)):
        path.write_bytes(content[:cut])
        whole = max(content[:cut].count(b"\n") - 1, 0)
        assert list(finished(str(tmp_path), "plan")) == list(written)[:whole]


def test_a_job_whose_shard_is_cut_or_gone_is_not_finished(tmp_path, written):
    (tmp_path / "one.arrow").unlink()
    (tmp_path / "two.arrow").write_bytes(b"short")

    assert list(finished(str(tmp_path), "plan")) == ["three"]


@pytest.mark.parametrize("lost", ["b.order", "b.words"])
def test_runs_and_words_of_a_job_are_read_back_while_they_are_whole(tmp_path, lost):
    whole = result(tmp_path, "b")
    facts = Facts({("a",)}, {("b", None, "c")}, {(): {("a", "b")}, ("b", None): set()})
    done = ShardResult("b", whole.shards, SCHEMA, None, (Run("b.arrow", "b.order", 3, 40),), "b.words", facts)
    (tmp_path / "b.order").write_bytes(b"x" * 72)
    (tmp_path / "b.words").write_bytes(b"x" * 48)
    with build_journal(str(tmp_path), "plan") as journal:
        journal.add(done)

    assert finished(str(tmp_path), "plan") == {"b": done}
    (tmp_path / lost).write_bytes(b"x")
    assert finished(str(tmp_path), "plan") == {}


def test_another_plan_starts_anew(tmp_path, written):
    with build_journal(str(tmp_path), "another") as journal:
        assert journal.entries == []

    assert finished(str(tmp_path), "plan") == {}


def test_a_full_disk_is_one_disk_error(tmp_path):
    done = result(tmp_path, "one")
    with build_journal(str(tmp_path), "plan") as journal, open("/dev/full", "wb", buffering=0) as full:
        os.dup2(full.fileno(), journal._out.fileno())
        with pytest.raises(DatasetDiskError, match="No space left"):
            journal.add(done)
        assert journal.entries == []


def test_a_job_whose_shard_has_other_bytes_is_not_finished(tmp_path, written):
    (tmp_path / "two.arrow").write_bytes(b"tw0" * 5)

    assert list(finished(str(tmp_path), "plan")) == ["one", "three"]


def test_a_shard_outside_the_folder_is_not_taken_over(tmp_path, written):
    (tmp_path / "inside").mkdir()
    (tmp_path / JOURNAL_NAME).rename(tmp_path / "inside" / JOURNAL_NAME)
    journal = tmp_path / "inside" / JOURNAL_NAME
    journal.write_text(journal.read_text().replace('"one.arrow"', '"../one.arrow"'))

    assert finished(str(journal.parent), "plan") == {}


def test_how_rows_lie_in_their_files_is_read_back(tmp_path):
    blocks = RowBlocks.of([4, 2], [40, 20], [0, 2], is_indexed=False, file_count=4)
    with build_journal(str(tmp_path), "plan") as journal:
        journal.add(dataclasses.replace(result(tmp_path, "one"), blocks=blocks))

    found = finished(str(tmp_path), "plan")["one"].blocks

    assert found is not None
    assert found.to_json() == blocks.to_json()
