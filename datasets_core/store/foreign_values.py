"""Values of other libraries, datasets among them, as the parts that say what they are; nothing is imported to know them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any


def foreign_parts(value: Any) -> Sequence[Any] | None:
    """The parts of a value whose own state is not what it is: too much, or another one in each process; None of any other.

    >>> foreign_parts("text") is None
    True
    """
    kind = type(value)
    if _is_dataset(kind) and isinstance(getattr(value, "_fingerprint", None), str):
        return _dataset_parts(value)
    root = kind.__module__.partition(".")[0]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _tensor_parts(value)
    if torch is not None and isinstance(value, torch.Generator):
        return str(value.device), value.get_state().numpy()
    if root == "pandas" and kind.__name__ in ("DataFrame", "Series"):
        return _pandas_parts(value)
    if root == "polars" and kind.__name__ in ("DataFrame", "Series"):
        frame = value.to_frame() if kind.__name__ == "Series" else value
        return [str(dtype) for dtype in frame.dtypes], frame.to_arrow().combine_chunks()
    if any(base.__name__ == "PreTrainedTokenizerBase" and base.__module__.startswith("transformers") for base in kind.__mro__):
        return _tokenizer_parts(value)
    return None


def _is_dataset(kind: type) -> bool:
    return any(base.__module__.partition(".")[0] in ("datasets", "datasets_core") for base in kind.__mro__)


def _dataset_parts(value: Any) -> Sequence[Any]:
    """A dataset knows how it came about; besides, its rows come in a format."""
    shown = getattr(value, "format", None)
    return value._fingerprint, str(getattr(value, "split", None)), shown


def _tensor_parts(value: Any) -> Sequence[Any]:
    import torch

    plain = value.detach().cpu().resolve_conj().resolve_neg()
    if plain.layout is not torch.strided:
        plain = plain.to_dense()
    raw = plain.contiguous().flatten().view(torch.uint8).numpy()
    return str(value.dtype), tuple(value.shape), raw, bool(value.requires_grad), str(value.layout), vars(value)


def _pandas_parts(value: Any) -> Sequence[Any]:
    if type(value).__name__ == "Series":
        return value.name, _index_parts(value.index), value.array, value.attrs
    columns = [value.iloc[:, place].array for place in range(value.shape[1])]
    return _index_parts(value.columns), _index_parts(value.index), columns, value.attrs


def _index_parts(index: Any) -> Sequence[Any]:
    """The values of each level of an index, and the names of the levels."""
    return [index.get_level_values(level).array for level in range(index.nlevels)], list(index.names)


def _tokenizer_parts(value: Any) -> Sequence[Any]:
    """A tokenizer without what a call leaves behind: its cache, and the truncation and padding of that call."""
    import json

    state = {name: part for name, part in vars(value).items() if name not in ("cache", "_tokenizer")}
    backend = getattr(value, "_tokenizer", None)
    if backend is None:
        return type(value), dict(sorted(state.items()))
    form = json.loads(backend.to_str())
    return type(value), dict(sorted(state.items())), {**form, "truncation": None, "padding": None}
