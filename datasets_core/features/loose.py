"""Values as Hugging Face `datasets` 1 to 3 took them: by the constructors of Python, whatever that leaves out.

Published scripts rely on it: a price of 1.5 in a column of integers was 1 there, "False" in a column of booleans was True, and
bytes in a column of strings were their repr.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.features.values import as_elements, coercer, is_missing, plain_scalar, shown

types = pa.types


def loose_coercer(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    """A function that makes of a value (never None) what those versions stored under `arrow_type`, or raises CastError.

    >>> loose_coercer(pa.int8())(1.5), loose_coercer(pa.bool_())("False"), loose_coercer(pa.string())(b"a")
    (1, True, "b'a'")
    """
    exact = coercer(arrow_type)
    made: Callable[[Any], Any] | None = None
    if types.is_string(arrow_type):
        return lambda value: exact(str(value))
    if types.is_boolean(arrow_type):
        made = bool
    elif types.is_integer(arrow_type):
        made = int
    elif types.is_floating(arrow_type):
        made = float
    elif types.is_temporal(arrow_type) and not types.is_timestamp(arrow_type) and not types.is_duration(arrow_type):
        return _dates_and_times(arrow_type)

    def coerce(value: Any) -> Any:
        if is_missing(value):
            return None
        if made is None:
            return exact(value)
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.item()  # numpy 1 made numbers of such arrays by itself
        try:
            plain = made(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise CastError(f"{shown(value)} ({type(value).__name__}) is no {arrow_type}.") from error
        return plain if made is float else exact(plain)

    return coerce


def _dates_and_times(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    """Dates and times of day, also from moments; numbers count as Arrow stores them."""
    exact = coercer(arrow_type)

    def coerce(value: Any) -> Any:
        if is_missing(value):
            return None
        try:
            return exact(_day(value) if types.is_date(arrow_type) else value)
        except CastError:
            try:
                found = pa.array([plain_scalar(value)]).cast(arrow_type)[0]
                return found.as_py() if types.is_date(arrow_type) else found.value
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                pass  # the reason that was found first says more
            raise

    return coerce


def _day(value: Any) -> Any:
    value = plain_scalar(value)
    if not isinstance(value, datetime.datetime):
        return value
    return value.date() if value.tzinfo is None else value.astimezone(datetime.UTC).date()


def loose_elements(value: Any) -> list[Any]:
    """The elements of whatever stands for a list: text is a list of letters, and a dict one of its keys.

    Elements of arrays stay numpy's, whose text is numpy's.

    >>> loose_elements("ab"), loose_elements({"a": 1})
    (['a', 'b'], ['a'])
    """
    if isinstance(value, (str, Mapping)) or (isinstance(value, np.ndarray) and value.ndim):
        return list(value)
    return as_elements(value)
