"""Replacement of `tensorflow` where it is not installed: its types and file functions; other names raise an error on use."""

from __future__ import annotations

import contextlib
import logging as _logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple, NoReturn

import numpy as np

from datasets_core.errors import MissingDependencyError
from datasets_core.scripting.compat import packages as _gfile
from datasets_core.scripting.modules import script_place

# `tf.int64` and its kin: names of types, which are equal to those of numpy.


_NUMBERS = (
    "bool", "complex128", "complex64", "float16", "float32", "float64", "int16", "int32", "int64", "int8",
    "uint16", "uint32", "uint64", "uint8",
)  # fmt: skip
_OTHERS = {"bfloat16": np.float32, "qint8": np.int8, "quint8": np.uint8, "resource": np.object_, "variant": np.object_}
_TEXT = "string"


class DType(str):
    """Name of a type, as in TensorFlow; equal to the corresponding type of numpy.

    >>> DType("int64") == np.int64, DType("int64") == np.dtype("int64"), DType("int64") == "int64"
    (True, True, True)
    >>> DType("string").as_numpy_dtype, DType("float32").is_floating, DType("uint8").max
    (<class 'numpy.object_'>, True, 255)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str.__eq__(self, other)
        if not isinstance(other, (type, np.dtype)):
            return False
        if self == _TEXT:
            return other in (str, bytes, object, np.str_, np.bytes_, np.object_)
        try:
            return np.dtype(other) == self.as_numpy_dtype
        except TypeError:
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    @property
    def name(self) -> str:
        """The name, as plain text."""
        return str(self)

    @property
    def as_numpy_dtype(self) -> type:
        """The type of numpy; `numpy.object_` for texts."""
        found: type = np.object_ if self == _TEXT else _OTHERS.get(self.name) or np.dtype(self.name).type
        return found

    @property
    def kind(self) -> str:
        """The letter that numpy uses for the kind of values."""
        return np.dtype(self.as_numpy_dtype).kind

    @property
    def type(self) -> Any:
        """The numpy type, under the attribute name of numpy's own types."""
        return self.as_numpy_dtype

    @property
    def base_dtype(self) -> DType:
        """The type itself."""
        return self

    @property
    def is_bool(self) -> bool:
        """True if the values are true or false."""
        return self.kind == "b"

    @property
    def is_integer(self) -> bool:
        """True if the values are integers."""
        return self.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        """True if the values are unsigned integers."""
        return self.kind == "u"

    @property
    def is_floating(self) -> bool:
        """True if the values are floating point numbers."""
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        """True if the values are complex numbers."""
        return self.kind == "c"

    @property
    def is_numpy_compatible(self) -> bool:
        """True if numpy has this type."""
        return self.name not in _OTHERS

    @property
    def size(self) -> int:
        """Bytes of a value."""
        return int(np.dtype(self.as_numpy_dtype).itemsize)

    @property
    def min(self) -> Any:
        """The smallest value."""
        return np.iinfo(self.as_numpy_dtype).min if self.is_integer else np.finfo(self.as_numpy_dtype).min

    @property
    def max(self) -> Any:
        """The largest value."""
        return np.iinfo(self.as_numpy_dtype).max if self.is_integer else np.finfo(self.as_numpy_dtype).max

    @property
    def limits(self) -> tuple[Any, Any]:
        """The smallest and the largest value."""
        return self.min, self.max


TYPES = {
    **{name: DType(name) for name in (*_NUMBERS, *_OTHERS, _TEXT)},
    "double": DType("float64"),
    "half": DType("float16"),
}
"""The types by their names in TensorFlow."""


def as_dtype(given: Any) -> DType:
    """Return the type for a name, a type of numpy or one of Python.

    >>> as_dtype(np.uint8), as_dtype(str), as_dtype(float)
    (tf.uint8, tf.string, tf.float32)

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(given, DType):
        return given
    if isinstance(given, str) and given in TYPES:
        return TYPES[given]
    if given in (str, bytes, object):
        return TYPES[_TEXT]
    if given in (int, float):
        return TYPES["int32" if given is int else "float32"]  # as TensorFlow has them
    found = np.dtype(given)
    name = _TEXT if found.kind in "USO" else found.name
    if name not in TYPES:
        raise TypeError(f"{given!r} is not a TensorFlow type. Write for example tf.int64 or tf.string.")
    return TYPES[name]


def cast(value: Any, dtype: Any) -> Any:
    """Return a value of numpy in another type.

    >>> cast([1.5, 2.5], "int32")
    array([1, 2], dtype=int32)
    """
    return np.asarray(value).astype(as_dtype(dtype).as_numpy_dtype)


__version__ = "2.21.0"  # whose names these are


class Missing:
    """A name that needs TensorFlow: it may be mentioned, in annotations or as a default, but not used.

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
    """A module of TensorFlow with some names; other names are missing.

    Args:
        name: name of the module.
        known: the available names.
    """

    def __init__(self, name: str, **known: Any) -> None:
        self._tf_name = name
        vars(self).update(known)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{self._tf_name} has no {name!r}", name=name)
        from datasets_core.scripting.compat.eager import NAMES  # most scripts name types and files alone

        module = self._tf_name.replace("tf.compat.v1", "tf").replace("tf.compat.v2", "tf")
        found = NAMES.get(module, {}).get(name)
        if found is None and f"{module}.{name}" in NAMES:
            found = Names(f"{self._tf_name}.{name}")
        return Missing(f"{self._tf_name}.{name}") if found is None else found

    def __repr__(self) -> str:
        return f"<{self._tf_name}, in part>"


