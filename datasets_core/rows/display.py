"""How datasets and their dictionaries print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def dataset_text(column_names: Iterable[str], num_rows: int) -> str:
    """The text of a dataset.

    >>> print(dataset_text(["a", "b"], 3))
    Dataset({
        features: ['a', 'b'],
        num_rows: 3
    })
    """
    return f"Dataset({{\n    features: {list(column_names)},\n    num_rows: {num_rows}\n}})"


def group_text(splits: Mapping[str, object]) -> str:
    """The text of a dictionary of datasets.

    >>> print(group_text({"train": dataset_text(["a"], 1)}))
    DatasetDict({
        train: Dataset({
            features: ['a'],
            num_rows: 1
        })
    })
    """
    inner = "\n".join(f"{name}: {dataset}" for name, dataset in splits.items())
    return f"DatasetDict({{\n{_indented(inner)}\n}})"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.split("\n"))


def column_text(head: list[object], *, is_cut: bool) -> str:
    """The text of a column, of which `head` are the first values.

    >>> column_text([1, 2], is_cut=True)
    'Column([1, 2, ...])'
    """
    text = repr(head)
    return f"Column({text[:-1]}, ...])" if is_cut else f"Column({text})"
