"""Names of types stand in annotations."""

from datasets_core.tfds import utils


def test_they_take_others() -> None:
    def function(a: utils.Tree[int], b: utils.PathLike, c: utils.ListOrTreeOrElem[str]) -> utils.Key:
        return b and a and c  # type: ignore[return-value]

    assert function(1, "b", "c") == "c"
