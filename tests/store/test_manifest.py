"""The manifest: what is written is read; what cannot be understood is named."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets_core import Features, GeneratorBasedBuilder, SplitGenerator, Value, config
from datasets_core.errors import DatasetDiskError, ManifestError
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitDict, SplitInfo, shard_file_name
from datasets_core.meta.splits import ReadInstruction
from datasets_core.store import manifest, shard_records
from datasets_core.store.atomic import dead_folders
from datasets_core.store.manifest import (
    Manifest,
    ShardRecord,
    SourceRecord,
    manifest_bytes,
    manifest_files,
    parse_manifest,
    read_manifest,
    runs,
)
from datasets_core.store.pieces import BatchRows, BatchRowsOf, pieces_of, row_ranges
from datasets_core.store.source import verify_folder

names = st.text(st.characters(exclude_characters="/\\\0"), min_size=1, max_size=8).filter(lambda name: name not in {".", ".."})
counts = st.integers(0, 1 << 40)


@st.composite
def shards(draw: st.DrawFn) -> ShardRecord:
    batches = tuple(draw(st.lists(st.tuples(st.integers(0, 1000), st.integers(1, 50)), max_size=4)))
    rows = sum(size * count for size, count in batches)
    size = draw(st.integers(1000, 1 << 40))  # a file holds at most as many batches as bytes
    return ShardRecord(draw(names), draw(st.sampled_from("ab")), rows, size, draw(counts), draw(st.text()), batches)


@given(
    st.lists(shards(), max_size=4),
    st.lists(st.builds(SourceRecord, st.text(), counts, st.text(), st.none() | st.text()), max_size=3),
    st.sampled_from(["arrow", "parquet"]),
    st.tuples(st.sampled_from(["source", "hash", "key"]), st.booleans(), st.none() | counts),
)
def test_what_is_written_is_read(
    shards: list[ShardRecord], sources: list[SourceRecord], file_format: str, order: tuple[str, bool, int | None]
) -> None:
    rows: dict[str, int] = {}
    for shard in shards:
        rows[shard.split] = rows.get(shard.split, 0) + shard.rows
    splits = SplitDict({split: SplitInfo(split, num_examples=total) for split, total in rows.items()})
    manifest = Manifest(
        DatasetInfo(description="Ünïcode", splits=splits or None),
        tuple(shards),
        file_format,
        "all_checks",
        tuple(sources),
        "2026-01-01",
        "a/b",
        *order,
        commit="ab" * len(shards),
    )
    assert parse_manifest(manifest_bytes(manifest), path="x") == manifest


@given(st.lists(st.integers(0, 3)))
def test_runs_unfold_to_the_counts(counts: list[int]) -> None:
    coded = runs(counts)
    assert [rows for rows, times in coded for _ in range(times)] == counts
    assert all(left[0] != right[0] for left, right in itertools.pairwise(coded))


def test_lengths_and_shards_are_told_by_split(dataset: tuple[str, Manifest]) -> None:
    folder, manifest = dataset
    assert manifest.split_lengths() == {"train": [20] * 5, "test": [10]}
    found = read_manifest(folder)
    assert found == manifest
    assert found.info.splits["train"].shard_names == [f"reviews-train-{k:05d}-of-00005.arrow" for k in range(5)]  # type: ignore[index]
    assert found.info.splits["test"].shard_lengths == [10]  # type: ignore[index]


def test_other_tools_find_their_description(dataset: tuple[str, Manifest]) -> None:
    folder, _ = dataset
    with open(f"{folder}/dataset_info.json") as handle:
        content = json.load(handle)
    content.pop("manifest")
    assert content["dataset_name"] == "reviews"
    assert DatasetInfo.from_dict(content).splits["train"].num_examples == 100  # type: ignore[index]


def test_no_manifest_is_no_dataset(tmp_path: Path) -> None:
    assert read_manifest(str(tmp_path)) is None
    assert read_manifest(str(tmp_path / "none")) is None
    (tmp_path / "dataset_info.json").write_text('{"description": "of another tool"}')
    assert read_manifest(str(tmp_path)) is None


def test_a_manifest_without_an_order_is_of_rows_as_they_came() -> None:
    content = json.loads(manifest_bytes(Manifest(DatasetInfo())))
    del content["manifest"]["write_order"]
    assert parse_manifest(json.dumps(content).encode(), path="x") == Manifest(DatasetInfo())


def test_a_remote_manifest_is_read() -> None:
    import fsspec

    fsspec.filesystem("memory").pipe_file("/manifest/dataset_info.json", manifest_bytes(Manifest(DatasetInfo())))
    assert read_manifest("memory://manifest") == Manifest(DatasetInfo())
    assert read_manifest("memory://manifest/none") is None


_SHARD: dict[str, Any] = {"name": "a", "split": "s", "rows": 3, "size": 9, "num_bytes": 9, "sha256": "", "batches": [[3, 1]]}
_SECTION: dict[str, Any] = {
    "form": 1,
    "file_format": "arrow",
    "verification": "",
    "created": "",
    "shards": [_SHARD],
    "sources": [],
}


def _with(**changes: Any) -> bytes:
    return json.dumps({"manifest": {**_SECTION, **changes}}).encode()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"\xff\xfe{}", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[]", "expected a JSON object, found a list"),
        (b'{"manifest": 3}', "not subscriptable"),
        (b'{"manifest": {}}', "the key 'form' is missing"),
        (_with(form=3), "written by a newer version"),
        (_with(file_format="avro"), "unknown file format 'avro'"),
        (_with(shards=[{**_SHARD, "rows": 4}]), "4 rows, but its batches have 3"),
        (_with(shards=[{**_SHARD, "batches": [[-3, 1], [6, 1]]}]), "a negative number of rows"),
        (_with(shards=[{**_SHARD, "batches": [[3, 0]]}]), "a negative number of rows"),
        (_with(shards=[{**_SHARD, "name": "../a"}]), "'../a' is not a valid shard name"),
        (_with(shards=[{**_SHARD, "name": "a\0b"}]), "is not a valid shard name"),
        (_with(shards=[{**_SHARD, "rows": 10**30, "batches": [[10**30, 1]]}]), "more rows or batches"),
        (_with(shards=[{**_SHARD, "rows": 10**9, "batches": [[1, 10**9]]}]), "more rows or batches"),
        (_with(shards=[{**_SHARD, "size": None}]), "NoneType"),
        (_with(shards=[{"name": "a"}]), "the key 'split' is missing"),
        (_with(shards=None), "NoneType"),
    ],
)
def test_a_broken_manifest_is_named_with_its_fault(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "dataset_info.json").write_bytes(content)
    with pytest.raises(ManifestError, match=reason) as caught:
        read_manifest(str(tmp_path))
    assert caught.value.path == str(tmp_path / "dataset_info.json")


def test_a_broken_description_beside_a_good_manifest_is_named(tmp_path: Path) -> None:
    (tmp_path / "dataset_info.json").write_bytes(json.dumps({"features": 3, "manifest": _SECTION}).encode())
    with pytest.raises(ManifestError, match=str(tmp_path)):
        read_manifest(str(tmp_path))


def test_a_folder_in_its_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "dataset_info.json").mkdir()
    with pytest.raises(ManifestError, match="is a folder"):
        read_manifest(str(tmp_path))


def test_a_split_without_shards_is_a_fault(dataset: tuple[str, Manifest]) -> None:
    folder, _ = dataset
    path = Path(folder, "dataset_info.json")
    content = json.loads(path.read_text())
    content["manifest"]["shards"] = [shard for shard in content["manifest"]["shards"] if shard["split"] != "test"]
    path.write_text(json.dumps(content))
    with pytest.raises(ManifestError, match=r"\['test'\] have no shards"):
        read_manifest(folder)


@pytest.mark.parametrize(
    ("splits", "reason"),
    [
        (None, r"shards of undescribed splits \['test', 'train'\]"),
        ({}, "undescribed"),
        ({"train": {"name": "train", "num_examples": 100}}, r"undescribed splits \['test'\]"),
        ({"train": {"name": "train", "num_examples": 99}, "test": {"name": "test"}}, "with 99 rows, but its shards have 100"),
    ],
)
def test_splits_that_do_not_fit_their_shards_are_a_fault(dataset: tuple[str, Manifest], splits: Any, reason: str) -> None:
    folder, _ = dataset
    path = Path(folder, "dataset_info.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "splits": splits}))
    with pytest.raises(ManifestError, match=reason):
        read_manifest(folder)


@pytest.mark.parametrize("name", ["x" * 300, "circle"])
def test_a_path_that_the_system_cannot_follow_is_a_disk_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "circle").symlink_to("circle")

    with pytest.raises(DatasetDiskError, match=name):
        read_manifest(str(tmp_path / name))


def test_a_size_without_end_is_a_broken_manifest() -> None:
    shard = {"name": "a.arrow", "split": "train", "rows": 1, "size": float("inf"), "num_bytes": 1, "sha256": "", "batches": []}
    section = {"form": 1, "file_format": "arrow", "verification": "", "created": "", "sources": [], "shards": [shard]}
    text = json.dumps({"splits": {}, "manifest": section})

    with pytest.raises(ManifestError, match=r"/d/dataset_info\.json"):
        parse_manifest(text.encode(), path="/d/dataset_info.json")


def test_how_rows_lie_in_their_files_stays_text_and_older_manifests_have_none() -> None:
    manifest = Manifest(DatasetInfo(), blocks={"train": '{"rows":[[4,2]]}'}, files={"train": '[[0,"a.csv"]]'})
    stored = manifest_bytes(manifest)
    assert parse_manifest(stored, path="x") == manifest
    older = parse_manifest(manifest_bytes(Manifest(DatasetInfo())), path="x")
    assert older is not None and older.blocks == older.files == {} and b"blocks" not in manifest_bytes(older)


# Names on disk.


def test_a_staging_folder_stands_beside_its_target_and_names_its_owner(tmp_path: Path) -> None:
    path = manifest.staging_path(str(tmp_path / "data"))
    assert os.path.dirname(path) == str(tmp_path)
    assert manifest.parse_staging(path) == manifest.StagingName(path, str(tmp_path / "data"), os.getpid())


def test_fresh_names_differ(tmp_path: Path) -> None:
    assert (
        len({manifest.staging_path(str(tmp_path)) for _ in range(50)} | {manifest.temporary_path("a") for _ in range(50)})
        == 100
    )


def test_only_the_staging_folders_of_the_target_are_listed(tmp_path: Path) -> None:
    for name in ("data", "data.incomplete-1-ab", "data.incomplete-2-cd", "data2.incomplete-1-ab", "data.incomplete-x-ab"):
        (tmp_path / name).mkdir()
    (tmp_path / "data.incomplete-3-ab").touch()
    found = [(os.path.basename(name.path), name.pid) for name in manifest.staging_folders(str(tmp_path / "data"))]
    assert found == [
        ("data.incomplete-1-ab", 1),
        ("data.incomplete-2-cd", 2),
    ]


def test_nothing_is_listed_where_no_folder_is(tmp_path: Path) -> None:
    assert manifest.staging_folders(str(tmp_path / "no" / "data")) == []


def test_a_link_and_its_folder_share_lock_and_staging(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert (
        manifest.lock_path(str(tmp_path / "link")) == manifest.lock_path(f"file://{tmp_path}/real") == f"{tmp_path}/real.lock"
    )


def test_a_url_is_staged_in_the_cache(tmp_path: Path) -> None:
    with config.using(cache_dir=tmp_path):
        assert manifest.staging_base("s3://bucket/a").startswith(str(tmp_path))
        assert manifest.staging_base("s3://bucket/a") != manifest.staging_base("s3://bucket/b")


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("reviews-train-00000-of-00001.arrow", True),
        ("reviews-train-100000-of-100001.parquet", True),
        ("reviews-train-00000-of-00001-0123456789abcdef.arrow", True),
        ("cache-0123456789abcdef.arrow", False),
        ("dataset_info.json", False),
        ("reviews-train.arrow", False),
    ],
)
def test_shards_are_known_by_name(name: str, known: bool) -> None:
    assert manifest.is_shard_name(name) is known


# Folders that go with their process, also when it is killed.


def test_the_next_process_removes_what_a_killed_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "datasets_core-4194305-mine").mkdir()
    program = "import os; from datasets_core.store.atomic import temporary_folder; temporary_folder(); "
    here = {**os.environ, "TMPDIR": str(tmp_path)}

    killed = subprocess.run([sys.executable, "-c", program + "os.kill(os.getpid(), 9)"], env=here, check=False)

    assert killed.returncode == -9
    assert len(dead_folders()) == 1
    subprocess.run([sys.executable, "-c", program], env=here, check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["datasets_core-4194305-mine"]


# many shards: an index beside the manifest


@st.composite
def indexed(draw: st.DrawFn) -> Manifest:
    """A manifest whose shards are named by the rules, by their content, or in any way."""
    records: list[ShardRecord] = []
    totals = draw(st.dictionaries(st.sampled_from("abc"), st.integers(1, 5), min_size=1))
    for split, total in totals.items():
        for number in range(total):
            name = shard_file_name("birds", split, number, total, "arrow")
            digest = draw(st.sampled_from(["", *(hashlib.sha256(bytes([n])).hexdigest() for n in range(3))]))
            by_content = f"{name.removesuffix('.arrow')}-{digest[:16]}.arrow" if digest else name
            batches = tuple(draw(st.lists(st.tuples(st.integers(0, 1000), st.integers(1, 50)), max_size=4)))
            rows = sum(size * count for size, count in batches)
            own = draw(st.sampled_from([name, by_content, f"{number}.x"]))
            sums = draw(st.sampled_from(["", "8:0a0b0c0d 10:01020304 8:00000000"]))
            records.append(ShardRecord(own, split, rows, draw(st.integers(1000, 1 << 40)), draw(counts), digest, batches, sums))
    splits = SplitDict(
        {
            split: SplitInfo(split, num_examples=sum(record.rows for record in records if record.split == split))
            for split in totals
        }
    )
    return Manifest(DatasetInfo(splits=splits, dataset_name="birds"), tuple(records))


def written(made: Manifest, folder: Path) -> Manifest:
    for name, content in manifest_files(made).items():
        (folder / name).write_bytes(content)
    found = read_manifest(str(folder))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("indexed")


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "MAX_IN_JSON", 0)
    monkeypatch.setattr(shard_records, "_GROUP", 3)


@pytest.mark.usefixtures("_few")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(indexed(), st.data())
def test_an_index_has_the_records_and_the_ranges_of_a_small_manifest(folder: Path, made: Manifest, data: st.DataObject) -> None:
    found = written(made, folder)
    assert found.index is not None and list(found.shards) == list(made.shards) and found.shards == made.shards
    number = data.draw(st.integers(-len(made.shards), len(made.shards) - 1))
    assert found.shards[number] == made.shards[number] and found.shards[number:] == made.shards[number:]
    assert {split: list(each) for split, each in found.split_shards().items()} == made.split_shards()
    assert {split: list(each) for split, each in found.split_lengths().items()} == made.split_lengths()
    assert found.file_names() > made.file_names()
    names, lengths = found.info.splits, made.split_lengths()
    assert names is not None and [name for split in names.values() for name in split.shard_names] == [
        shard.name for shard in made.shards
    ]
    assert manifest_files(found).keys() == {"dataset_info.json"}  # the index stays as it is
    splits = st.sampled_from(sorted(lengths))
    parts = [f"{data.draw(splits)}[{data.draw(st.integers(0, 99))}%:{data.draw(st.integers(1, 100))}%]" for _ in range(3)]
    ranges = row_ranges("+".join(parts), found.split_lengths())
    assert ranges == row_ranges("+".join(parts), lengths)
    coded = BatchRowsOf(found.index.runs, np.arange(len(made.shards)))
    rows = [BatchRows(shard.batches) for shard in made.shards]
    assert list(coded) == rows
    wanted = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1))), np.int64)
    array = np.column_stack([wanted, np.zeros(len(wanted), np.int64), np.array([sum(rows[n]) for n in wanted], np.int64)])
    assert np.array_equal(pieces_of(array, coded), pieces_of(array, rows))


def test_a_dataset_of_many_shards_is_read_like_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Numbers(GeneratorBasedBuilder):
        def _info(self) -> DatasetInfo:
            return DatasetInfo(features=Features({"a": Value("int64")}))

        def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
            return [SplitGenerator("train", {"shards": list(range(9))})]

        def _generate_examples(self, shards: list[int]) -> Iterator[tuple[int, dict[str, int]]]:
            yield from ((3 * shard + row, {"a": 10 * shard + row}) for shard in shards for row in range(3))

    def load(cache: str) -> Any:
        made = Numbers(cache_dir=str(tmp_path / cache))
        made.download_and_prepare(num_shards=9, disable_shuffling=True)
        return made

    plain = load("json").as_dataset("train")
    monkeypatch.setattr(manifest, "MAX_IN_JSON", 4)
    monkeypatch.setattr(shard_records, "_GROUP", 4)
    before = load("index").as_dataset("train")  # whose records are still in memory
    builder = load("index")
    kept = read_manifest(builder.cache_dir)
    assert kept is not None and kept.file_names() == {*os.listdir(builder.cache_dir)} - {"dataset_info.json"}
    assert not verify_folder(builder.cache_dir)
    for split in ("train", "train[5:9]", "train[20:]+train[:7]", "train[10:10]", "train[3shard]"):
        wanted = ReadInstruction.from_spec(split).to_absolute({"train": [3] * 9})
        assert builder.as_dataset(split)["a"][:] == [row for part in wanted for row in plain["a"][part.from_ : part.to]]
    assert builder.as_dataset("train")._fingerprint == before._fingerprint
    assert list(builder.as_dataset("train", shuffle_files=True)) != []
    (index,) = Path(builder.cache_dir).glob("*.index")
    content = index.read_bytes()
    for damaged in (content[:-9], content[:40] + b"\0" * 8 + content[48:], b""):
        index.write_bytes(damaged)
        with pytest.raises(ManifestError) as caught:
            [*(read_manifest(builder.cache_dir) or Manifest(DatasetInfo())).shards]
        assert caught.value.path == str(index)
    index.unlink()
    with pytest.raises(ManifestError, match="missing"):
        read_manifest(builder.cache_dir)
