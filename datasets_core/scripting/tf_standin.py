"""`tensorflow` where it is not installed: its types and file functions; all else says, when it is used, that it is missing."""

from __future__ import annotations

import logging as _logging
import os
from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

from datasets_core.errors import MissingDependencyError
from datasets_core.scripting import gfile as _gfile
from datasets_core.scripting.calling_script import script_place
from datasets_core.scripting.tf_dtypes import TYPES, DType, as_dtype

__version__ = "2.21.0"  # whose names these are


class Missing:
    """A name of TensorFlow that needs it: it may be named, in annotations or as a default, and not be used.

    >>> op = Missing("tf.data").TFRecordDataset
    >>> op
    <tf.data.TFRecordDataset, which needs tensorflow>
    >>> isinstance(3, op)
    False
    >>> op("a.tfrecord")
    Traceback (most recent call last):
    datasets_core.errors.MissingDependencyError: This code calls tf.data.TFRecordDataset and needs the package 'tensorflow', \
which is not installed. Run: pip install 'tensorflow'
    """

    def __init__(self, name: str) -> None:
        self._tf_name = name

    def __getattr__(self, name: str) -> Missing:
        if name.startswith("_"):
            raise AttributeError(f"{self!r} has no attribute {name!r}", name=name)
        return Missing(f"{self._tf_name}.{name}")

    def __repr__(self) -> str:
        return f"<{self._tf_name}, which needs tensorflow>"

    def __instancecheck__(self, instance: object) -> Any:
        return False

    def __subclasscheck__(self, other: type) -> Any:
        return False

    def __or__(self, other: Any) -> Any:  # in annotations
        return Any

    __ror__ = __or__

    def __getitem__(self, item: Any) -> Missing:  # likewise
        return self

    def __mro_entries__(self, bases: tuple[Any, ...]) -> NoReturn:
        self._refuse("derives from")

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse("calls")

    def __iter__(self) -> NoReturn:
        self._refuse("iterates over")

    def __enter__(self) -> NoReturn:
        self._refuse("enters")

    def __exit__(self, *args: object) -> None:
        return None

    def __bool__(self) -> NoReturn:
        self._refuse("looks at")

    def _refuse(self, does: str) -> NoReturn:
        raise MissingDependencyError("tensorflow", needed_for=f"{script_place()} {does} {self._tf_name} and")


class Names:
    """A module of TensorFlow of which some names are here; the others are missing.

    Args:
        name: the module's.
        known: the names that are here.
    """

    def __init__(self, name: str, **known: Any) -> None:
        self._tf_name = name
        vars(self).update(known)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{self._tf_name} has no {name!r}", name=name)
        return Missing(f"{self._tf_name}.{name}")

    def __repr__(self) -> str:
        return f"<{self._tf_name}, of which little is here>"


# -- what a feature of tf.train.Example is: kept, since scripts say it before they read any ----------------------------------


class FixedLenFeature(NamedTuple):
    """An array of one shape."""

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """Arrays of one shape, any number of them."""

    shape: Any
    dtype: Any
    allow_missing: Any = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """Values, any number of them."""

    dtype: Any


# -- text ------------------------------------------------------------------------------------------------------------------


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Text, of text or of bytes.

    >>> as_text(b"a"), as_text("a")
    ('a', 'a')

    Raises:
        TypeError: it is neither.
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Bytes, of text or of bytes.

    >>> as_bytes("a")
    b'a'

    Raises:
        TypeError: it is neither.
    """
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Text, of whatever it is.

    >>> as_str_any(b"a"), as_str_any(1)
    ('a', '1')
    """
    return as_text(value, encoding) if isinstance(value, (bytes, bytearray)) else str(value)


def path_to_str(path: Any) -> Any:
    """A path as text; anything else as it is."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path


# -- modules ---------------------------------------------------------------------------------------------------------------


def get_logger() -> _logging.Logger:
    """The logger of TensorFlow."""
    return _logging.getLogger("tensorflow")


def executing_eagerly() -> Any:
    """Whether values are computed at once: always."""
    return True


def enable_v2_behavior() -> None:
    """Nothing: there is no other behaviour."""


enable_eager_execution = disable_eager_execution = disable_v2_behavior = enable_v2_behavior


class OtherError(Exception):
    """An error of TensorFlow that nothing here raises."""


class _Parsed(ValueError):
    """Data that TensorFlow cannot parse."""


errors = Names(
    "tf.errors",
    AlreadyExistsError=FileExistsError,
    DataLossError=type("DataLossError", (OtherError,), {}),
    FailedPreconditionError=type("FailedPreconditionError", (OtherError,), {}),
    InvalidArgumentError=_Parsed,
    NotFoundError=FileNotFoundError,
    OpError=(OSError, OtherError, _Parsed),
    OutOfRangeError=type("OutOfRangeError", (OtherError,), {}),
    PermissionDeniedError=PermissionError,
    UnimplementedError=type("UnimplementedError", (OtherError,), {}),
)
_FEATURES: dict[str, Any] = {
    "FixedLenFeature": FixedLenFeature,
    "FixedLenSequenceFeature": FixedLenSequenceFeature,
    "VarLenFeature": VarLenFeature,
}
io = Names("tf.io", gfile=_gfile, **_FEATURES)
gfile = _gfile
dtypes = Names("tf.dtypes", DType=DType, as_dtype=as_dtype, **TYPES)
_known: dict[str, Any] = {"as_text": as_text, "as_bytes": as_bytes, "as_str": as_text, "as_str_any": as_str_any}
_known |= {"path_to_str": path_to_str}
test = Names("tf.test", is_gpu_available=lambda *args, **kwargs: False)


def _levels() -> dict[str, Any]:
    logger = get_logger()
    named = {name: getattr(logger, name) for name in ("debug", "info", "warning", "error", "fatal", "log")}
    levels = {name: getattr(_logging, name) for name in ("DEBUG", "INFO", "WARN", "ERROR", "FATAL")}
    return {
        **named,
        "warn": logger.warning,
        **levels,
        "set_verbosity": logger.setLevel,
        "get_verbosity": logger.getEffectiveLevel,
    }


logging = Names("tf.logging", **_levels())


def _this(*others: str) -> dict[str, Any]:
    """The names of this module, for its other versions."""
    names: Iterable[str] = ("DType", "as_dtype", "dtypes", "errors", "gfile", "io", "logging", "test", *others)
    return TYPES | {name: globals()[name] for name in names}


_AGAIN = ("get_logger", "executing_eagerly", "enable_v2_behavior", "enable_eager_execution", "disable_v2_behavior", *_FEATURES)
_v = _this(*_AGAIN, "__version__")
v1 = Names("tf.compat.v1", compat=Names("tf.compat", **_known), **_v)
v2 = Names("tf.compat.v2", compat=Names("tf.compat", **_known), **_v)
compat = Names("tf.compat", v1=v1, v2=v2, **_known)
tensorflow = Names("tf", compat=compat, **_v)
