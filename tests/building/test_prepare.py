"""What stands already: taken as it is, checked again, or built again; and once, by whoever comes first."""

import hashlib
import json
import logging
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.options import BuildOptions
from datasets_core.building.prepare import HubReference, is_known, recall, remember, repair
from datasets_core.cli.main import main
from datasets_core.errors import (
    DamagedShardError,
    DatasetDiskError,
    DatasetGenerationError,
    DatasetNotFoundError,
    DuplicateKeysError,
    NonMatchingSplitsSizesError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset
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
        raise AssertionError("the sandbox again")


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
    assert [record.message for record in caplog.records if "has another dataset" in record.message] == [
        f"{folder} has another dataset, numbers/default/0.0.0/h. Building numbers there."
    ]


class Twice(Numbers):
    """All rows have one key."""

    def _generate_examples(self, parts):
        yield from ((1, row) for _, row in super()._generate_examples(parts))


@pytest.mark.parametrize("mode", ["basic_checks", "all_checks"])
def test_keys_that_nobody_looked_at_are_looked_at_by_a_checked_load(tmp_path, mode):
    built(Twice, tmp_path, verification_mode="no_checks")

    with pytest.raises(DuplicateKeysError) as caught:
        built(Twice, tmp_path, verification_mode=mode)
    assert str(caught.value.file).endswith("test_prepare.py")
    assert (caught.value.split, caught.value.key, caught.value.value) == ("train", 1, 1)


def test_a_record_that_changed_is_compared_again(tmp_path, caplog):
    right = SplitDict({"train": SplitInfo("train", num_examples=200), "test": SplitInfo("test", num_examples=50)})
    wrong = SplitDict({"train": SplitInfo("train", num_examples=7), "test": SplitInfo("test", num_examples=50)})
    Numbers(cache_dir=str(tmp_path), info=DatasetInfo(splits=right)).download_and_prepare()

    with pytest.raises(NonMatchingSplitsSizesError, match="num_examples=7"):
        Numbers(cache_dir=str(tmp_path), info=DatasetInfo(splits=wrong)).download_and_prepare()

    assert "its record has changed" in caplog.text
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


# What was built of a repository, found again by commit and by what was asked for, and by nothing else.

A, B = "a" * 40, "b" * 40
ASKED = HubReference("org/name", None, A, None, "0")


def places(root: Path, reference: HubReference) -> list[str]:
    return [build.place for build in recall(str(root), reference)]


def test_a_build_is_found_by_the_revision_that_led_to_it(tmp_path: Path) -> None:
    assert not is_known(str(tmp_path), "org/name")
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "org___name" / "en" / "k"))
    assert is_known(str(tmp_path), "org/name")
    for same in (ASKED, ASKED._replace(revision="main"), ASKED._replace(revision=A), ASKED._replace(config="en")):
        assert places(tmp_path, same._replace(commit=None)) == ["org___name/en/k"], same
    for other in (
        ASKED._replace(revision="v2"),
        ASKED._replace(revision=B),
        ASKED._replace(config="de"),
        ASKED._replace(asked="1"),
        ASKED._replace(repo_id="org/other"),
        ASKED._replace(repo_id="name"),
    ):
        assert places(tmp_path, other) == [], other


def test_repositories_with_nearly_one_name_have_each_their_own(tmp_path: Path) -> None:
    ids = ["a_/b", "a/_b", "x___y", "x/y", "x_/_y", "x-y", "y"]
    for repo_id in ids:
        assert not is_known(str(tmp_path), repo_id)
        assert places(tmp_path, ASKED._replace(repo_id=repo_id)) == []
        remember(str(tmp_path), ASKED._replace(repo_id=repo_id), "en", str(tmp_path / "builds" / repo_id.replace("/", "+")))
    for repo_id in ids:
        assert places(tmp_path, ASKED._replace(repo_id=repo_id)) == [f"builds/{repo_id.replace('/', '+')}"]


def test_a_record_of_another_repository_is_none(tmp_path: Path) -> None:
    """As on a disk on which `A` is `a`."""
    remember(str(tmp_path), ASKED._replace(repo_id="Org/name"), "en", str(tmp_path / "x"))
    (path,) = (tmp_path / "hub_builds").glob("*.json")
    path.rename(path.with_name(path.name.lower()))
    assert places(tmp_path, ASKED) == []
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "y"))
    assert places(tmp_path, ASKED) == ["y"]


def test_a_branch_means_what_it_meant_last(tmp_path: Path) -> None:
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "x" / "1"))
    remember(str(tmp_path), ASKED._replace(revision="v1", commit=B), "en", str(tmp_path / "x" / "0"))
    assert places(tmp_path, ASKED) == ["x/1"]
    remember(str(tmp_path), ASKED._replace(commit=B), "en", str(tmp_path / "x" / "2"))
    assert places(tmp_path, ASKED) == ["x/2"]
    remember(str(tmp_path), ASKED._replace(revision=A), "en", str(tmp_path / "x" / "1"))  # by its hash: main stays
    assert places(tmp_path, ASKED) == ["x/2"]
    assert places(tmp_path, ASKED._replace(revision=A)) == ["x/1"]


