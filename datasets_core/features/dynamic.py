"""`Json`: a column of values of any and of mixed types, stored as JSON text."""

from __future__ import annotations

import datetime
import decimal
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.features.base import Feature


@dataclass(frozen=True, slots=True)
class Json(Feature):
    """Any JSON value in each row, of another type in each if need be.

    Args:
        decode: False shows the JSON text itself.

    >>> Json().encode_example({"a": [1, "b"]})
    '{"a":[1,"b"]}'
    >>> Json().decode_example('[1, null]')
    [1, None]
    """

    decode: bool = True
    id: str | None = None
    _type: ClassVar[str] = "Json"
    needs_encoding: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"Json(decode={self.decode!r})"

    @property
    def arrow_type(self) -> pa.DataType:
        """See `Feature.arrow_type`."""
        return pa.json_(pa.string())

    @property
    def needs_decoding(self) -> bool:
        """See `Feature.needs_decoding`."""
        return self.decode

    def encode_example(self, value: Any) -> str:
        """The value as JSON text; NaN and infinities are written as Python's `json` writes them.

        Under `decode=False` a value is seen as its text, so a string that is JSON text is taken as that.
        """
        if not self.decode and isinstance(value, str) and _is_json(value):
            return value
        try:
            return _ENCODER.encode(_plain(value))
        except (TypeError, ValueError, RecursionError) as error:
            raise CastError(
                f"A value of type {type(value).__name__} is no JSON value: {error or 'nested too deep'}. Convert it first."
            ) from error

    def decode_example(self, value: Any, token_per_repo_id: object = None) -> Any:
        """The value of a JSON text."""
        if value is None or not self.decode:
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise CastError(
                f"A stored value is no JSON text: {error}. Show the text itself with Json(decode=False)."
            ) from error


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


_ENCODER = json.JSONEncoder(separators=(",", ":"))


def _plain(value: Any) -> Any:
    """`value` in the types that JSON has."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return [_plain(inner) for inner in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode()
    if isinstance(value, (decimal.Decimal, datetime.timedelta, os.PathLike)):
        return str(value)
    raise TypeError(f"a {type(value).__name__} has no JSON form")
