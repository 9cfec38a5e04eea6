"""Conversion of single values: Python objects to stored types, features that encode and decode one value.

The fast path of `cast.compile_column` does not use these functions, but rejects the same values.
"""

from __future__ import annotations

import datetime
import decimal
import json
import operator
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError, ConfigurationError, FileNotFoundDatasetsError
from datasets_core.features.base import Feature, FeatureType, LargeList, List, Value, feature_to_arrow
from datasets_core.features.media.media import NOWHERE, Media, MediaPaths

types = pa.types
_EPOCH = datetime.date(1970, 1, 1)

_shortener = reprlib.Repr()
_shortener.maxstring = _shortener.maxother = 60
_shortener.maxlong = 40


def shown(value: object) -> str:
    """Return `value` for messages: its repr, limited to about 60 characters."""
    if isinstance(value, np.ndarray):
        return f"<array of shape {value.shape} and dtype {value.dtype}>"
    try:
        text = _shortener.repr(value)
    except Exception:  # a repr may fail in any way, and a message must not
        return f"<{type(value).__name__}>"
    return text if len(text) <= 80 else text[:77] + "…"


def _refuse(value: object, target: pa.DataType | str, why: str = "") -> CastError:
    return CastError(f"{shown(value)} ({type(value).__name__}) is not a valid {target}{f': {why}' if why else ''}.")


_MISSING = {"NAType", "NaTType", "MaskedConstant"}  # pandas.NA, pandas.NaT, numpy.ma.masked


def is_missing(value: Any) -> bool:
    """Return True for None, and for its equivalents in other libraries."""
    if value is None or type(value).__name__ in _MISSING:
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return isinstance(value, pa.Scalar) and not value.is_valid


