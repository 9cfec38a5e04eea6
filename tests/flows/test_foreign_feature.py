"""A kind of columns that another package defines in one file, from the script of a dataset to all that is written of it."""

from __future__ import annotations

import importlib
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core import Dataset, Features, IterableDataset, List, Value, load_dataset, load_dataset_builder, load_from_disk
from datasets_core.errors import CastError, ConfigurationError
from datasets_core.features import base
from datasets_core.features.serialization import features_from_yaml, features_to_yaml

PACKAGE = '''
"""Places on earth as a column of datasets."""
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import datasets_core
import pyarrow as pa
from datasets_core.errors import CastError
from datasets_core.features import Feature, Value, register_feature


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __eq__(self, other):
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)
    def __repr__(self):
        return f"Point({self.x}, {self.y})"


@dataclass(frozen=True)
class Place(Feature):
    digits: int = 6
    id: str | None = None
    _type: ClassVar[str] = "Place"
    is_constant: ClassVar[bool] = True
    needs_encoding: ClassVar[bool] = True
    needs_decoding: ClassVar[bool] = True
    croissant: ClassVar[str] = "sc:GeoCoordinates"

    @property
    def storage(self):
        return {"x": Value("float64"), "y": Value("float32")}

    def encode_example(self, value):
        if isinstance(value, str):
            value = Point(*map(float, value.split(",")))
        if not isinstance(value, Point):
            raise CastError(f"{value!r} is not a place. Give a Point.")
        return {"x": round(value.x, self.digits), "y": round(value.y, self.digits)}

    def decode_example(self, value, token_per_repo_id=None):
        return Point(value["x"], value["y"])

    def cast_array(self, array):
        return self.column_of(array.to_pylist()) if pa.types.is_string(array.type) else None

    def column_of(self, values):
        return pa.array([None if value is None else self.encode_example(value) for value in values], self.arrow_type)


register_feature(Place, objects=["places_of_earth.Point"])
'''

SCRIPT = """
import datasets_core as datasets
from places_of_earth import Place, Point

class Towns(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({
            "name": datasets.Value("string"), "at": Place(digits=2), "road": datasets.List(Place())}))
    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={})]
    def _generate_examples(self):
        for number in range(6):
            at = Point(number + 0.123, 0.5)
            yield number, {"name": f"town {number}", "at": at if number else None, "road": [at, Point(0.0, 1.0)]}
"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The package, imported; its kind is unknown again afterwards."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "places_of_earth.py").write_text(PACKAGE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield importlib.import_module("places_of_earth")
    base.REGISTERED.pop("Place")
    base.OBJECTS.clear()
    sys.modules.pop("places_of_earth")


@pytest.fixture
def script(tmp_path: Path, places: Any) -> Path:
    (tmp_path / "towns.py").write_text(SCRIPT, encoding="utf-8")
    return tmp_path / "towns.py"


@pytest.fixture
def towns(tmp_path: Path, script: Path) -> Dataset:
    """The script's rows, built."""
    built: Dataset = load_dataset(str(script), split="train", cache_dir=str(tmp_path / "cache"), trust_remote_code=True)
    return built


def rows(places: Any) -> list[dict[str, Any]]:
    return [
        {
            "name": f"town {number}",
            "at": places.Point(round(number + 0.123, 2), 0.5) if number else None,
            "road": [places.Point(number + 0.123, 0.5), places.Point(0.0, 1.0)],
        }
        for number in range(6)
    ]


def test_a_build(places: Any, towns: Dataset) -> None:
    assert towns.features["at"] == places.Place(digits=2)
    assert [*towns] == rows(places)
    assert towns[:]["road"] == [row["road"] for row in rows(places)]
    assert towns.with_format("arrow")[1:2]["at"].to_pylist() == [{"x": 1.12, "y": 0.5}]
    assert pickle.loads(pickle.dumps(towns))[2] == rows(places)[2]


def test_another_process_reads_it_once_it_knows_the_kind(tmp_path: Path, places: Any, towns: Dataset) -> None:
    towns.save_to_disk(tmp_path / "saved")
    read = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); import datasets_core as D\n{{}}\n"
    read += f"print(D.load_from_disk({str(tmp_path / 'saved')!r})[1]['at'])"
    known = subprocess.run([sys.executable, "-c", read.format("import places_of_earth")], capture_output=True, text=True)
    assert known.stdout == "Point(1.12, 0.5)\n", known.stderr
    unknown = subprocess.run([sys.executable, "-c", read.format("")], capture_output=True, text=True)
    assert "has the type 'Place', which is unknown in this version" in unknown.stderr


def test_an_entry_point_imports_the_package_when_metadata_names_its_kind(tmp_path: Path, places: Any, towns: Dataset) -> None:
    towns.save_to_disk(tmp_path / "saved")
    (about := tmp_path / "site" / "places-1.0.dist-info").mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: places\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[datasets_core.features]\nPlace = places_of_earth\n", encoding="utf-8")
    read = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); import datasets_core as D\n"
    read += f"print(D.load_from_disk({str(tmp_path / 'saved')!r})[1]['at'])\n"
    card = (
        "from datasets_core.features.serialization import features_from_yaml as f; print(f([{'name': 'a', 'dtype': 'place'}]))"
    )
    for code, told in (
        (read, "Point(1.12, 0.5)\n"),
        (f"{read.partition('print')[0]}{card}", "{'a': Place(digits=6, id=None)}\n"),
    ):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout == told, done.stderr


