from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CastError, ConfigurationError, MediaDecodeError
from datasets_core.features.base import LargeList, List, Value
from datasets_core.features.media.audio import Audio
from datasets_core.features.media.media import Media
from datasets_core.features.media.types import BioSequence, BioStructure, Image, Mesh, Nifti, Pdf, Video
from datasets_core.features.schema import Features

KINDS: list[type[Media]] = [Image, Audio, Video, Pdf, Nifti, Mesh, BioSequence, BioStructure]
stored = st.none() | st.one_of(
    st.builds(lambda data: {"bytes": data, "path": None}, st.binary(max_size=9)),
    st.builds(lambda data, path: {"bytes": data, "path": path}, st.none() | st.binary(max_size=9), st.text(max_size=9)),
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"decode": False}])
def test_features_come_back_from_each_written_form(kind: type[Media], options: dict[str, Any]) -> None:
    features = Features({"a": kind(**options), "b": [kind(**options)], "c": {"d": LargeList(kind(**options))}})
    assert Features.from_dict(features.to_dict()) == features
    assert Features.from_yaml_list(features.to_yaml_list()) == features
    assert Features.from_arrow_schema(features.arrow_schema) == features
    assert eval(repr(features["a"])) == features["a"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_value_that_stands_for_a_file_is_stored_alike(kind: type[Media], tmp_path: Path) -> None:
    values = [
        "a",
        tmp_path / "b",
        b"c",
        bytearray(b"d"),
        memoryview(b"e"),
        {"bytes": b"f"},
        {"path": "g"},
        {"bytes": b"h", "path": "i"},
    ]
    expected = [
        {"bytes": None, "path": "a"},
        {"bytes": None, "path": str(tmp_path / "b")},
        {"bytes": b"c", "path": None},
        {"bytes": b"d", "path": None},
        {"bytes": b"e", "path": None},
        {"bytes": b"f", "path": None},
        {"bytes": None, "path": "g"},
        {"bytes": b"h", "path": "i"},
    ]
    assert [kind().encode_example(value) for value in values] == expected
    rows = Dataset.from_dict({"a": [*values, None]}, features=Features({"a": kind(decode=False)}))
    assert rows["a"][:] == [*expected, None]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [5, object(), {}, {"bytes": None, "path": None}, {"bytes": "text"}, {"path": 5}])
def test_what_stands_for_no_file_is_refused_with_its_row(kind: type[Media], value: object) -> None:
    with pytest.raises(CastError, match="Row 1, column 'a'"):
        Dataset.from_dict({"a": [b"x", value]}, features=Features({"a": kind()}))


@given(st.lists(st.tuples(stored, st.lists(stored, max_size=3), st.none() | st.fixed_dictionaries({"y": stored}))))
def test_nested_files_come_back_as_they_were_stored(rows: list[tuple[Any, list[Any], Any]]) -> None:
    image = Image(decode=False)
    features = Features({"a": image, "b": List(image), "c": {"y": image}})
    listed = [dict(zip("abc", row, strict=True)) for row in rows]
    dataset = Dataset.from_list(listed, features=features)
    dataset.data.validate(full=True)
    assert dataset[:] == {name: [row[name] for row in listed] for name in "abc"}
    assert list(dataset) == listed


@given(st.lists(stored), st.integers(0, 5))
def test_columns_of_structs_are_cast_whatever_slice_they_are(values: list[Any], start: int) -> None:
    swapped = pa.array(values, pa.struct([("path", pa.large_string()), ("bytes", pa.large_binary()), ("more", pa.int8())]))
    assert Image().cast_storage(swapped[start:]).to_pylist() == values[start:]


def test_a_value_without_bytes_and_path_cannot_be_decoded() -> None:
    with pytest.raises(MediaDecodeError, match="neither bytes nor a path"):
        Image().decode_example({"bytes": None, "path": None})
    with pytest.raises(ConfigurationError, match=r"Pdf\(decode=True\)"):
        Pdf(decode=False).decode_example(b"")


def test_undecoded_features_flatten_into_their_columns_and_others_do_not() -> None:
    flat = Features({"a": Image(decode=False), "b": Audio()}).flatten()
    assert flat == Features({"b": Audio(), "a.bytes": Value("binary"), "a.path": Value("string")})