def test_a_config_that_was_named_is_not_the_default(tmp_path: Path) -> None:
    remember(str(tmp_path), ASKED._replace(config="de"), "de", str(tmp_path / "x"))
    assert places(tmp_path, ASKED) == []
    assert places(tmp_path, ASKED._replace(config="de")) == ["x"]


def test_what_is_damaged_or_leads_elsewhere_is_nothing(tmp_path: Path) -> None:
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "x"))
    (path,) = (tmp_path / "hub_builds").glob("*.json")
    good = json.loads(path.read_text())
    for builds in ([[A, "en", True, "0", "../x"]], [[A, "en", True, "0", "/etc"]], [[A, "en"]], 5, None):
        path.write_text(json.dumps({**good, "builds": builds}))
        assert places(tmp_path, ASKED) == []
    for text in ("", "{", "[]", "null", json.dumps({**good, "form": 2}), json.dumps({**good, "revisions": []})):
        path.write_text(text)
        assert places(tmp_path, ASKED) == []
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "x"))
    assert places(tmp_path, ASKED) == ["x"]


def test_nothing_is_written_where_nothing_is_new_or_nothing_can_be(tmp_path: Path) -> None:
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "x"))
    (path,) = (tmp_path / "hub_builds").glob("*.json")
    before = os.stat(path).st_ino
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "x"))
    assert os.stat(path).st_ino == before
    remember("s3://bucket", ASKED, "en", "s3://bucket/x")
    remember(str(tmp_path), ASKED._replace(commit=None), "en", str(tmp_path / "y"))
    remember(str(tmp_path / "c"), ASKED, "en", str(tmp_path / "elsewhere"))
    assert not (tmp_path / "c").exists()
    assert recall("s3://bucket", ASKED) == []
    (tmp_path / "file").write_text("")
    remember(str(tmp_path / "file"), ASKED, "en", str(tmp_path / "file" / "x"))


def test_several_processes_lose_nothing(tmp_path: Path) -> None:
    def write(number: int) -> None:
        remember(str(tmp_path), ASKED._replace(asked=str(number)), "en", str(tmp_path / str(number)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(24)))
    assert [places(tmp_path, ASKED._replace(asked=str(number))) for number in range(24)] == [[str(n)] for n in range(24)]


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "main", "v1", A, B]),
            st.sampled_from([A, B]),
            st.sampled_from([None, "en", "de"]),
            st.sampled_from(["0", "1"]),
        ),
        max_size=12,
    ),
    st.sampled_from([None, "main", "v1", A, B]),
    st.sampled_from([None, "en", "de"]),
)
def test_what_is_found_was_built_of_the_commit_that_is_meant(tmp_path_factory, history, revision, config) -> None:  # type: ignore[no-untyped-def]
    root = tmp_path_factory.mktemp("cache")
    meant: dict[str, str] = {}
    built: dict[tuple[str, str, bool, str], str] = {}
    for number, (asked, commit, name, rest) in enumerate(history):
        commit = asked if asked in (A, B) else commit
        remember(str(root), HubReference("o/n", asked, commit, name, rest), name or "en", str(root / str(number)))
        if asked not in (A, B):
            meant[asked or "main"] = commit
        built[commit, name or "en", name is None, rest] = str(number)
    target = revision if revision in (A, B) else meant.get(revision or "main")
    found = recall(str(root), HubReference("o/n", revision, None, config, "0"))
    wanted = {
        place
        for (commit, name, is_default, rest), place in built.items()
        if commit == target and rest == "0" and (is_default if config is None else name == config)
    }
    assert {build.place for build in found} == wanted


# -- damaged shards ----------------------------------------------------------------------------------------------------


PARTS = """\
import pathlib
import datasets

class Parts(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"a": datasets.Value("int64")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"paths": dl_manager.download(%r)})]

    def _generate_examples(self, paths):
        for number, path in enumerate(paths):
            for row, line in enumerate(pathlib.Path(path).read_text().split()[1:]):
                yield f"{path} {row}", {"a": int(line)}
"""


@pytest.fixture
def one_file_a_job():
    """Small files are not built together, so that there are three shards."""
    with config.using(job_bytes=1):
        yield


def _three_files(folder: Path) -> list[Path]:
    folder.mkdir()
    for number in range(3):
        Path(folder, f"{number}.csv").write_text("a\n" + "".join(f"{number * 1000 + row}\n" for row in range(300)))
    return sorted(folder.glob("*.csv"))


