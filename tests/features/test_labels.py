from pathlib import Path

import numpy as np
import pytest

from datasets_core.errors import CastError, ConfigurationError, FileNotFoundDatasetsError
from datasets_core.features.types import ClassLabel


@pytest.fixture
def label() -> ClassLabel:
    return ClassLabel(names=["neg", "pos", " x", "3"])


def test_classes_may_be_only_counted() -> None:
    assert ClassLabel(num_classes=3) == ClassLabel(names=["0", "1", "2"])


def test_names_come_from_a_file_one_a_line(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("a\nb\n\nc d\n")
    label = ClassLabel(names_file=str(tmp_path / "names.txt"))
    assert label.names == ["a", "b", "c d"]
    assert label == ClassLabel(names=["a", "b", "c d"])


def test_tuples_and_arrays_of_names_become_lists() -> None:
    assert ClassLabel(names=("a", "b")).names == ["a", "b"]
    assert ClassLabel(names=np.array(["a", "b"])).names == ["a", "b"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"num_classes": 3, "names": ["a", "b"]},
        {"names": ["a", "a"]},
        {"names": {"a", "b"}},
        {"names": "ab"},
        {"names": 5},
        {"num_classes": -1},
        {"num_classes": "3"},
        {"names": ["a"], "names_file": "names.txt"},
    ],
)
def test_classes_that_contradict_themselves_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        ClassLabel(**arguments)  # type: ignore[arg-type]


def test_a_file_of_names_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundDatasetsError, match=r"none\.txt"):
        ClassLabel(names_file=str(tmp_path / "none.txt"))


def test_a_file_of_names_in_another_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(ConfigurationError, match=r"names\.txt"):
        ClassLabel(names_file=str(tmp_path / "names.txt"))


@pytest.mark.parametrize(
    ("name", "code"), [("neg", 0), (" neg ", 0), (" x", 2), ("3", 3), ("0", 0), ("2", 2), ("-1", -1), (["neg", 1], [0, 1])]
)
def test_names_become_integers(label: ClassLabel, name: str, code: int) -> None:
    assert label.str2int(name) == code


@pytest.mark.parametrize("name", ["x", "9", "unk", "1.0", "", 0, None, ["neg", None], [[0]]], ids=repr)
def test_a_name_of_no_class_is_refused_with_the_classes(label: ClassLabel, name: str) -> None:
    with pytest.raises(CastError, match=r"class"):
        label.str2int(name)


@pytest.mark.parametrize(("code", "name"), [(0, "neg"), (True, "pos"), (np.int64(1), "pos"), ([0, 1], ["neg", "pos"])])
def test_integers_become_names(label: ClassLabel, code: object, name: object) -> None:
    assert label.int2str(code) == name


def test_an_array_of_integers_becomes_a_list_of_names(label: ClassLabel) -> None:
    assert label.int2str(np.array([0, 1])) == ["neg", "pos"]


@pytest.mark.parametrize("code", [-1, 4, None, "neg", 1.5, [4], float("nan")], ids=repr)
def test_an_integer_of_no_class_is_refused(label: ClassLabel, code: object) -> None:
    with pytest.raises(CastError, match="integer of no class"):
        label.int2str(code)


@pytest.mark.parametrize(("value", "stored"), [("pos", 1), (1, 1), (1.0, 1), (True, 1), (-1, -1), (np.int8(1), 1)])
def test_names_and_integers_are_stored_as_integers(label: ClassLabel, value: object, stored: int) -> None:
    assert label.encode_example(value) == stored


@pytest.mark.parametrize("value", [4, -2, 1.5, "unk", b"neg", [0], float("inf"), {}], ids=repr)
def test_what_is_no_class_is_not_stored(label: ClassLabel, value: object) -> None:
    with pytest.raises(CastError, match="class"):
        label.encode_example(value)
