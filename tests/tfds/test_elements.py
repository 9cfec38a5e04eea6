"""Forms of elements: rows, tuples, what functions made, and batches of them."""

import math
import wave
from typing import Any

import numpy as np
import pytest

from datasets_core import tfds
from datasets_core.errors import CastError, CellCastError, ConfigurationError, DatasetGenerationError, UnknownColumnError
from datasets_core.features.base import List, Value
from datasets_core.features.types import Array2D, Translation
from datasets_core.tfds.elements import (
    WHOLE,
    Batched,
    Row,
    Supervised,
    Whole,
    as_bytes,
    as_plain,
    converter,
    row_change,
    stacked,
    supervised,
    view_of,
)

FEATURES: dict[str, Any] = {"x": Value("int8"), "y": Value("string")}


def test_supervised_columns_come_in_the_structure_of_their_keys() -> None:
    form = supervised(("x", {"inner": ("y",)}), FEATURES, dataset="d")
    assert form.element({"x": 1, "y": "a"}) == (1, {"inner": ("a",)})


def test_keys_that_name_nothing_are_refused() -> None:
    with pytest.raises(ConfigurationError):
        supervised(None, FEATURES, dataset="d")
    with pytest.raises(UnknownColumnError):
        supervised(("x", "z"), FEATURES, dataset="d")


def test_batches_are_made_of_columns_or_of_what_a_function_made() -> None:
    x, y = Batched(Supervised(("x", "y"))).element({"x": np.array([1, 2]), "y": ["a", "b"]})
    assert (x.tolist(), y.tolist()) == ([1, 2], ["a", "b"])
    nested = Batched(Batched(Whole())).element({WHOLE: [[(1, "a"), (2, "b")], [(3, "c"), (4, "d")]]})
    assert (nested[0].tolist(), nested[1].tolist()) == ([[1, 2], [3, 4]], [["a", "b"], ["c", "d"]])


@pytest.mark.parametrize(
    ("form", "row", "plain", "exact"),
    [
        (Row(), {"x": "a"}, {"x": "a"}, {"x": b"a"}),
        (Whole(), {WHOLE: (np.int8(1), "a")}, (1, "a"), (np.int8(1), b"a")),
    ],
    ids=["row", "whole"],
)
def test_elements_are_seen_plain_or_as_numpy_has_them(form: Any, row: Any, plain: Any, exact: Any) -> None:
    assert view_of(form, is_numpy=False)(row) == plain
    assert view_of(form, is_numpy=True)(row) == exact


# Rows that authors yield, before they are stored.

F = tfds.features


def _sound(path: Any) -> Any:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(np.array([0, 1000, -1000], "<i2").tobytes())
    return path


def test_plain_rows_need_no_change() -> None:
    change = row_change(F.FeaturesDict({"a": np.int8, "b": F.Image(), "c": F.Sequence(np.int8), "d": F.BBoxFeature()}))
    row = {"a": 1, "b": np.zeros((2, 2, 3), np.uint8), "c": [1, 2], "d": F.BBox(0.0, 0.0, 1.0, 1.0)}
    assert change(row) is row


def test_sounds_are_read_as_whole_numbers(tmp_path: Any) -> None:
    pytest.importorskip("soundfile")
    path = _sound(tmp_path / "a.wav")
    change = row_change(F.FeaturesDict({"x": F.Sequence(F.Audio()), "y": {"z": F.Audio()}, "text": F.Text()}))
    with open(path, "rb") as file:
        row = change({"x": [path, [1, 2]], "y": {"z": file}, "text": "a"})
    assert [list(samples) for samples in row["x"]] == [[0, 1000, -1000], [1, 2]]
    assert list(row["y"]["z"]) == [0, 1000, -1000]
    with pytest.raises(CastError, match="sound"):
        change({"x": [str(tmp_path / "b.wav")]})


def test_films_are_their_pictures() -> None:
    change = row_change(F.FeaturesDict({"x": F.Video(shape=(None, 2, 2, 3))}))
    assert len(change({"x": np.zeros((4, 2, 2, 3), np.uint8)})["x"]) == 4


def test_datasets_in_rows_may_be_generated() -> None:
    change = row_change(F.FeaturesDict({"x": F.Dataset(np.int64)}))
    assert change({"x": (number for number in range(3))}) == {"x": [0, 1, 2]}
    assert change("no row") == "no row"