def plain_scalar(value: Any) -> Any:
    """Return `value` without its numpy or Arrow wrapper, if it is a scalar; timestamps with nanoseconds stay numpy values."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, pa.Scalar):
        if value.is_valid and types.is_timestamp(value.type):
            return np.datetime64(value.value, value.type.unit) if value.type.unit == "ns" else value.as_py()
        if value.is_valid and types.is_duration(value.type):
            return np.timedelta64(value.value, value.type.unit)
        return value.as_py()
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return plain_scalar(value[()])
    if is_tensor(type(value)) and getattr(value, "ndim", None) == 0:
        return plain_scalar(tensor_array(value))
    return value


def number_of(value: Any) -> Any:
    """Like `plain_scalar`, but also unwraps an array of one element, which `datasets` accepts as a number.

    >>> number_of(np.array([[2.5]]))
    2.5
    """
    if is_tensor(type(value)) and getattr(value, "ndim", None):
        value = tensor_array(value)
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(())
    return plain_scalar(value)


def coercer(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    """Return a function that converts a value (never None) to the stored form of `arrow_type`, or raises CastError.

    >>> coercer(pa.int8())("5"), coercer(pa.string())(5)
    (5, '5')
    """
    for matches, maker in _COERCERS:
        if matches(arrow_type):
            return maker(arrow_type)
    return lambda value: value


def _integers(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    signed = types.is_signed_integer(arrow_type)
    low = -(1 << (arrow_type.bit_width - 1)) if signed else 0
    high = (1 << (arrow_type.bit_width - signed)) - 1

    def coerce(value: Any) -> int:
        number = _whole(number_of(value), arrow_type)
        if not low <= number <= high:
            raise CastError(f"{shown(number)} does not fit {arrow_type}, which holds {low} to {high}.")
        return number

    return coerce


def _whole(value: Any, target: pa.DataType | str) -> int:
    if isinstance(value, (float, decimal.Decimal)):
        try:
            number = int(value)
        except (ValueError, OverflowError) as error:
            raise _refuse(value, target) from error
        if number != value:
            raise _refuse(value, target, "its fraction would be lost")
        return number
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError as error:
            raise _refuse(value, target) from error
    try:
        return operator.index(value)
    except TypeError as error:
        raise _refuse(value, target) from error


def _floats(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    largest = {16: 65504.0, 32: 3.4028235677973366e38, 64: float("inf")}[arrow_type.bit_width]

    def coerce(value: Any) -> float:
        value = number_of(value)
        if isinstance(value, (bytes, bytearray, memoryview, complex)):
            raise _refuse(value, arrow_type)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise _refuse(value, arrow_type) from error
        if abs(number) > largest and abs(number) != float("inf"):
            raise CastError(f"{shown(value)} is too large for {arrow_type}.")
        return number

    return coerce


def _booleans(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    def coerce(value: Any) -> bool:
        value = number_of(value)
        if isinstance(value, (bool, int, float)) and value in (0, 1):
            return bool(value)
        raise _refuse(value, arrow_type)

    return coerce


_SHORT_FLOATS: tuple[type, ...] = (np.float16, np.float32)


def _shortest(value: Any) -> Any:
    """Return `value` as a plain scalar; a short float becomes the text that numpy writes, without digits of a longer float."""
    return str(value) if isinstance(value, _SHORT_FLOATS) else plain_scalar(value)


def _strings(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    def coerce(value: Any) -> str:
        value = _shortest(value)
        if isinstance(value, (bytes, bytearray, memoryview)):
            try:
                return bytes(value).decode()
            except UnicodeDecodeError as error:
                raise _refuse(value, arrow_type, "it is not UTF-8 text") from error
        if hasattr(value, "__array__") and not isinstance(value, np.generic):
            raise _refuse(value, arrow_type, "it is an array, and its text omits elements")
        try:
            text = str.__str__(value) if isinstance(value, str) else str(value)
            text.encode()
        except UnicodeEncodeError as error:
            raise _refuse(value, arrow_type, "it holds half of a surrogate pair") from error
        except RecursionError as error:
            raise _refuse(value, arrow_type, "it is nested too deeply") from error
        except ValueError as error:  # an integer of thousands of digits
            raise _refuse(value, arrow_type, str(error)) from error
        return text

    return coerce


def _binaries(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    width = arrow_type.byte_width if types.is_fixed_size_binary(arrow_type) else None

    def coerce(value: Any) -> bytes:
        value = plain_scalar(value)
        if isinstance(value, str):
            try:
                value = value.encode()
            except UnicodeEncodeError as error:
                raise _refuse(value, arrow_type, "it holds half of a surrogate pair") from error
        elif isinstance(value, np.ndarray) and value.dtype == np.uint8:
            value = value.tobytes()
        if not isinstance(value, (bytes, bytearray, memoryview)):
            raise _refuse(value, arrow_type)
        if width is not None and len(value) != width:
            raise _refuse(value, arrow_type, f"it has {len(value)} bytes")
        return bytes(value)

    return coerce


def _decimals(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    def coerce(value: Any) -> decimal.Decimal:
        value = _shortest(value)
        if isinstance(value, (bytes, bytearray)):
            raise _refuse(value, arrow_type)
        try:
            number = decimal.Decimal(str(value) if isinstance(value, float) else value)
            return pa.scalar(number, arrow_type).as_py()  # type: ignore[no-any-return]
        except (TypeError, ValueError, decimal.InvalidOperation, pa.ArrowException) as error:
            raise _refuse(value, arrow_type, str(error) if isinstance(error, pa.ArrowInvalid) else "") from error

    return coerce


def _dates(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    def coerce(value: Any) -> datetime.date:
        value = plain_scalar(value)
        if isinstance(value, np.datetime64):
            return _EPOCH + datetime.timedelta(_in_unit(value, "D", arrow_type))
        if isinstance(value, datetime.datetime):
            if value.time() != datetime.time() or getattr(value, "nanosecond", 0) > 0:
                raise _refuse(value, arrow_type, "its time of day would be lost")
            return value.date()
        if isinstance(value, datetime.date):
            return value
        if isinstance(value, str):
            try:
                return datetime.date.fromisoformat(value.strip())
            except ValueError as error:
                raise _refuse(value, arrow_type) from error
        raise _refuse(value, arrow_type)

    return coerce


_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def _timestamps(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    finest = pa.timestamp("us", tz=arrow_type.tz)

    def coerce(value: Any) -> Any:
        value = plain_scalar(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        try:
            if isinstance(value, str):
                return _from_text(value, arrow_type).value
            to_datetime64 = getattr(value, "to_datetime64", None)  # what pandas calls it
            if isinstance(value, np.datetime64) or to_datetime64:
                return _in_unit(to_datetime64() if to_datetime64 else value, arrow_type.unit, arrow_type)
            if isinstance(value, datetime.datetime):
                return pa.scalar(value, finest).cast(arrow_type).value
            if isinstance(value, datetime.date):
                return (value - _EPOCH).days * 86400 * _PER_SECOND[arrow_type.unit]
        except (pa.ArrowException, ValueError, OverflowError) as error:
            raise _refuse(value, arrow_type, str(error)) from error
        raise _refuse(value, arrow_type)

    return coerce


def _from_text(text: str, arrow_type: pa.DataType) -> Any:
    """Return ISO text as a timestamp; the instant follows from an offset in the text, or UTC if there is none."""
    moment = pa.scalar(text.strip())
    zoned = pa.timestamp(arrow_type.unit, tz=arrow_type.tz or "UTC")
    try:
        return moment.cast(pa.timestamp(arrow_type.unit))
    except pa.ArrowInvalid:
        return moment.cast(zoned)


def _times(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    unit = arrow_type.unit

    def coerce(value: Any) -> Any:
        if isinstance(value, (pa.Time32Scalar, pa.Time64Scalar)):
            return _scaled(value.value * (_PER_SECOND["ns"] // _PER_SECOND[value.type.unit]), unit, value, arrow_type)
        value = plain_scalar(value)
        if isinstance(value, int) and not isinstance(value, bool):
            if not 0 <= value < 86400 * _PER_SECOND[unit]:
                raise _refuse(value, arrow_type, "it is not within a day")
            return value
        if isinstance(value, str):
            try:
                value = datetime.time.fromisoformat(value.strip())
            except ValueError as error:
                raise _refuse(value, arrow_type) from error
        if not isinstance(value, datetime.time):
            raise _refuse(value, arrow_type)
        micros = ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond
        return _scaled(micros * 1000 + getattr(value, "nanosecond", 0), unit, value, arrow_type)

    return coerce


def _durations(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    unit = arrow_type.unit

    def coerce(value: Any) -> Any:
        value = plain_scalar(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        to_timedelta64 = getattr(value, "to_timedelta64", None)  # what pandas calls it
        if isinstance(value, np.timedelta64) or to_timedelta64:
            return _in_unit(to_timedelta64() if to_timedelta64 else value, unit, arrow_type)
        if not isinstance(value, datetime.timedelta):
            raise _refuse(value, arrow_type)
        return _scaled(value // datetime.timedelta(microseconds=1) * 1000, unit, value, arrow_type)

    return coerce


def _scaled(nanos: int, unit: str, value: object, arrow_type: pa.DataType) -> int:
    number, rest = divmod(nanos * _PER_SECOND[unit], 10**9)
    if rest:
        raise _refuse(value, arrow_type, f"it is finer than a {unit}")
    return number


_ATTOSECONDS = {
    "as": 1,
    "fs": 10**3,
    "ps": 10**6,
    "ns": 10**9,
    "us": 10**12,
    "ms": 10**15,
    "s": 10**18,
    "m": 60 * 10**18,
    "h": 3600 * 10**18,
    "D": 86400 * 10**18,
    "W": 604800 * 10**18,
}


def _in_unit(value: Any, unit: str, arrow_type: pa.DataType) -> int:
    """Return a numpy timestamp or duration as an integer in `unit`, by exact arithmetic: numpy itself truncates and overflows
    silently.
    """
    if isinstance(value, np.datetime64) and np.datetime_data(value.dtype)[0] in ("Y", "M"):
        value = value.astype("datetime64[D]")
    found, count = np.datetime_data(value.dtype)
    if found not in _ATTOSECONDS:
        raise _refuse(value, arrow_type, f"its unit is {found!r}")
    attoseconds = int(value.astype(np.int64)) * count * _ATTOSECONDS[found]
    number, rest = divmod(attoseconds, _ATTOSECONDS[unit])
    if rest:
        raise _refuse(value, arrow_type, f"it is finer than a {unit}")
    return int(number)


def _nulls(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    def coerce(value: Any) -> Any:
        raise _refuse(value, "null, the only value that this column may contain")

    return coerce


_COERCERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], Callable[[Any], Any]]], ...] = (
    (types.is_null, _nulls),
    (types.is_integer, _integers),
    (types.is_floating, _floats),
    (types.is_boolean, _booleans),
    (lambda t: types.is_string(t) or types.is_large_string(t) or types.is_string_view(t), _strings),
    (
        lambda t: types.is_binary(t) or types.is_large_binary(t) or types.is_binary_view(t) or types.is_fixed_size_binary(t),
        _binaries,
    ),
    (types.is_decimal, _decimals),
    (types.is_date, _dates),
    (types.is_timestamp, _timestamps),
    (types.is_time, _times),
    (types.is_duration, _durations),
)


# -- features, one value ------------------------------------------------------------------------------------------------


def is_tensor(kind: type) -> bool:
    """Return True if the class belongs to torch."""
    return kind.__module__ == "torch" or kind.__module__.startswith("torch.")


def tensor_array(value: Any) -> Any:
    """Return a torch tensor as a numpy array, or scalar if it has no dimension; other values unchanged."""
    detach = getattr(value, "detach", None)
    if detach is None:
        return value
    tensor = detach().cpu()
    if str(tensor.dtype) == "torch.bfloat16":
        tensor = tensor.float()
    array = tensor.numpy()
    return array[()] if array.ndim == 0 else array


def as_elements(value: Any) -> list[Any]:
    """Return the elements of a list-like value: a list, tuple, set, range, array, or anything that numpy can read.

    Raises:
        CastError: the value is not list-like; a string does not count as a list.
    """
    if isinstance(value, (list, tuple)):
        return value  # type: ignore[return-value]
    if isinstance(value, pa.Scalar):
        return as_elements(value.as_py())
    if isinstance(value, (pa.Array, pa.ChunkedArray)):
        return value.to_pylist()  # type: ignore[no-any-return]
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return value.tolist() if value.dtype != object and value.dtype.kind not in "mM" else list(value)
    if isinstance(value, (str, bytes, bytearray, memoryview, Mapping, np.generic, np.ndarray)):
        raise _refuse(value, "list")
    if hasattr(value, "__array__"):
        return as_elements(tensor_array(value) if is_tensor(type(value)) else np.asarray(value))
    if isinstance(value, Iterable) and hasattr(value, "__len__"):
        return list(value)
    raise _refuse(value, "list")


def lists_from_dicts(value: Any, names: Iterable[str]) -> dict[str, list[Any]]:
    """Return a list of dicts as the dict of lists in which a `Sequence` of dicts is stored.

    >>> lists_from_dicts([{"a": 1}, {"a": 2}], ["a"])
    {'a': [1, 2]}
    """
    rows = list(value)
    for row in rows:
        if not isinstance(row, Mapping):
            raise _refuse(row, "dict")
    return {name: [row.get(name) for row in rows] for name in names}


def is_dict_of_lists(feature: Any) -> bool:
    """Return True for the result of `Sequence({...})`: a dict of only lists."""
    return (
        isinstance(feature, dict) and bool(feature) and all(isinstance(inner, (List, LargeList)) for inner in feature.values())
    )


def encode_value(feature: FeatureType, value: Any) -> Any:
    """Return one value in the stored form of a feature.

    >>> encode_value(List(Value("string")), (1, None))
    ['1', None]

    Raises:
        CastError: the value does not fit.
    """
    if is_missing(value):
        return None
    if isinstance(feature, dict):
        if not isinstance(value, Mapping):
            if not is_dict_of_lists(feature):
                raise _refuse(value, "dict")
            value = lists_from_dicts(as_elements(value), feature)
        return {name: encode_value(inner, value.get(name)) for name, inner in feature.items()}
    if isinstance(feature, (List, LargeList)):
        return [encode_value(feature.feature, element) for element in as_elements(value)]
    if isinstance(feature, Value):
        return coercer(feature_to_arrow(feature))(value)
    return feature.encode_example(value)


def decode_value(feature: FeatureType, value: Any, paths: MediaPaths = NOWHERE) -> Any:
    """Return one stored value as the user sees it; the paths of media are opened if `paths` allows it."""
    if value is None:
        return None
    if isinstance(feature, dict):
        return {name: decode_value(feature[name], inner, paths) if name in feature else inner for name, inner in value.items()}
    if isinstance(feature, (List, LargeList)):
        return [decode_value(feature.feature, element, paths) for element in value]
    if isinstance(feature, Media):
        if not feature.decode:
            return value
        is_own = type(feature).decode_example is Media.decode_example  # else that of a subclass, or one that was put there
        return feature.decode_stored(value, paths) if is_own else feature.decode_example(value)
    if isinstance(feature, Feature) and feature.needs_decoding:
        return feature.decode_example(value)
    return value


# Values as in Hugging Face `datasets` 1 to 3: converted by the constructors of Python, even with loss.


def loose_coercer(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    """Return a function that converts a value (not None) to the form that those versions stored for `arrow_type`, or raises
    CastError.

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
            raise CastError(f"{shown(value)} ({type(value).__name__}) is not a valid {arrow_type}.") from error
        return plain if made is float else exact(plain)

    return coerce