def _loaded_as(kind: str, folder: Path) -> dict[str, Any]:
    """What is loaded from three files, one shard each."""
    files = list(map(str, _three_files(folder)))
    cache = str(folder.parent / "cache")
    if kind == "csv":
        return {"path": "csv", "data_files": files, "cache_dir": cache, "num_proc": 3}
    script = folder / "parts.py"
    script.write_text(PARTS % (files,))
    return {"path": str(script), "cache_dir": cache, "num_proc": 3, "trust_remote_code": True}


def _flipped(shard: Path) -> None:
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.unlink()
    shard.write_bytes(content)


def _repair(how: dict[str, Any]) -> int:
    files = [word for path in how.get("data_files", []) for word in ("--data-files", path)]
    trust = ["--trust-remote-code"] if "trust_remote_code" in how else []
    return main(["repair", how["path"], *files, "--cache-dir", how["cache_dir"], "--num-proc", "3", *trust])


EXPECTED = [number * 1000 + row for number in range(3) for row in range(300)]


@pytest.mark.usefixtures("one_file_a_job")
@pytest.mark.parametrize("kind", ["csv", "script"])
def test_one_damaged_shard_is_made_again_alone(tmp_path, capsys, kind):
    how = _loaded_as(kind, tmp_path / "data")
    shards = [Path(each["filename"]) for each in load_dataset(**how, split="train").cache_files]
    assert len(shards) == 3
    before = shards_of(shards[0].parent)
    _flipped(shards[1])
    others = [(shards[number].stat().st_ino, shards[number].stat().st_mtime_ns) for number in (0, 2)]
    with pytest.raises(DamagedShardError):
        load_dataset(**how, split="train")[:]
    assert main(["verify", str(shards[0].parent)]) == 1
    assert f"BAD  {shards[1]}" in capsys.readouterr().out

    assert _repair(how) == 0

    assert capsys.readouterr().out == f"repaired {shards[1]}\n"
    assert shards_of(shards[0].parent) == before
    assert [(shards[number].stat().st_ino, shards[number].stat().st_mtime_ns) for number in (0, 2)] == others
    assert load_dataset(**how, split="train")[:]["a"] == EXPECTED
    assert [path.name for path in shards[0].parent.parent.iterdir() if "incomplete" in path.name] == []
    assert _repair(how) == 0
    assert "nothing to repair" in capsys.readouterr().out


@pytest.mark.usefixtures("one_file_a_job")
@pytest.mark.parametrize("kind", ["csv", "script"])
@pytest.mark.parametrize("damage", ["gone", "flipped"])
def test_a_load_that_finds_a_damaged_shard_makes_it_again_alone(tmp_path, caplog, kind, damage):
    how = _loaded_as(kind, tmp_path / "data")
    shards = [Path(each["filename"]) for each in load_dataset(**how, split="train").cache_files]
    before, others = shards_of(shards[0].parent), [shards[number].stat().st_ino for number in (0, 2)]
    _flipped(shards[1]) if damage == "flipped" else shards[1].unlink()

    with caplog.at_level(logging.WARNING):
        again = load_dataset(**how, split="train", verification_mode="all_checks" if damage == "flipped" else None)

    assert again[:]["a"] == EXPECTED
    assert shards_of(shards[0].parent) == before
    assert [shards[number].stat().st_ino for number in (0, 2)] == others
    assert shards[1].name in caplog.text


class Shuffled(Numbers):
    shuffle_on_write = True


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (Numbers, {"max_shard_size": 500}),
        (Numbers, {"num_shards": 3}),
        (Numbers, {"file_format": "parquet"}),
        (Numbers, {"max_examples_per_split": 70}),
        (Shuffled, {}),
        (Shuffled, {"num_shards": 4}),
        (Shuffled, {"disable_shuffling": True}),
    ],
)
def test_a_shard_is_made_again_with_the_options_of_its_build(tmp_path, kind, options):
    with config.using(batch_rows=16, batch_bytes=1000):
        folder = Path(built(kind, tmp_path, **options).cache_dir)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    shards = sorted(path for path in folder.iterdir() if path.suffix in (".arrow", ".parquet"))
    inodes = [shard.stat().st_ino for shard in shards[1:]]
    _flipped(shards[0])

    assert repair(kind(cache_dir=str(tmp_path)), BuildOptions.of(output_dir=str(folder))) == [str(shards[0])]

    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [shard.stat().st_ino for shard in shards[1:]] == inodes