def test_such_rows_are_stored_and_read(data_dir: str) -> None:
    class Nested(tfds.core.GeneratorBasedBuilder):
        VERSION = "1.0.0"

        def _info(self) -> Any:
            features = {"film": F.Video(shape=(None, 2, 2, 1)), "box": F.BBoxFeature(), "steps": F.Sequence({"a": np.int8})}
            return tfds.core.DatasetInfo(builder=self, features=features)

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": self._generate_examples()}

        def _generate_examples(self) -> Any:
            film = [np.full((2, 2, 1), shade, np.uint8) for shade in (1, 2, 3)]
            yield 0, {"film": film, "box": F.BBox(0.0, 0.25, 0.5, 1.0), "steps": [{"a": 1}, {"a": 2}]}

    pytest.importorskip("PIL")
    (row,) = tfds.as_numpy(tfds.load("nested", split="train", data_dir=data_dir))
    assert (row["film"].shape, row["film"][2].max()) == ((3, 2, 2, 1), 3)
    assert row["box"].tolist() == [0.0, 0.25, 0.5, 1.0]
    assert row["steps"]["a"].tolist() == [1, 2]


LACKING = {
    "number": (np.int64, None),
    "text": (F.Text(), None),
    "number for a text": (F.Text(), 5),
    "class": (F.ClassLabel(num_classes=2), None),
    "image": (F.Image(), None),
    "truth": (np.bool_, None),
    "array": (F.Tensor(shape=(2, 2), dtype=np.float32), None),
    "list": (F.Sequence(np.int64), None),
    "item": (F.Sequence(np.int64), [1, None]),
    "item that is a text": (F.Sequence(F.Text()), ["a", None]),
    "item that is a number": (F.Sequence(F.Text()), ["a", 5]),
    "item that is an image": (F.Sequence(F.Image()), [None]),
    "dict": ({"a": np.int64}, None),
    "value in a dict": ({"a": np.int64}, {}),
    "column of a sequence": (F.Sequence({"a": np.int64, "b": np.int64}), {"a": [1]}),
    "value in an item": (F.Sequence({"a": np.int64, "b": np.int64}), [{"a": 1, "b": 2}, {"a": 1}]),
    "box": (F.BBoxFeature(), None),
    "film": (F.Video(), None),
}


@pytest.mark.parametrize("case", LACKING)
def test_what_a_row_lacks_is_refused_unless_it_is_optional(case: str) -> None:
    feature, value = LACKING[case]
    with pytest.raises(CellCastError, match="olumn 'x"):
        row_change(F.FeaturesDict({"x": feature}))({"x": value})
    with pytest.raises(CellCastError) as caught:
        row_change(F.FeaturesDict({"x": feature}))({})
    assert caught.value.column == "x"
    for row in ({}, {"x": None}):
        assert row_change(F.FeaturesDict({"x": F.Optional(feature)}))(row) is row


def test_none_is_no_number_where_a_float_stands() -> None:
    assert np.isnan(row_change(F.FeaturesDict({"x": np.float32}))({"x": None})["x"])
    with pytest.raises(CellCastError):
        row_change(F.FeaturesDict({"x": np.float32}))({})


def test_features_stay_optional_where_they_are_copied_and_what_they_are() -> None:
    import copy
    import pickle

    features = F.FeaturesDict(
        {
            "image": F.Optional(F.Image(shape=(2, 2, 1))),
            "text": F.Text(optional=True),
            "sound": F.Optional(F.Audio(sample_rate=8000)),
        }
    )
    for same in (copy.deepcopy(features), pickle.loads(pickle.dumps(features)), F.as_tfds(features)):
        assert row_change(same)({}) == {}
        assert same == features
    assert isinstance(features["sound"], F.Audio)


def _built(data_dir: str, features: Any, rows: Any, **options: Any) -> Any:
    class Built(tfds.core.GeneratorBasedBuilder, skip_registration=True):
        VERSION = "1.0.0"

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(builder=self, features=features, disable_shuffling=True)

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": self._generate_examples()}

        def _generate_examples(self) -> Any:
            return rows()

    builder = Built(data_dir=data_dir)
    builder.download_and_prepare(**options)
    return list(tfds.as_numpy(builder.as_dataset("train")))


@pytest.mark.parametrize("form", ["path", "nested", "open", "dict", "pillow"])
def test_files_are_read_when_their_row_is_yielded(form: str, data_dir: str, tmp_path: Any) -> None:
    pillow = pytest.importorskip("PIL.Image")
    path = str(tmp_path / "tmp.png")

    def rows() -> Any:
        for shade in (1, 2, 3):
            pillow.fromarray(np.full((2, 2, 3), shade, np.uint8)).save(path)
            if form == "open":
                with open(path, "rb") as file:
                    yield shade, {"x": file}
            elif form == "pillow":
                with pillow.open(path) as image:
                    yield shade, {"x": image}
            else:
                yield shade, {"x": {"path": path, "nested": [{"y": path}], "dict": {"path": path, "bytes": None}}[form]}

    found = _built(data_dir, {"x": F.Sequence({"y": F.Image()}) if form == "nested" else F.Image()}, rows)
    images = [row["x"]["y"][0] if form == "nested" else row["x"] for row in found]
    assert [int(image.max()) for image in images] == [1, 2, 3]


