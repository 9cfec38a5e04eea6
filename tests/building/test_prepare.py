"""What stands already: taken as it is, checked again, or built again; and once, by whoever comes first."""

import hashlib
import logging
import os
import threading
from pathlib import Path

import pytest

from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.errors import (
    DatasetDiskError,
    DatasetGenerationError,
    DatasetNotFoundError,
    DuplicateKeysError,
    NonMatchingSplitsSizesError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.store.manifest import MANIFEST_NAME


class Numbers(GeneratorBasedBuilder):
    """Four parts of 50 rows, and a small test split."""

    def _info(self):
        return DatasetInfo(features=Features({"number": Value("int32"), "text": Value("string")}))

    def _split_generators(self, dl_manager):
        return [SplitGenerator("train", {"parts": [0, 1, 2, 3]}), SplitGenerator("test", {"parts": [9]})]

    def _generate_examples(self, parts):
        for part in parts:
            for row in range(50):
                yield f"{part}-{row}", {"number": part * 100 + row, "text": f"row {row}"}


def shards_of(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(folder).glob("*.arrow"))}


def built(builder_class, cache, **options):
    builder = builder_class(cache_dir=str(cache))
    builder.download_and_prepare(**options)
    return builder


def rows_of(builder, split="train"):
    return builder.as_dataset(split).to_list()


class Untouchable(Numbers):
    """As `Numbers`, but it must not be built."""

    def _split_generators(self, dl_manager):
        raise AssertionError("it was built again")


def test_a_finished_dataset_is_taken_as_it_is(tmp_path):
    Numbers(cache_dir=str(tmp_path), dataset_name="numbers", hash="h").download_and_prepare()
    builder = Untouchable(cache_dir=str(tmp_path), dataset_name="numbers", hash="h")

    builder.download_and_prepare()

    assert builder.info.splits["train"].num_examples == 200
    assert len(Untouchable(cache_dir=str(tmp_path), dataset_name="numbers", hash="h").as_dataset("train+test")) == 250


def test_a_read_only_cache_is_read_without_a_lock(tmp_path, monkeypatch):
    builder = built(Numbers, tmp_path)
    before = sorted(path.name for path in Path(builder.cache_dir).parent.iterdir())
    os.unlink(f"{builder.cache_dir}.lock")

    def refuse(path, **_):
        raise DatasetDiskError(path, "Read-only file system")

    monkeypatch.setattr("datasets_core.building.prepare.locked", refuse)
    again = built(Numbers, tmp_path, verification_mode="all_checks")

    assert len(rows_of(again)) == 200
    assert sorted(path.name for path in Path(builder.cache_dir).parent.iterdir()) == before[:1]


def test_force_builds_again_and_leaves_readers_their_files(tmp_path):
    builder = built(Numbers, tmp_path)
    reader = builder.as_dataset("train")
    old = shards_of(builder.cache_dir)

    again = built(Numbers, tmp_path, download_mode="force_redownload")

    assert reader.to_list() == rows_of(again)
    assert old.items() <= shards_of(again.cache_dir).items()


@pytest.mark.parametrize("damage", ["cut", "gone", "overwritten", "manifest"])
def test_a_damaged_dataset_is_built_again(tmp_path, caplog, damage):
    builder = built(Numbers, tmp_path)
    expected = rows_of(builder)
    shard = min(Path(builder.cache_dir).glob("*train*.arrow"))
    content = shard.read_bytes()
    {
        "cut": lambda: shard.write_bytes(content[:-10]),
        "gone": shard.unlink,
        "overwritten": lambda: shard.write_bytes(bytes(len(content))),
        "manifest": lambda: Path(builder.cache_dir, MANIFEST_NAME).write_text('{"manifest": {'),
    }[damage]()

    with caplog.at_level(logging.WARNING):
        again = built(Numbers, tmp_path)

    assert rows_of(again) == expected
    assert "again" in caplog.text


def test_a_flipped_bit_is_found_by_all_checks(tmp_path, caplog):
    builder = built(Numbers, tmp_path)
    expected = rows_of(builder)
    shard = min(Path(builder.cache_dir).glob("*train*.arrow"))
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)

    assert rows_of(built(Numbers, tmp_path, verification_mode="all_checks")) == expected
    assert "sha256" in caplog.text


def test_what_is_not_built_is_not_read(tmp_path):
    with pytest.raises(DatasetNotFoundError, match="download_and_prepare"):
        Numbers(cache_dir=str(tmp_path)).as_dataset()