@pytest.mark.usefixtures("one_file_a_job")
def test_damage_that_a_reader_meets_is_made_good_by_the_next_load(tmp_path):
    how = _loaded_as("csv", tmp_path / "data")
    shards = [Path(each["filename"]) for each in load_dataset(**how, split="train").cache_files]
    before, others = shards_of(shards[0].parent), [shards[number].stat().st_ino for number in (0, 2)]
    _flipped(shards[1])
    with pytest.raises(DamagedShardError, match="datasets-core repair"):
        list(load_dataset(**how, split="train").iter(100))

    assert load_dataset(**how, split="train")[:]["a"] == EXPECTED

    assert shards_of(shards[0].parent) == before
    assert [shards[number].stat().st_ino for number in (0, 2)] == others
    assert not [path.name for path in shards[0].parent.iterdir() if "damaged" in path.name]


@pytest.mark.parametrize("change", ["same", "other"])
def test_a_shard_from_a_url_is_made_again_from_what_is_there_now(tmp_path, range_server, change, capsys):
    url = range_server.put("a.csv", b"a\n" + b"1\n" * 500)
    how = {"path": "csv", "data_files": [url], "cache_dir": str(tmp_path / "cache")}
    (shard,) = (Path(each["filename"]) for each in load_dataset(**how, split="train").cache_files)
    before = shards_of(shard.parent)
    _flipped(shard)
    shutil.rmtree(tmp_path / "cache" / "downloads", ignore_errors=True)
    if change == "other":
        range_server.put("a.csv", b"a\n" + b"2\n" * 500)
    done = _repair(how)
    assert (done, shards_of(shard.parent) == before) == ((0, True) if change == "same" else (1, False))
    assert ("repaired" in (said := capsys.readouterr()).out) is (change == "same")
    assert change == "same" or "a source has changed since" in said.err


@pytest.mark.parametrize("change", ["changed", "gone"])
def test_a_shard_whose_source_is_lost_stays_and_is_named(tmp_path, capsys, change):
    how = _loaded_as("script", tmp_path / "data")
    shards = [Path(each["filename"]) for each in load_dataset(**how, split="train").cache_files]
    _flipped(shards[1])
    before = shards_of(shards[0].parent)
    source = tmp_path / "data/1.csv"
    source.write_text("a\n7\n") if change == "changed" else source.unlink()

    assert _repair(how) == 1

    said = capsys.readouterr().err
    assert all(words in said for words in (str(shards[1]), "300 rows of split 'train'", str(source)))
    assert shards_of(shards[0].parent) == before


@pytest.mark.usefixtures("one_file_a_job")
def test_files_that_changed_since_the_build_repair_nothing(tmp_path, capsys):
    how = _loaded_as("csv", tmp_path / "data")
    shards = [Path(each["filename"]) for each in load_dataset(**how, split="train").cache_files]
    _flipped(shards[1])
    before = shards_of(shards[0].parent)
    (tmp_path / "data/1.csv").write_text("a\n7\n")

    assert _repair(how) == 1

    assert "a source has changed since" in capsys.readouterr().err
    assert shards_of(shards[0].parent) == before


def test_a_builder_that_makes_other_rows_each_time_is_built_again_as_a_whole(tmp_path):
    class Random(Numbers):
        def _generate_examples(self, parts):
            for part in parts:
                yield part, {"number": int.from_bytes(os.urandom(3), "big"), "text": ""}

    shard = min(Path(built(Random, tmp_path).cache_dir).glob("*train*.arrow"))
    shard.unlink()

    again = built(Random, tmp_path)

    assert len(rows_of(again)) == 4
    assert shard.name not in shards_of(again.cache_dir)  # named by its content, as whatever is built over another build


@pytest.mark.usefixtures("one_file_a_job")
@pytest.mark.parametrize("is_fetched_again", [False, True])
@pytest.mark.parametrize("by", ["load", "command"])
def test_a_damaged_shard_of_a_dataset_of_the_hub_is_made_again_alone(hub, tmp_path, caplog, by, is_fetched_again):
    hub.repo("org/parts", {path.name: path.read_text() for path in _three_files(tmp_path / "data")})
    how = {"path": "org/parts", "cache_dir": str(tmp_path / "cache"), "num_proc": 3}
    shards = [Path(each["filename"]) for each in load_dataset(**how, split="train").cache_files]
    before = shards_of(shards[1].parent)
    others = [shards[number].stat().st_ino for number in (0, 2)]
    _flipped(shards[1])
    if is_fetched_again:
        shutil.rmtree(config.settings().hub_cache_dir)
    with pytest.raises(DamagedShardError) as caught:
        load_dataset(**how, split="train")[:]
    assert (caught.value.path, caught.value.rows) == (str(shards[1]), range(300))

    if by == "command":
        assert _repair(how) == 0
    with caplog.at_level(logging.WARNING):
        again = load_dataset(**how, split="train")

    assert (shards[1].name in caplog.text) == (by == "load")
    assert again[:]["a"] == EXPECTED
    assert shards_of(shards[1].parent) == before
    assert [shards[number].stat().st_ino for number in (0, 2)] == others