# -- features of tf.train.Example: kept, since scripts declare them before they read records ----------------------------------


class FixedLenFeature(NamedTuple):
    """An array of one shape."""

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """Any number of arrays of one shape."""

    shape: Any
    dtype: Any
    allow_missing: Any = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """Any number of values."""

    dtype: Any


# -- text ------------------------------------------------------------------------------------------------------------------


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Return text from text or bytes.

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
    """Return bytes from text or bytes.

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
    """Return a value of any type as text.

    >>> as_str_any(b"a"), as_str_any(1)
    ('a', '1')
    """
    return as_text(value, encoding) if isinstance(value, (bytes, bytearray)) else str(value)


def path_to_str(path: Any) -> Any:
    """Return a path as text; other values unchanged."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path


# -- modules ---------------------------------------------------------------------------------------------------------------


def get_logger() -> _logging.Logger:
    """Return the logger of TensorFlow."""
    return _logging.getLogger("tensorflow")


def executing_eagerly() -> Any:
    """Return True: values are always computed immediately."""
    return True


def enable_v2_behavior() -> None:
    """Do nothing: this behaviour is the only one."""


enable_eager_execution = disable_eager_execution = disable_v2_behavior = enable_v2_behavior


class OtherError(Exception):
    """An error of TensorFlow that is never raised here."""


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


# -- graphs and sessions that only read an iterator of a dataset ---------------------------------------------------------------


_graph: ContextVar[bool] = ContextVar("_graph", default=False)


class EagerGraph:
    """A graph in which `get_next()` of an iterator is fetched by a session; other operations are computed at once."""

    @contextlib.contextmanager
    def as_default(self) -> Iterator[EagerGraph]:
        """Enter the graph."""
        token = _graph.set(True)
        try:
            yield self
        finally:
            _graph.reset(token)


class OneShotIterator:
    """`tf.compat.v1.data.make_one_shot_iterator`: the elements of a dataset, once.

    >>> with EagerGraph().as_default(), EagerSession() as session:
    ...     element = OneShotIterator([1, 2]).get_next()
    ...     session.run(element), session.run(element)
    (1, 2)
    """

    def __init__(self, dataset: Any) -> None:
        self._elements = dataset.as_numpy_iterator() if hasattr(dataset, "as_numpy_iterator") else iter(dataset)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._elements)

    def get_next(self, name: str | None = None) -> Any:
        """Return the next element; in a graph, what a session fetches for it.

        Raises:
            OutOfRangeError: there is no other element.
        """
        return self if _graph.get() else _next(self)


def _next(elements: Iterator[Any]) -> Any:
    try:
        return next(elements)
    except StopIteration:
        raise errors.OutOfRangeError("End of sequence") from None