def _dates_and_times(arrow_type: pa.DataType) -> Callable[[Any], Any]:
    """Convert values to dates and times of day, also from timestamps; numbers are in the unit that Arrow stores."""
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
    """Return the elements of a list-like value: a text is a list of its characters, and a dict a list of its keys.

    Elements of arrays stay numpy values, with the text form of numpy.

    >>> loose_elements("ab"), loose_elements({"a": 1})
    (['a', 'b'], ['a'])
    """
    if isinstance(value, (str, Mapping)) or (isinstance(value, np.ndarray) and value.ndim):
        return list(value)
    return as_elements(value)


def is_json(text: str) -> bool:
    """Return True if `text` is valid JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def plain_json(value: Any) -> Any:
    """Return `value` in the types of JSON.

    Raises:
        TypeError: JSON cannot express it.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): plain_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return [plain_json(inner) for inner in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain_json(value.tolist())
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode()
    if isinstance(value, (decimal.Decimal, datetime.timedelta, os.PathLike)):
        return str(value)
    raise TypeError(f"a {type(value).__name__} cannot be converted to JSON")


def names_in_file(path: str) -> list[str]:
    """Return the lines of a file of class names that are not blank.

    Raises:
        ConfigurationError: there is no such file, or it is not text.
    """
    try:
        with open(path, encoding="utf-8") as file:
            return [line.strip() for line in file.read().splitlines() if line.strip()]
    except FileNotFoundError as error:
        raise FileNotFoundDatasetsError(
            f"There is no file {path!r} of class names", advice="Pass a path, or names=", file=path
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"The class names in {path!r} are not UTF-8 text: {error}. Write the file again.") from error


def json_texts(array: pa.Array) -> pa.Array | None:
    """Return an array of text in which every value is valid JSON, as `string`; None for other arrays.

    >>> json_texts(pa.array(['{"a": 1}', None])).to_pylist(), json_texts(pa.array(["x"]))
    (['{"a": 1}', None], None)
    """
    if array.type not in (pa.string(), pa.large_string(), pa.string_view()):
        return None
    return array.cast(pa.string()) if all(is_json(value) for value in array.to_pylist() if value is not None) else None
