"""`Dataset`: what a dataset is made of, in TF-Slim's way: its files, and who reads and decodes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from datasets_core.slim.data_decoder import method_of


class Dataset:
    """The specification of a dataset, from which `DatasetDataProvider` provides samples.

    Nothing is opened and nothing is looked up: each argument is kept as an attribute of its name.

    Args:
        data_sources: the files: a list of paths or URLs, a glob, or nested lists of them.
        reader: the class that reads such files, as `slim.TFRecordReader` or `slim.TextLineReader`.
        decoder: the `DataDecoder` that makes items of what the reader gives.
        num_samples: how many samples there are.
        items_to_descriptions: item → what it is, in words.
        fields: whatever else belongs to the dataset, as `num_classes` or `labels_to_names`.

    >>> from datasets_core import slim
    >>> decoder = slim.TFExampleDecoder(
    ...     {"label": slim.FixedLenFeature([], "int64")}, {"label": slim.Tensor("label")}
    ... )
    >>> birds = slim.Dataset(
    ...     ["birds.tfrecord"], slim.TFRecordReader, decoder, 300, {"label": "Which bird it is."}, num_classes=2
    ... )
    >>> birds.num_samples, birds.num_classes, birds.list_items()
    (300, 2, ['label'])
    """

    data_sources: Any
    reader: Any
    decoder: Any
    num_samples: Any
    items_to_descriptions: Any

    def __init__(
        self,
        data_sources: str | Sequence[Any],
        reader: Any,
        decoder: Any,
        num_samples: int | None,
        items_to_descriptions: Mapping[str, str] | None,
        **fields: Any,
    ) -> None:
        self.__dict__.update(
            fields,
            data_sources=data_sources,
            reader=reader,
            decoder=decoder,
            num_samples=num_samples,
            items_to_descriptions=items_to_descriptions,
        )

    def __getattr__(self, name: str) -> Any:  # a field of the caller's; Python asks here for what is not there
        raise AttributeError(f"This dataset has no field {name!r}. Fields: {', '.join(map(repr, self.__dict__))}.")

    def list_items(self) -> list[str]:
        """The items that the decoder makes, in its order.

        >>> from datasets_core import slim
        >>> slim.Dataset([], None, slim.RowDecoder({"text": "line"}), 0, {}).list_items()
        ['text']
        """
        return list(method_of(self.decoder, "list_items", "ListItems")())

    def decode(self, data: Any, items: Sequence[str] | None = None) -> list[Any]:
        """The items of one sample, in the order asked for: what the decoder's `decode` gives.

        Args:
            data: what the reader gives for one sample.
            items: which items; all of them by default.

        >>> from datasets_core import slim
        >>> slim.Dataset([], None, slim.RowDecoder({"text": "line"}), 1, {}).decode({"line": "a wren"}, ["text"])
        ['a wren']
        """
        return list(method_of(self.decoder, "decode", "Decode")(data, items))

    def __repr__(self) -> str:
        return f"Dataset({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"
