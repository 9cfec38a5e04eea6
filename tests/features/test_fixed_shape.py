import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import CastError, ConfigurationError
from datasets_core.features.base import EXTENSION_NAME, EXTENSION_VALUE
from datasets_core.features.types import (
    Array2D,
    Array3D,
    Array4D,
    Array5D,
    FixedShape,
    from_extension,
)


@pytest.mark.parametrize(("kind", "ndim"), [(Array2D, 2), (Array3D, 3), (Array4D, 4), (Array5D, 5)])
def test_an_array_is_stored_as_lists_of_lists(kind: type[FixedShape], ndim: int) -> None:
    arrow_type = kind(shape=(None, *[2] * (ndim - 1)), dtype="uint8").arrow_type
    assert str(arrow_type).count("list<") == ndim


def test_the_metadata_of_a_field_is_the_one_of_hugging_face_datasets() -> None:
    assert Array3D(shape=(None, 2, 2), dtype="int32").arrow_metadata == {
        EXTENSION_NAME: b"datasets.features.features.Array3DExtensionType",
        EXTENSION_VALUE: b'[[null, 2, 2], "int32"]',
    }


def test_an_extension_gives_back_its_feature() -> None:
    feature = Array4D(shape=[None, 1, 2, 3], dtype="float")  # type: ignore[arg-type]
    metadata = feature.arrow_metadata
    assert from_extension(metadata[EXTENSION_NAME].decode(), metadata[EXTENSION_VALUE]) == feature
    assert from_extension("arrow.uuid", b"") is None


@pytest.mark.parametrize("shape", [(2,), (2, None), (None, None), (2, 2, 2), (-1, 2), ("a", 2), 5])
def test_a_shape_that_means_nothing_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ConfigurationError, match=r"shape"):
        Array2D(shape=shape, dtype="int8")


def test_features_of_another_kind_or_shape_differ() -> None:
    assert Array2D((2, 3), "float") == Array2D(shape=(2, 3), dtype="float32")
    assert Array2D((2, 3), "int8") != Array2D((3, 2), "int8")
    assert repr(Array2D([2, 3], "int8")) == "Array2D(shape=(2, 3), dtype='int8')"  # type: ignore[arg-type]


def test_an_array_of_another_shape_is_refused() -> None:
    feature = Array2D((None, 3), "int8")
    feature.check_shape((7, 3))
    with pytest.raises(CastError, match=r"\(3, 7\)"):
        feature.check_shape(np.zeros((3, 7)).shape)


def test_the_storage_is_plain_lists() -> None:
    assert Array2D((1, 2), "int8").arrow_type == pa.list_(pa.list_(pa.int8()))