def test_a_row_that_lacks_something_is_told_with_its_key_and_split(data_dir: str) -> None:
    message = r"Row 1 \(key 'second'\) of split 'train' of built .*feature 'x'.*Optional"
    with pytest.raises(DatasetGenerationError, match=message) as caught:
        _built(data_dir, {"x": np.int64}, lambda: iter([("first", {"x": 1}), ("second", {})]))
    assert isinstance(caught.value, ValueError)
    with pytest.raises(DatasetGenerationError, match=r"key 0.*'train'.*feature 'x'.*nowhere\.png"):
        _built(data_dir, {"x": F.Image()}, lambda: iter([(0, {"x": "nowhere.png"})]))


def test_a_value_of_no_feature_is_refused(data_dir: str) -> None:
    with pytest.raises(DatasetGenerationError) as caught:
        _built(data_dir, {"x": np.int64}, lambda: iter([(0, {"x": 1, "y": 2})]))
    assert caught.value.column == "y"


def test_what_is_changed_after_it_was_yielded_does_not_change_what_is_stored(data_dir: str, tmp_path: Any) -> None:
    path = tmp_path / "a.png"
    pytest.importorskip("PIL.Image").fromarray(np.zeros((2, 2, 3), np.uint8)).save(path)

    def rows() -> Any:
        numbers, row = [0], {}
        for number in range(3):
            numbers[0] = number
            row.update(x=str(path), y=numbers)
            yield number, row

    assert [int(row["y"][0]) for row in _built(data_dir, {"x": F.Image(), "y": F.Sequence(np.int64)}, rows)] == [0, 1, 2]


def test_dicts_may_be_given_in_lists_of_lists(data_dir: str) -> None:
    feature = F.Sequence(F.Sequence({"a": np.int64, "b": F.Text()}))
    rows = [[{"a": 1, "b": "x"}], [], [{"a": 2, "b": "y"}, {"a": 3, "b": "z"}]]
    (row,) = _built(data_dir, {"x": feature}, lambda: iter([(0, {"x": rows})]))
    assert [list(map(int, each)) for each in row["x"]["a"]] == [[1], [], [2, 3]]
    with pytest.raises(CellCastError) as caught:
        row_change({"x": feature})({"x": [[{"a": 1}]]})
    assert caught.value.column == "x.b"


@pytest.mark.parametrize(
    ("feature", "given", "stored"),
    [
        (F.Scalar(np.int32), "7", 7),
        (F.Scalar(np.int32), b"8", 8),
        (F.Scalar(np.int32), -1.9, -1),
        (F.Scalar(np.int32), np.float64(2.5), 2),
        (F.Scalar(np.float32), "0.25", 0.25),
        (F.Scalar(np.float32), None, math.nan),
        (F.Scalar(np.bool_), 2, True),
        (F.Sequence(np.int32), [1.5, "2", 3], [1, 2, 3]),
        (F.Sequence(np.int32), np.array([1.5, -2.5]), [1, -2]),
        (F.Sequence(np.float32), [1, None], [1, math.nan]),
        (F.Tensor(shape=(None,), dtype=np.int64), ["1"], [1]),
        (F.Audio(), np.array([1.5]), [1]),
        (F.ClassLabel(names=["a", "b"]), b"b", 1),
        (F.ClassLabel(names=["a", "b"]), -1, -1),
        (F.Sequence(F.ClassLabel(names=["a", "b"])), ["b", 0, b"a"], [1, 0, 0]),
        (F.BBoxFeature(), np.array([0, 0, 1, 1]), [0, 0, 1, 1]),
    ],
    ids=repr,
)
def test_values_are_made_what_numpy_makes_of_them(feature: Any, given: Any, stored: Any) -> None:
    found = row_change(F.FeaturesDict({"x": feature}))({"x": given})["x"]
    np.testing.assert_array_equal(np.asarray(found, dtype=np.float64), np.asarray(stored, dtype=np.float64))


@pytest.mark.parametrize(
    ("feature", "given"),
    [
        (F.BBoxFeature(), F.BBox(0.0, 0.0, 1.5, 1.0)),
        (F.BBoxFeature(), F.BBox(0, 0, 1, 1)),
        (F.BBoxFeature(), F.BBox(0.5, 0.0, 0.25, 1.0)),
        (F.BBoxFeature(bbox_format="YXYX"), F.BBox(5.0, 0.0, 4.0, 1.0)),
        (F.BBoxFeature(), np.zeros(3)),
        (F.BBoxFeature(), "box"),
        (F.Scalar(np.bool_), "True"),
        (F.ClassLabel(names=["a"]), "c"),
        (F.ClassLabel(), "c"),
    ],
    ids=repr,
)
def test_values_without_a_meaning_are_refused(feature: Any, given: Any) -> None:
    with pytest.raises(CellCastError):
        row_change(F.FeaturesDict({"x": feature}))({"x": given})


