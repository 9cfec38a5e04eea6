"""Folders that TensorFlow Datasets prepared (`tests/tfds/golden`), against what it reads of them (`expected.json` there)."""

import base64
import gzip
import importlib.util
import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets_core import tfds
from datasets_core.building.prepared import builder_from_directory
from datasets_core.errors import DamagedRecordError, DamagedShardError, FileFormatError, ManifestError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset
from datasets_core.tfds import info as registered

GOLDEN = Path(__file__).parents[1] / "tfds" / "golden"
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
PLACES = {"parts": "parts/en/1.2.0", "parts_2_3": "parts/en/1.2.0"}
CASES = [(name, split) for name, splits in EXPECTED.items() for split in splits]
PICTURES_OF_JPEG = {"jpeg", "film_jpeg"}  # whose numbers depend on the library that decodes them


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(registered, "_classes", {})


def place(name: str) -> str:
    return str(GOLDEN / PLACES.get(name, f"{name}/1.0.0"))


def _of_golden(stored: dict[str, Any]) -> Any:
    """A value as it was: arrays, bytes, and lists of rows as plain lists."""
    if "dict" in stored:
        return {name: _of_golden(inner) for name, inner in stored["dict"].items()}
    if "rows" in stored:
        return [_of_golden(inner) for inner in stored["rows"]]
    if "bytes" in stored:
        return base64.b64decode(stored["bytes"])
    if "ragged" in stored:
        return stored["ragged"]
    dtype = "float32" if stored["dtype"] == "bfloat16" else stored["dtype"]
    if dtype == "bytes":
        array = np.empty(len(stored["array"]), object)
        array[:] = [base64.b64decode(value) for value in stored["array"]]
        return array.reshape(stored["shape"])
    return np.array(stored["array"], dtype).reshape(stored["shape"])


