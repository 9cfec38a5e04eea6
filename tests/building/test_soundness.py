import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from datasets_core.building import folders, options
from datasets_core.building.folders import check_sound, check_whole
from datasets_core.building.prepared import builder_from_directory
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError, DamagedShardError, DatasetsCoreError, ManifestError
from datasets_core.load import load_dataset_builder
from datasets_core.store.manifest import Manifest, read_manifest

Damage = Callable[[Path], object]


@pytest.fixture(scope="module", params=["arrow", "parquet"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    Dataset.from_dict({"a": list(range(1000)), "b": ["x"] * 1000}).to_parquet(folder / "a.parquet")
    builder = load_dataset_builder("parquet", data_files=str(folder / "a.parquet"), cache_dir=folder)
    builder.download_and_prepare(folder / "one", file_format=request.param, num_shards=2)
    return folder / "one"


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "copy"))


def manifest_of(folder: Path) -> Manifest:
    found = read_manifest(str(folder))
    assert found is not None
    return found


def shards(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in {".arrow", ".parquet"})


def zero_middle(shard: Path) -> None:
    content = bytearray(shard.read_bytes())
    middle = len(content) // 2
    content[middle - 100 : middle + 100] = bytes(200)
    shard.write_bytes(content)


def edit(folder: Path, **changes: object) -> None:
    path = folder / "dataset_info.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_what_is_sound_passes(folder: Path) -> None:
    check_whole(str(folder), manifest_of(folder))
    check_sound(str(folder), manifest_of(folder))


def test_a_missing_shard_is_no_whole_dataset(built: Path, tmp_path: Path) -> None:
    for check in (check_whole, check_sound):
        with pytest.raises(DamagedShardError, match="the shard is missing"):
            check(str(tmp_path), manifest_of(built))


def test_the_bytes_of_a_small_dataset_are_compared(folder: Path) -> None:
    manifest = manifest_of(folder)
    zero_middle(shards(folder)[1])
    os.utime(shards(folder)[1], (0, 0))
    check_whole(str(folder), manifest)
    with pytest.raises(DamagedShardError, match="has sha256"):
        check_sound(str(folder), manifest)


def test_of_a_large_dataset_those_that_were_written_later_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_HASHED_BYTES", 0)
    hashed: list[str] = []
    monkeypatch.setattr(
        options, "check_hashes", lambda folder, manifest, **_: hashed.extend(shard.name for shard in manifest.shards)
    )
    first, second = shards(folder)
    os.utime(first, (0, 0))
    os.utime(folder / "dataset_info.json", (1000, 1000))
    check_sound(str(folder), manifest_of(folder))
    assert hashed == [second.name]


def test_the_batches_of_a_large_dataset_are_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_HASHED_BYTES", 0)
    manifest = manifest_of(folder)
    if manifest.file_format == "parquet":
        pytest.skip("to open a row group is to read it")
    content = bytearray(shards(folder)[0].read_bytes())
    content[8:-400] = bytes(len(content) - 408)
    shards(folder)[0].write_bytes(content)
    os.utime(shards(folder)[0], (0, 0))
    with pytest.raises(DamagedShardError):
        check_sound(str(folder), manifest)


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (lambda folder: edit(folder, features={}), ManifestError),
        (lambda folder: edit(folder, features={"a": {"dtype": "int64", "_type": "Value"}}), ManifestError),
        (lambda folder: edit(folder, config_name="a/b"), ConfigurationError),
    ],
)
def test_what_is_described_must_fit_the_shards(folder: Path, damage: Damage, error: type[DatasetsCoreError]) -> None:
    damage(folder)
    with pytest.raises(error):
        check_sound(str(folder), manifest_of(folder))
    with pytest.raises(ManifestError, match=r"dataset_info\.json: "):  # and who opens it is told which file
        builder_from_directory(folder).as_dataset()


def test_a_store_is_looked_at_too(built: Path) -> None:
    import fsspec

    store = fsspec.filesystem("memory")
    for path in built.iterdir():
        store.pipe_file(f"/sound/{path.name}", path.read_bytes())
    manifest = manifest_of(built)
    check_sound("memory://sound", manifest)
    name = manifest.shards[0].name
    store.pipe_file(f"/sound/{name}", store.cat_file(f"/sound/{name}")[:-1])
    with pytest.raises(DamagedShardError):
        check_sound("memory://sound", manifest)
    store.rm("/sound", recursive=True)