def test_boxes_in_other_units_are_taken_as_they_are() -> None:
    change = row_change(
        F.FeaturesDict({"x": F.BBoxFeature(bbox_format=F.BBoxFormat.XYWH), "y": F.BBoxFeature(bbox_format=None)})
    )
    row = {"x": F.BBox(10, 20, 5, 3), "y": [7, 8, 9, 1]}
    assert change(row) is row


# Values as arrays, as bytes, as plain Python, and put together.


@pytest.mark.parametrize(
    ("feature", "value", "expected"),
    [
        (Value("int32"), 5, np.int32(5)),
        (Value("bool"), True, np.True_),
        (Value("float16"), 0.5, np.float16(0.5)),
        (Value("string"), "x", "x"),
        (Value("int32"), None, None),
        (List(Value("uint8")), [1, 2], np.array([1, 2], np.uint8)),
        (List(Value("uint8")), [], np.array([], np.uint8)),
        (List(List(Value("int8"))), [[1], [2]], np.array([[1], [2]], np.int8)),
        (Array2D((None, 2), "int8"), [[1, 2]], np.array([[1, 2]], np.int8)),
        (Array2D((None, 2), "int8"), [], np.zeros((0, 2), np.int8)),
        (List(List(Value("int8"), length=4)), [], np.zeros((0, 4), np.int8)),
    ],
    ids=str,
)
def test_a_value_has_the_type_of_its_column(feature: Any, value: Any, expected: Any) -> None:
    found = converter(feature)(value)
    assert type(found) is type(expected)
    assert np.array_equal(found, expected) if isinstance(expected, np.ndarray) else found == expected
    assert getattr(found, "dtype", None) == getattr(expected, "dtype", None)


def test_lists_of_texts_and_ragged_lists_are_arrays_of_objects() -> None:
    assert converter(List(Value("string")))(["a", "b"]).dtype == object
    ragged = converter(List(List(Value("int8"))))([[1], [2, 3]])
    assert (ragged.dtype, ragged[1].dtype, ragged[1].tolist()) == (object, np.int8, [2, 3])


def test_dicts_in_lists_become_lists_in_dicts() -> None:
    found = converter(List({"a": Value("int8"), "b": {"c": Value("string")}}))([{"a": 1, "b": {"c": "x"}}, {"a": 2, "b": None}])
    assert found["a"].tolist() == [1, 2]
    assert found["b"]["c"].tolist() == ["x", None]
    assert converter(Translation(["en", "fr"]))({"en": "a", "fr": "b"}) == {"en": "a", "fr": "b"}


def test_texts_are_bytes_wherever_they_stand() -> None:
    nested = np.empty(1, object)
    nested[0] = np.array(["é"], object)
    found = as_bytes(("a", {"b": np.array([["c"]], object)}, nested, None, b"d", 2**40, 0.5, True))
    assert (found[0], found[1]["b"][0, 0], found[2][0][0], found[3], found[4]) == (b"a", b"c", "é".encode(), None, b"d")
    assert [type(value) for value in found[5:]] == [np.int64, np.float32, np.bool_]


def test_scalars_of_numpy_become_plain() -> None:
    assert [type(value) for value in as_plain([np.int8(1), np.float32(1), np.array(1), "a"])] == [int, float, int, str]


def test_elements_of_any_structure_are_put_together() -> None:
    found = stacked([(np.int8(1), {"a": "x"}), (np.int8(2), {"a": "yy"})])
    assert (found[0].dtype, found[0].tolist(), found[1]["a"].tolist()) == (np.int8, [1, 2], ["x", "yy"])
    padded = stacked([np.array([["a"]], object), np.array([["b", "c"], ["d", "e"]], object)], pads=True)
    assert padded.tolist() == [[["a", ""], ["", ""]], [["b", "c"], ["d", "e"]]]
    with pytest.raises(ConfigurationError):
        stacked([np.zeros(1), np.zeros((1, 1))], pads=True)


def test_dicts_in_lists_of_lists_are_dicts_of_lists() -> None:
    convert = converter(List(List({"a": {"b": Value("int8")}})))
    found = convert([[{"a": {"b": 1}}, {"a": {"b": 2}}], []])
    assert [each.tolist() for each in found["a"]["b"]] == [[1, 2], []] and found["a"]["b"][0].dtype == np.int8
    texts = converter(List(Translation(["en", "fr"])))([{"en": "x", "fr": "é"}])
    assert as_bytes(texts) == {"en": np.array([b"x"], object), "fr": np.array(["é".encode()], object)}
