"""Names of types stand in annotations."""

from datasets_core.tfds import type_names


def test_they_take_others() -> None:
    def function(a: type_names.Tree[int], b: type_names.PathLike, c: type_names.ListOrTreeOrElem[str]) -> type_names.Key:
        return b and a and c  # type: ignore[return-value]

    assert function(1, "b", "c") == "c"