class EagerSession:
    """A session that fetches elements of iterators: other fetches are refused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Ignore the target, the graph and the options."""

    def __enter__(self) -> EagerSession:
        return self

    def __exit__(self, *args: object) -> None:
        return None

    def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the next element of an iterator; a numpy value, which is computed already, unchanged; None for an
        initializer of variables, since there are none.

        Raises:
            OutOfRangeError: there is no other element.
            MissingDependencyError: something else is fetched.
        """
        if isinstance(fetches, OneShotIterator):
            return _next(fetches)
        if isinstance(fetches, np.ndarray):
            return fetches.view(np.ndarray)
        return None if fetches is None else Missing("tf.compat.v1.Session.run of a graph")()


# -- messages: `tf.train.Example` and its parts -------------------------------------------------------------------------------


def _bytes_of(serialized: Any) -> bytes:
    return bytes(np.asarray(serialized).item()) if isinstance(serialized, np.ndarray) else bytes(serialized)


class _ValueList:
    def __init__(self, value: Iterable[Any] = ()) -> None:
        self.value = list(value)


class TrainFeature:
    """`tf.train.Feature`: a list of bytes, of floats, or of integers."""

    def __init__(self, bytes_list: Any = None, float_list: Any = None, int64_list: Any = None) -> None:
        lists = {"bytes_list": bytes_list, "float_list": float_list, "int64_list": int64_list}
        self._kind = next((name for name, given in lists.items() if given is not None), None)
        self.bytes_list, self.float_list, self.int64_list = (given or _ValueList() for given in lists.values())

    def WhichOneof(self, group: str) -> str | None:  # noqa: N802 - a method of protobuf
        """Return the name of the list that is set."""
        return self._kind

    def HasField(self, name: str) -> bool:  # noqa: N802 - a method of protobuf
        """Return True if that list is set."""
        return name == self._kind

    @classmethod
    def of(cls, found: Any) -> TrainFeature:
        """Return a parsed feature as a feature of TensorFlow."""
        return cls(**({} if found.kind is None else {f"{found.kind}_list": _ValueList(found.values)}))

    @property
    def plain(self) -> Any:
        """The values, for encoding."""
        kinds = {"bytes_list": object, "float_list": np.float32, "int64_list": np.int64, None: object}
        return np.array(getattr(self, self._kind or "bytes_list").value, kinds[self._kind])


class TrainFeatures:
    """`tf.train.Features`: the features of an example by name."""

    def __init__(self, feature: Mapping[str, TrainFeature] | None = None) -> None:
        self.feature = _FeatureMap(feature or {})


class _FeatureMap(dict[str, TrainFeature]):
    """A map of protobuf: an absent key gives an empty feature."""

    def __missing__(self, key: str) -> TrainFeature:
        return self.setdefault(key, TrainFeature())


class TrainExample:
    """`tf.train.Example`."""

    def __init__(self, features: TrainFeatures | None = None) -> None:
        self.features = features or TrainFeatures()

    @classmethod
    def FromString(cls, data: Any) -> TrainExample:  # noqa: N802 - a method of protobuf
        """Return the message of some bytes."""
        from datasets_core.records.wire.messages import decode_example

        return cls(TrainFeatures({key: TrainFeature.of(found) for key, found in decode_example(_bytes_of(data)).items()}))

    def ParseFromString(self, data: Any) -> int:  # noqa: N802 - a method of protobuf
        """Read the message of some bytes; return their number."""
        self.features = self.FromString(data).features
        return len(data)

    def SerializeToString(self) -> bytes:  # noqa: N802 - a method of protobuf
        """Return the bytes of the message."""
        from datasets_core.records.encoding import encode_example

        return encode_example({key: each.plain for key, each in self.features.feature.items()})


class _FeatureSteps:
    def __init__(self, feature: Sequence[TrainFeature] = ()) -> None:
        self.feature = list(feature)


class _FeatureLists:
    def __init__(self, feature_list: Mapping[str, _FeatureSteps]) -> None:
        self.feature_list = dict(feature_list)


class TrainSequenceExample:
    """`tf.train.SequenceExample`."""

    def __init__(self, context: TrainFeatures | None = None, feature_lists: Any = None) -> None:
        self.context, self.feature_lists = context or TrainFeatures(), feature_lists or _FeatureLists({})

    @classmethod
    def FromString(cls, data: Any) -> TrainSequenceExample:  # noqa: N802 - a method of protobuf
        """Return the message of some bytes."""
        from datasets_core.records.wire.messages import decode_sequence_example

        context, lists = decode_sequence_example(_bytes_of(data))
        steps = {key: _FeatureSteps([TrainFeature.of(each) for each in found]) for key, found in lists.items()}
        return cls(TrainFeatures({key: TrainFeature.of(found) for key, found in context.items()}), _FeatureLists(steps))


TRAIN: dict[str, Any] = {
    **dict.fromkeys(("BytesList", "FloatList", "Int64List"), _ValueList),
    "Feature": TrainFeature,
    "Features": TrainFeatures,
    "Example": TrainExample,
    "FeatureList": _FeatureSteps,
    "FeatureLists": _FeatureLists,
    "SequenceExample": TrainSequenceExample,
}


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
    """Return the names of this module, for its other versions."""
    names: Iterable[str] = ("DType", "as_dtype", "dtypes", "errors", "gfile", "io", "logging", "test", *others)
    return TYPES | {name: globals()[name] for name in names}


_AGAIN = ("get_logger", "executing_eagerly", "enable_v2_behavior", "enable_eager_execution", "disable_v2_behavior", *_FEATURES)
_v = _this(*_AGAIN, "__version__")
v1 = Names("tf.compat.v1", compat=Names("tf.compat", **_known), **_v)
v2 = Names("tf.compat.v2", compat=Names("tf.compat", **_known), **_v)
compat = Names("tf.compat", v1=v1, v2=v2, **_known)
tensorflow = Names("tf", compat=compat, **_v)
