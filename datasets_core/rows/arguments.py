"""Arguments of the methods of a dataset, checked: names of columns, counts, sizes, features."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo

_SIZE = re.compile(r"\s*([0-9][0-9_]*(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


def agreed(info: DatasetInfo | None, features: Features | None) -> tuple[DatasetInfo | None, Features | None]:
    """The info and the features, each knowing of the other."""
    features = as_features(features)
    if info is not None and info.features is not None:
        if features is not None and features != info.features:
            raise ConfigurationError("features and info.features differ. Give one of them.")
        return info, info.features
    return info, features


def as_features(given: Any) -> Features | None:
    """The features of an argument, for which a plain dict will do."""
    if given is None or isinstance(given, Features):
        return given
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(f"features={given!r} are no features. Give a Features, or a dict of them by column.")
    return Features(given)


def names_of(columnnames_of: str | Sequence[str]) -> list[str]:
    if isinstance(columnnames_of, str):
        return [columnnames_of]
    if not isinstance(columnnames_of, Iterable):
        raise ArgumentTypeError(f"{columnnames_of!r} names no columns. Give a name or a list of names.")
    return list(dict.fromkeys(columnnames_of))


def as_int(argument: str, given: Any) -> int:
    try:
        return operator.index(given)
    except TypeError:
        raise ArgumentTypeError(f"{argument}={given!r} is no whole number. Give an int.") from None


def row_count(verb: str, n: int) -> int:
    count = as_int("n", n)
    if count < 0:
        raise ConfigurationError(f"Cannot {verb} {n} rows. Give a number that is not negative.")
    return count


def checked_batch_size(batch_size: int) -> int:
    size = as_int("batch_size", batch_size)
    if size < 1:
        raise ConfigurationError(f"A batch of {batch_size} rows has no meaning. Give a batch_size of 1 or more.")
    return size


def parse_size(size: int | str | None) -> int | None:
    """Bytes of `500_000`, `"500MB"` or `"1GiB"`.

    >>> parse_size("500MB"), parse_size("1 GiB")
    (500000000, 1073741824)

    Raises:
        ConfigurationError: no size, or none of at least one byte.
    """
    if size is None:
        return None
    if isinstance(size, int) and not isinstance(size, bool):
        found = size
    else:
        match = _SIZE.fullmatch(str(size))
        if match is None:
            raise ConfigurationError(f"max_shard_size is {size!r}. Give bytes as a number, or a text such as '500MB'.")
        number, prefix, binary = match.groups()
        found = int(
            float(number.replace("_", "")) * (1024 if binary else 1000) ** ("kmgt".index(prefix.lower()) + 1 if prefix else 0)
        )
    if found < 1:
        raise ConfigurationError(f"max_shard_size is {size!r}. Give at least one byte.")
    return found


def listed_ids(ids: Any) -> list[Any]:
    """Row ids, given as one or several, as a list; each is looked at when it is looked for.

    >>> listed_ids("a__1"), listed_ids(("a__1", b"a__2"))
    (['a__1'], ['a__1', b'a__2'])

    Raises:
        ArgumentTypeError: something that holds no ids.
    """
    if isinstance(ids, (str, bytes)):
        return [ids]
    if isinstance(ids, Mapping) or not isinstance(ids, Iterable):
        raise ArgumentTypeError(
            f"rows() takes row ids, found {ids!r} of type {type(ids).__name__}. Give a list; select() takes row numbers."
        )
    given: Any = ids
    found: Any = (
        given.to_pylist() if hasattr(given, "to_pylist") else given.tolist() if hasattr(given, "tolist") else list(given)
    )
    return found if isinstance(found, list) else [found]