def _plain(value: Any) -> Any:
    """Lists of plain values, and lists of dicts as dicts of lists, as nested datasets are shown here."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim):
        made = [_plain(inner) for inner in value]
        dicts = [each for each in made if isinstance(each, dict)]
        if not dicts:
            return made
        return {name: [each[name] if isinstance(each, dict) else each for each in made] for name in dicts[0]}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.item() if isinstance(value, (np.generic, np.ndarray)) else value


def _is_empty(value: Any) -> bool:
    return all(map(_is_empty, value.values())) if isinstance(value, dict) else len(value) == 0


def _differs(name: str, expected: Any, found: Any) -> str | None:
    if isinstance(expected, dict):
        if not isinstance(found, dict) or list(expected) != list(found):
            return f"{name}: {found!r}"
        return next((what for key in expected if (what := _differs(f"{name}/{key}", expected[key], found[key]))), None)
    if isinstance(expected, (list, bytes)):
        same = _is_empty(found) if expected == [] else _plain(expected) == _plain(found)
    else:
        array = np.asarray(found)
        same = (expected.dtype, expected.shape) == (array.dtype, array.shape)
        if same and name.rpartition("/")[2] in PICTURES_OF_JPEG:
            same = int(np.abs(expected.astype(int) - array.astype(int)).max()) < 16
        else:
            same = same and np.array_equal(expected, array, equal_nan=expected.dtype.kind == "f")
    return None if same else f"{name}: {expected!r} != {found!r}"


@pytest.mark.parametrize(("name", "split"), CASES)
def test_rows_their_order_and_their_ids_are_those_of_tensorflow_datasets(name: str, split: str) -> None:
    changed = {"interleave_cycle_length": 2, "interleave_block_length": 3} if name == "parts_2_3" else {}
    config = tfds.ReadConfig(add_tfds_id=True, **changed)
    found = list(tfds.as_numpy(tfds.builder_from_directory(place(name)).as_dataset(split=split, read_config=config)))
    expected = [{key: _of_golden(value) for key, value in row.items()} for row in EXPECTED[name][split]]
    assert len(found) == len(expected)
    nested = {"rows_of_rows"}  # of which an empty dataset has no columns there
    for row, own in zip(expected, found, strict=True):
        assert [what for key in row if key not in nested and (what := _differs(key, row[key], own[key]))] == []


def test_nested_datasets_in_nested_datasets_are_lists_by_column() -> None:
    rows = {row["a/b"]: row["rows_of_rows"] for row in load_dataset(place("sequences"), split="train", streaming=True)}
    assert rows[-2] == {"inner": [{"x": []}, {"x": [1]}]} and rows[0] == {"inner": []}


@pytest.mark.parametrize(
    "name", ["scalars", "tensors", "images", "labels", "sequences", "optionals", "of_parquet", "templated"]
)
def test_streams_and_datasets_have_the_same_rows_and_types(name: str, tmp_path: Path) -> None:
    built = load_dataset(place(name), split="train", cache_dir=tmp_path / "own")
    streamed = load_dataset(place(name), split="train", streaming=True)
    assert built.features == streamed.features == builder_from_directory(place(name)).info.features
    tables = built.with_format("arrow")[:], next(iter(streamed.with_format("arrow").iter(batch_size=10)))
    assert tables[0].equals(tables[1])


def test_what_a_row_lacks_is_none() -> None:
    rows = {row["there"]: row for row in load_dataset(place("optionals"), split="train", streaming=True)}
    assert rows[1] == {"array": [1.0, 2.0], "number": 5, "text": "x", "there": 1}
    assert rows[2] == {"array": None, "number": None, "text": None, "there": 2}


def test_what_is_recorded_of_the_dataset_is_known() -> None:
    info = tfds.builder_from_directory(place("parts")).info
    assert (info.full_name, info.description, info.citation) == ("parts/en/1.2.0", "Rows with numbers.", "@misc{rows}")
    assert (info.homepage, info.license, info.supervised_keys) == ("https://rows.example", "MIT", ("n", "name"))
    assert info.release_notes == {"1.2.0": "made for tests"} and list(info.splits) == ["train", "test", "more-1"]
    assert (info.splits["train"].num_examples, info.splits["train"].num_shards) == (70, 3)
    assert info.splits["train[10:40]"].file_instructions[0].filename.endswith("parts-train.tfrecord-00000-of-00003")
    ordered = tfds.builder_from_directory(place("ordered")).info
    assert ordered.metadata == {"rate": 8} and ordered.disable_shuffling


def test_names_of_classes_stand_in_their_files() -> None:
    features = load_dataset(place("labels"), split="train", streaming=True).features
    assert features["label"].names == ["x", "é y", "z"] and features["number"].num_classes == 4
    assert features["inner"]["label"].names == ["m", "n"] and features["several"].feature.names == ["p", "q"]
    assert features["objects"]["label"].feature.names == ["cat", "dog"]


def test_it_is_found_by_its_name_config_and_version() -> None:
    rows, info = tfds.load("parts/en:1.*.*", split="test", data_dir=GOLDEN, with_info=True, as_supervised=True)
    assert sorted(number for number, _ in rows) == list(range(7)) and info.config_name == "en"
    assert tfds.builder("parts", data_dir=GOLDEN).info.config_name == "fr"  # which was recorded as the default one
    assert load_dataset(str(GOLDEN / "parts"), "en", split="test", streaming=True).info.config_name == "en"
    assert len(load_dataset(str(GOLDEN / "ordered"), split="train[:3]")) == 3


def test_rows_by_number_come_in_the_order_of_the_files() -> None:
    source = tfds.data_source("parts/en", split="train[20:50]", data_dir=GOLDEN)
    numbers: dict[tuple[str, int], int] = {}
    for row in EXPECTED["parts"]["train"]:
        file, _, index = base64.b64decode(row["tfds_id"]["bytes"]).decode().rpartition("__")
        numbers[file, int(index)] = row["n"]["array"][0]
    by_place = [number for _, number in sorted(numbers.items())]
    assert [row["n"] for row in source] == by_place[20:50] and source[3]["n"] == by_place[23]


def test_a_stream_goes_on_where_its_state_says_also_elsewhere() -> None:
    stream = tfds.builder_from_directory(place("parts")).as_dataset(split="train+test")
    whole = [row["n"] for row in stream]
    rows = iter(stream)
    before = [next(rows)["n"] for _ in range(29)]
    other = pickle.loads(pickle.dumps(tfds.builder_from_directory(place("parts")).as_dataset(split="train+test")))
    other.load_state_dict(json.loads(json.dumps(rows.state_dict())))
    assert before + [row["n"] for row in other] == whole


def test_the_code_of_a_dataset_reads_what_tensorflow_datasets_prepared() -> None:
    class Ordered(tfds.core.GeneratorBasedBuilder):
        VERSION = tfds.core.Version("1.0.0")

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({"n": np.int64}))

        def _split_generators(self, dl_manager: Any) -> Any:
            raise AssertionError("it stands prepared")

        def _generate_examples(self) -> Any: ...

    rows, info = tfds.load("ordered", split="train", data_dir=GOLDEN, with_info=True)
    assert [row["n"] for row in rows] == list(range(20)) and info.splits["train"].num_shards == 2
    assert tfds.builder("ordered", data_dir=GOLDEN).as_data_source("train")[19]["name"] == "row 19"


def test_features_of_the_users_own_are_what_rows_are_cast_to() -> None:
    wanted = Features({"n": Value("int16"), "name": Value("large_string")})
    built = load_dataset(place("of_parquet"), split="train", features=wanted)
    streamed = load_dataset(place("of_parquet"), split="train", features=wanted, streaming=True)
    assert built.features == streamed.features == wanted and list(built) == list(streamed)


def test_formats_that_are_not_read_are_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)  # no package reads array_record
    for refused in (
        lambda: tfds.builder_from_directory(place("of_array_record")),
        lambda: builder_from_directory(place("of_array_record")),
        lambda: load_dataset(place("of_array_record")),
        lambda: tfds.load("of_array_record", data_dir=GOLDEN),
    ):
        with pytest.raises(FileFormatError, match=r"'array_record', which .* without its package.*pip.*tfds convert_format"):
            refused()
    folder = _copied("ordered", tmp_path)
    _changed(folder, fileFormat="riegeli", alternativeFileFormats=["tfrecord"])
    assert len(builder_from_directory(folder).as_dataset("train")) == 20
    with pytest.raises(FileFormatError, match="'riegeli', which is not supported"):
        tfds.builder_from_directory(folder, file_format="riegeli")


def test_files_of_array_record_are_read_by_their_package(tmp_path: Path) -> None:
    pytest.importorskip("array_record")
    folder = _copied("of_array_record", tmp_path)
    name = "of_array_record-train.array_record-00000-of-00001"  # TensorFlow and array_record wrote it
    (folder / name).write_bytes(gzip.decompress((GOLDEN / "of_array_record.gz").read_bytes()))
    expected = [{"n": number, "name": f"row {number}"} for number in (4, 1, 3, 0, 2)]
    assert list(load_dataset(str(folder), split="train")) == expected
    assert list(load_dataset(str(folder), split="train", streaming=True)) == expected
    builder = tfds.builder_from_directory(folder)
    found = builder.as_dataset("train[1:3]", read_config=tfds.ReadConfig(add_tfds_id=True))
    assert [(each["n"], each["tfds_id"]) for each in tfds.as_numpy(found)] == [  # type: ignore[call-overload, index]
        (number, f"{name}__{place}".encode()) for place, number in ((1, 1), (2, 3))
    ]


def _copied(name: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(place(name), tmp_path / name / "1.0.0"))


def _changed(folder: Path, **told: Any) -> None:
    path = folder / "dataset_info.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **told}))


def test_a_missing_file_is_told_by_name_when_its_rows_are_read(tmp_path: Path) -> None:
    folder = _copied("ordered", tmp_path)
    (folder / "ordered-train.tfrecord-00001-of-00002").unlink()
    builder = tfds.builder_from_directory(folder)
    assert [row["n"] for row in builder.as_dataset(split="train[:10]")] == list(range(10))
    for read in (lambda: list(builder.as_dataset(split="train")), lambda: builder.as_data_source("train")):
        with pytest.raises(DamagedShardError, match=r"ordered-train.tfrecord-00001-of-00002: the file is missing \(10 rows\)"):
            read()
    (folder / "ordered-train.tfrecord-00000-of-00002").unlink()
    with pytest.raises(DamagedShardError, match="this file and all others are missing"):
        tfds.load("ordered", data_dir=tmp_path)


def test_rows_before_a_damaged_one_are_streamed(tmp_path: Path) -> None:
    folder = _copied("ordered", tmp_path)
    path = folder / "ordered-train.tfrecord-00001-of-00002"
    data = bytearray(path.read_bytes())
    data[50 * 7 + 20] ^= 1
    path.write_bytes(data)
    streams = load_dataset(str(folder), split="train", streaming=True), tfds.builder_from_directory(folder).as_dataset("train")
    for stream in streams:
        rows, seen = iter(stream), []
        with pytest.raises(DamagedRecordError) as caught:
            seen += [row["n"] for row in rows]
        assert (caught.value.row, caught.value.offset) == (7, 350)
        for row in iter(stream):
            seen.append(row["n"])
            if len(seen) == 17:
                break
        assert seen == list(range(17))


@pytest.mark.parametrize("place_of_damage", [30, 200, 489])
def test_a_damaged_byte_is_told_with_its_record(tmp_path: Path, place_of_damage: int) -> None:
    folder = _copied("ordered", tmp_path)
    path = folder / "ordered-train.tfrecord-00000-of-00002"
    data = bytearray(path.read_bytes())
    data[place_of_damage] ^= 4
    path.write_bytes(data)
    for read in (
        lambda: list(load_dataset(str(folder), split="train", streaming=True)),
        lambda: load_dataset(str(folder), split="train"),
        lambda: list(tfds.builder_from_directory(folder).as_dataset(split="train")),
    ):
        with pytest.raises(DamagedRecordError, match=rf"00000-of-00002.*record {place_of_damage // 49} at byte"):
            read()


def test_a_file_with_other_records_than_are_recorded_is_refused(tmp_path: Path) -> None:
    folder = _copied("ordered", tmp_path)
    form = json.loads((folder / "dataset_info.json").read_text())["splits"][0]
    for lengths, said in ((["9", "10"], "more than the 9 recorded records"), (["12", "10"], "10 records, but 12 are recorded")):
        _changed(folder, splits=[{**form, "shardLengths": lengths}])
        with pytest.raises(DamagedShardError, match=said):
            list(tfds.builder_from_directory(folder).as_dataset(split="train"))


def test_folders_without_features_are_refused_with_the_reason(tmp_path: Path) -> None:
    folder = _copied("ordered", tmp_path)
    (folder / "features.json").unlink()
    with pytest.raises(ManifestError, match=r"features.json.*is missing"):
        tfds.builder_from_directory(folder)


def test_files_that_are_compressed_as_a_whole_are_read(tmp_path: Path) -> None:
    import gzip

    folder = _copied("ordered", tmp_path)
    for path in folder.glob("*tfrecord*"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    builder = tfds.builder_from_directory(folder)
    assert [row["n"] for row in builder.as_dataset(split="train[5:15]")] == list(range(5, 15))
    assert builder.as_data_source("train")[7]["n"] == 7


def test_several_folders_are_read_as_one(tmp_path: Path) -> None:
    first, second = _copied("ordered", tmp_path / "a"), _copied("ordered", tmp_path / "b")
    joined = tfds.builder_from_directories([first, second])
    assert joined.info.splits["train"].num_examples == 40
    assert sorted(row["n"] for row in joined.as_dataset(split="train")) == sorted([*range(20)] * 2)
    assert len(joined.as_data_source("train")) == 40