def test_several_threads_build_once(tmp_path):
    builds = []

    class Counted(Numbers):
        def _split_generators(self, dl_manager):
            builds.append(1)
            return super()._split_generators(dl_manager)

    threads = [threading.Thread(target=built, args=(Counted, tmp_path)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert builds == [1]


def test_a_failed_build_leaves_no_empty_folders(tmp_path):
    class Failing(Numbers):
        def _generate_examples(self, parts):
            raise RuntimeError("no rows")
            yield

    with pytest.raises(DatasetGenerationError):
        built(Failing, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    built(Numbers, tmp_path / "cache", output_dir=str(tmp_path / "out"))
    version = Path(Failing(cache_dir=str(tmp_path / "cache")).cache_dir).parent
    version.parent.mkdir(parents=True)
    with pytest.raises(DatasetGenerationError):
        built(Failing, tmp_path / "cache")
    assert version.parent.is_dir()
    assert not version.exists()


def test_a_folder_that_holds_another_dataset_is_built_anew(tmp_path, caplog):
    folder = tmp_path / "chosen"
    old = Numbers(cache_dir=str(tmp_path), dataset_name="numbers", hash="h")
    old.download_and_prepare(output_dir=folder)
    before = old.as_dataset("train")

    class Doubled(Numbers):
        def _generate_examples(self, parts):
            for key, row in super()._generate_examples(parts):
                yield key, {**row, "number": row["number"] * 2}

    with caplog.at_level(logging.WARNING, "datasets_core"):
        other = Doubled(cache_dir=str(tmp_path), dataset_name="numbers", hash="other")
        other.download_and_prepare(output_dir=folder)

    assert other.as_dataset("train")["number"][:3] == [0, 2, 4]
    assert before["number"][:3] == [0, 1, 2]
    assert [record.message for record in caplog.records if "held another dataset" in record.message] == [
        f"{folder} held another dataset, numbers/default/0.0.0/h. Building numbers there."
    ]


class Twice(Numbers):
    """All rows have one key."""

    def _generate_examples(self, parts):
        yield from ((1, row) for _, row in super()._generate_examples(parts))


@pytest.mark.parametrize("mode", ["basic_checks", "all_checks"])
def test_keys_that_nobody_looked_at_are_looked_at_by_a_checked_load(tmp_path, mode):
    built(Twice, tmp_path, verification_mode="no_checks")

    with pytest.raises(DuplicateKeysError, match="share the key 1"):
        built(Twice, tmp_path, verification_mode=mode)


def test_a_record_that_changed_is_compared_again(tmp_path, caplog):
    right = SplitDict({"train": SplitInfo("train", num_examples=200), "test": SplitInfo("test", num_examples=50)})
    wrong = SplitDict({"train": SplitInfo("train", num_examples=7), "test": SplitInfo("test", num_examples=50)})
    Numbers(cache_dir=str(tmp_path), info=DatasetInfo(splits=right)).download_and_prepare()

    with pytest.raises(NonMatchingSplitsSizesError, match="num_examples=7"):
        Numbers(cache_dir=str(tmp_path), info=DatasetInfo(splits=wrong)).download_and_prepare()

    assert "the record is another one now" in caplog.text
    assert len(rows_of(Numbers(cache_dir=str(tmp_path), info=DatasetInfo(splits=right)))) == 200


def test_a_source_altered_in_place_is_found_by_all_checks(tmp_path):
    source = tmp_path / "number.txt"

    class Reads(Numbers):
        def _split_generators(self, dl_manager):
            return [SplitGenerator("train", {"path": str(source)})]

        def _generate_examples(self, path):
            yield 0, {"number": int(source.read_text()), "text": ""}

    found = []
    for text, mode in (("1", "all_checks"), ("2", "basic_checks"), ("2", "all_checks")):
        source.write_text(text)
        os.utime(source, ns=(1, 1))
        found += rows_of(built(Reads, tmp_path / "cache", verification_mode=mode))

    assert [row["number"] for row in found] == [1, 1, 2]


def test_reuse_of_the_cache_reads_the_sources_again(tmp_path):
    builds = []

    class Counted(Numbers):
        def _split_generators(self, dl_manager):
            builds.append(dl_manager.download_config.force_download)
            return super()._split_generators(dl_manager)

    for mode in ("reuse_dataset_if_exists", "reuse_cache_if_exists", "force_redownload"):
        built(Counted, tmp_path, download_mode=mode)

    assert builds == [False, False, True]


def test_all_checks_hash_remote_shards_too(tmp_path, caplog):
    import fsspec

    def load():
        builder = Numbers(cache_dir=str(tmp_path))
        builder.download_and_prepare(output_dir="memory://checked/numbers", verification_mode="all_checks")
        return builder

    load()
    memory = fsspec.filesystem("memory")
    (shard,) = [path for path in memory.find("/checked/numbers") if "train" in path][:1]
    content = bytearray(memory.cat_file(shard))
    content[len(content) // 2] ^= 1
    memory.pipe_file(shard, bytes(content))

    load()

    assert "sha256" in caplog.text