def test_a_cast(places: Any) -> None:
    texts = Dataset.from_dict({"at": ["1.5,2.5", None]})
    cast = texts.cast_column("at", places.Place(digits=0))
    assert cast[:]["at"] == [places.Point(2.0, 2.0), None]
    structs = Dataset(pa.table({"at": [{"x": 1, "y": 2}]})).cast(Features({"at": places.Place()}))
    assert structs[0]["at"] == places.Point(1.0, 2.0)
    with pytest.raises(CastError) as caught:
        Dataset.from_dict({"at": [7]}, features=Features({"at": places.Place()}))
    assert (caught.value.column, caught.value.row) == ("at", 0)  # type: ignore[attr-defined]


def test_objects_become_the_kind_unasked(places: Any) -> None:
    points = [places.Point(1.0, 2.0), None]
    found = Dataset.from_dict({"at": points, "all": [points, []]})
    assert found.features == Features({"at": places.Place(), "all": List(places.Place())})
    assert (found[0]["at"], found[0]["all"]) == (points[0], points)
    mapped = found.map(lambda row: {"new": row["at"] and places.Point(row["at"].x + 1, 0.0)})
    assert mapped.features["new"] == places.Place() and mapped[0]["new"] == places.Point(2.0, 0.0)
    assert [*IterableDataset.from_generator(lambda: iter([{"at": points[0]}]))] == [{"at": points[0]}]


def test_parquet(tmp_path: Path, places: Any, towns: Dataset) -> None:
    towns.to_parquet(tmp_path / "towns.parquet")
    assert pq.read_table(tmp_path / "towns.parquet")["at"].to_pylist()[1] == {"x": 1.12, "y": 0.5}
    read = load_dataset("parquet", data_files=str(tmp_path / "towns.parquet"), split="train", cache_dir=str(tmp_path / "cache"))
    assert read.features == towns.features and [*read] == rows(places)
    towns.save_to_disk(tmp_path / "saved")
    saved: Any = load_from_disk(tmp_path / "saved")
    assert saved.features == towns.features and [*saved] == rows(places)


def test_a_push(tmp_path: Path, hub: Any, places: Any, towns: Dataset) -> None:
    towns.push_to_hub("org/towns", token=hub.token)
    streamed = load_dataset("org/towns", split="train", streaming=True, token=hub.token)
    assert streamed.features == towns.features and [*streamed] == rows(places)
    read = load_dataset("org/towns", split="train", cache_dir=str(tmp_path / "other"), token=hub.token)
    assert read.features == towns.features and [*read] == rows(places)


def test_a_stream(script: Path, places: Any) -> None:
    stream = load_dataset(str(script), split="train", streaming=True, trust_remote_code=True)
    assert stream.features["at"] == places.Place(digits=2)
    assert [*stream] == rows(places)
    assert [row["x"] for row in stream.map(lambda row: {"x": row["road"][0].x})] == [n + 0.123 for n in range(6)]
    shuffled = [row["name"] for row in stream.shuffle(seed=3, buffer_size=10)]
    assert sorted(shuffled) == [row["name"] for row in rows(places)]


def test_tfrecord(tmp_path: Path, places: Any, towns: Dataset) -> None:
    plain = towns.remove_columns("road")
    plain.to_tfrecord(tmp_path / "towns.tfrecord")
    read = load_dataset(
        "tfrecord",
        data_files=str(tmp_path / "towns.tfrecord"),
        features=plain.features,
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    assert read.features == plain.features
    near = [row["at"] and (row["name"], pytest.approx(row["at"].x), row["at"].y) for row in plain]
    assert [row["at"] and (row["name"], row["at"].x, row["at"].y) for row in read] == near


def test_croissant(script: Path, tmp_path: Path, towns: Dataset) -> None:
    builder = load_dataset_builder(str(script), cache_dir=str(tmp_path / "cache"), trust_remote_code=True)
    fields = {each["name"]: each for set_ in builder.info.to_croissant()["recordSet"] for each in set_["field"]}
    assert fields["at"]["dataType"] == "sc:GeoCoordinates"
    assert fields["road"]["dataType"] == "sc:GeoCoordinates" and fields["road"]["arrayShape"] == "-1"
    assert "Place" in fields["at"]["description"]


def test_the_forms(places: Any) -> None:
    features = Features({"a": places.Place(digits=3), "b": [places.Place()]})
    assert features.to_dict()["a"] == {"digits": 3, "_type": "Place"}
    assert Features.from_dict(json.loads(json.dumps(features.to_dict()))) == features
    assert features_to_yaml(features)[0] == {"name": "a", "dtype": {"place": {"digits": 3}}}
    assert features_from_yaml(features_to_yaml(features)) == features


def test_what_cannot_be_registered(places: Any) -> None:
    class Nameless(base.Feature):
        pass

    class Image(base.Feature):
        _type = "Image"

    class Text(base.Feature):
        _type = "Text of mine"
        arrow_type = pa.string()

    for kind, objects, told in ((Nameless, (), "no name"), (Image, (), "already"), (Text, ["a.B"], "not stored as a dict")):
        with pytest.raises(ConfigurationError, match=told):
            base.register_feature(kind, objects=objects)
    base.register_feature(places.Place)  # once more changes nothing
    with pytest.raises(NotImplementedError):
        base.Feature().arrow_type  # noqa: B018
    assert base.storage_of(places.Place()) == {"x": Value("float64"), "y": Value("float32")}
