"""`RowFormat`, and the kits of numpy, torch, jax and tensorflow: arrays of a column as batches and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, MissingDependencyError
from datasets_core.features.base import FeatureType
from datasets_core.features.formats.python import RowReader
from datasets_core.optional import is_installed, needed

if TYPE_CHECKING:
    import numpy.typing as npt

    from datasets_core.features.formats.arrays import Array, Casting
    from datasets_core.features.types import FixedShape


# The output formats of rows: their names, their arguments, and the user's choice.


_NAMES: dict[object, str | None] = {None: None, "python": None, "custom": "custom"}
_NAMES |= dict.fromkeys(["numpy", "np"], "numpy")
_NAMES |= dict.fromkeys(["torch", "pt", "pytorch"], "torch")
_NAMES |= dict.fromkeys(["tensorflow", "tf"], "tensorflow")
_NAMES["jax"] = "jax"

_ARGUMENTS: dict[str | None, tuple[str, ...]] = {
    "numpy": ("dtype", "copy"),
    "torch": ("dtype", "device", "copy", "requires_grad", "pin_memory"),
    "tensorflow": ("dtype", "device"),
    "jax": ("dtype", "device"),
    "custom": ("transform",),
}
_PACKAGES = ("torch", "tensorflow", "jax")
_GROUP = "datasets_core.formats"


class TabularFormat(NamedTuple):
    """A type of tables or data frames in which rows are returned, and which functions may return; an entry of `TABULAR`.

    Attributes:
        name: the name for `with_format(name)`.
        from_table: converts an Arrow table to a frame. Its second argument is a function that returns columns as lists of
            Python objects, if the values for users differ from the stored ones, such as images; with `arrays=True` also arrays
            of a fixed shape, each column as an extension array of pandas. The `options` follow as keyword arguments.
        to_table: converts a frame to an Arrow table.
        package: the package of the frames; rows in this format need it.
        frame: the name of their class in that package.
        aliases: other names of the format.
        options: the arguments that `with_format(name, ...)` takes.
        row: returns a frame of one row, given its number.
        finished: converts a frame as requested by further arguments of a stream's `to_<name>`, which follow as keyword
            arguments.
    """

    name: str
    from_table: Callable[..., Any]
    to_table: Callable[[Any], pa.Table]
    package: str
    frame: str = "DataFrame"
    aliases: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    row: Callable[[Any, int], Any] = lambda frame, number: frame[number : number + 1]
    finished: Callable[..., Any] | None = None

    def is_instance(self, value: object) -> bool:
        """Return True if the value is such a frame, without importing any package."""
        return any(kind.__name__ == self.frame and _root(kind) == self.package for kind in type(value).__mro__)


def _root(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def _pandas_row(frame: Any, number: int) -> Any:
    return frame.iloc[number : number + 1].reset_index(drop=True)


def _of_pandas(frame: Any) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)


def _pandas(table: pa.Table, objects: Objects) -> Any:
    import pandas as pd

    made = table.to_pandas()
    for column, values in objects(arrays=True).items():
        made[column] = pd.Series(values, index=made.index, dtype=object) if isinstance(values, list) else values
    return made


def _polars(table: pa.Table, objects: Objects) -> Any:
    import polars as pl

    columns, given = [], objects()
    for column in table.column_names:
        if column in given:
            columns.append(pl.Series(column, given[column], dtype=pl.Object))
        else:
            made: Any = pl.from_arrow(table.select([column]))
            columns.append(made.to_series())
    return pl.DataFrame(columns)


def _finished_polars(frame: Any, schema_overrides: Mapping[str, Any] | None, rechunk: bool) -> Any:
    cast = frame.cast(schema_overrides) if schema_overrides else frame
    return cast.rechunk() if rechunk else cast


def _narwhals(table: pa.Table, objects: Objects, backend: str = "pyarrow") -> Any:
    import narwhals as nw

    return nw.from_native(tabular(format_name(backend)).from_table(table, objects), eager_only=True)


TABULAR: dict[str, TabularFormat] = {
    "arrow": TabularFormat("arrow", lambda table, _: table, lambda table: table, "pyarrow", "Table", ("pa", "pyarrow")),
    "pandas": TabularFormat("pandas", _pandas, _of_pandas, "pandas", aliases=("pd",), row=_pandas_row),
    "polars": TabularFormat(
        "polars", _polars, lambda frame: frame.to_arrow(), "polars", aliases=("pl",), finished=_finished_polars
    ),
    "narwhals": TabularFormat(
        "narwhals", _narwhals, lambda frame: frame.to_arrow(), "narwhals", aliases=("nw",), options=("backend",)
    ),
}
"""Formats whose batches are one object and not columns by name: what rows come in, and what functions may return."""


def register_tabular(form: TabularFormat) -> None:
    """Register a kind of data frames: datasets and streams can return it, and functions of `map()` take and return it.

    A package that names the module of its format in the entry point group `datasets_core.formats`, under the name of the
    format, is imported when the format is requested, also in worker processes.

    Raises:
        ConfigurationError: another format has one of the names.

    For example::

        register_tabular(TabularFormat(
            "cudf", lambda table, objects: cudf.DataFrame.from_arrow(table), lambda frame: frame.to_arrow(), "cudf"))
        dataset.with_format("cudf")[:100]
    """
    for name in (form.name, *form.aliases):
        known = _NAMES.get(name)
        if name in _NAMES and known != form.name:
            raise ConfigurationError(
                f"{name!r} is already a name of the format {known or 'python'!r}",
                advice="Use another name for the new format",
                value=name,
            )
    _NAMES.update(dict.fromkeys((form.name, *form.aliases), form.name))
    TABULAR[form.name] = form


for _form in TABULAR.values():
    _NAMES |= dict.fromkeys((_form.name, *_form.aliases), _form.name)


def tabular(name: str | None) -> TabularFormat:
    """Return the tabular format of a name.

    Raises:
        ConfigurationError: no tabular format has that name.
    """
    found = TABULAR.get(str(format_name(name)))
    if found is None:
        raise ConfigurationError(
            f"Unknown tabular format {name!r}. Available formats: {', '.join(map(repr, TABULAR))}.", value=name
        )
    return found


def as_table(value: object) -> pa.Table | None:
    """Return the Arrow table of a table or data frame; None for other values.

    >>> as_table(pa.record_batch({"a": [1]})).num_rows, as_table([1]) is None
    (1, True)
    """
    if isinstance(value, pa.RecordBatch):
        return pa.Table.from_batches([value])
    form = next((form for form in TABULAR.values() if form.is_instance(value)), None)
    return None if form is None else form.to_table(value)


def format_name(type_: str | None) -> str | None:
    """Return the standard name of a format; None for plain Python.

    >>> format_name("pa"), format_name("python"), format_name("pt")
    ('arrow', None, 'torch')

    Raises:
        ConfigurationError: no format has that name.
    """
    if isinstance(type_, str) and type_ not in _NAMES:
        from importlib.metadata import entry_points  # 9 ms that a known format does without

        for point in entry_points(group=_GROUP, name=type_):
            point.load()  # registers it
    if not isinstance(type_, str | None) or type_ not in _NAMES:
        names = sorted(name for name in set(_NAMES.values()) if name is not None)
        raise ConfigurationError(
            f"Unknown row format {type_!r}. Available formats: None (plain Python), {', '.join(map(repr, names))}.", value=type_
        )
    return _NAMES[type_]


def check_format(name: str | None, kwargs: Mapping[str, Any]) -> None:
    """Raise an error for an unusable format: one whose package is missing, or with arguments that it does not take.

    Raises:
        ConfigurationError: the format does not take an argument, or `custom` is used without a function.
        MissingDependencyError: the package of the format is not installed.
    """
    form = TABULAR.get(str(name))
    known = _ARGUMENTS.get(name, ()) if form is None else form.options
    for odd in kwargs:
        if odd not in known:
            takes = f"It takes {', '.join(map(repr, known))}." if known else "Remove it."
            raise ArgumentTypeError(f"The format {name or 'python'!r} takes no argument {odd!r}. {takes}")
    if name == "custom" and not callable(kwargs.get("transform")):
        raise ConfigurationError(
            f"The format 'custom' needs a function, found {kwargs.get('transform')!r}", advice="Use set_transform(function)"
        )
    package = name if name in _PACKAGES else None if form is None else form.package
    if package is not None and not is_installed(package):
        raise MissingDependencyError(package, needed_for=f"The format {name!r}", install=_extra(package))


@dataclass(frozen=True, slots=True)
class RowFormat:
    """Output format of rows.

    Attributes:
        type: None for plain Python, else the name of a format.
        columns: the selected columns; None: all.
        is_complete: True to add the other columns after the selected ones, as plain Python.
        kwargs: options of the format.
    """

    type: str | None = None
    columns: tuple[str, ...] | None = None
    is_complete: bool = False
    kwargs: Mapping[str, Any] = field(default_factory=dict)


class Formatter(Protocol):
    """Reads rows in one format; row numbers start at 0 and must exist."""

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        ...

    def row(self, i: int, /) -> Any:
        """Return row `i`."""
        ...

    def rows(self) -> Iterator[Any]:
        """Return all rows, one by one."""
        ...

    def rows_at(self, rows: range | npt.NDArray[np.int64]) -> Any:
        """Return several rows, each separately, as a sequence."""
        ...

    def columns_at(self, rows: range | npt.NDArray[np.int64]) -> Any:
        """Return several rows as columns."""
        ...

    def stored(self, name: str) -> pa.ChunkedArray:
        """Return one column as it is stored."""
        ...


# Arrow tables as data frames.


Frame = Callable[[pa.Table], Any]
_NONE: Mapping[str, Any] = MappingProxyType({})


class Objects(Protocol):
    """Returns the columns of a table whose values are Python objects for users; see `TabularFormat`."""

    def __call__(self, *, arrays: bool = False) -> dict[str, Any]: ...


def framer(name: str, features: Mapping[str, FeatureType], reader: RowReader, options: Mapping[str, Any] = _NONE) -> Frame:
    """Return the function that converts a table to a frame in the tabular format `name`.

    Values whose user form differs from the stored form (images) are decoded, except in Arrow tables.

    Raises:
        MissingDependencyError: the package is not installed.
    """
    form = tabular(name)
    needed(form.package, f"The format {name!r}", _extra(form.package))
    return lambda table: form.from_table(table, partial(_objects, table, features, reader), **options)


def _extra(package: str) -> str:
    return f"datasets_core[{package}]" if package in (*_PACKAGES, "pandas", "polars", "narwhals") else package


def _objects(
    table: pa.Table, features: Mapping[str, FeatureType], reader: RowReader, *, arrays: bool = False
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column in table.column_names:
        feature = features.get(column)
        if column in reader.decodes:
            found[column] = _decoded(table, column, reader)
        elif arrays and getattr(feature, "ndim", None) is not None:
            from datasets_core.features.formats.pandas_arrays import array_column

            found[column] = array_column(table[column], cast("FixedShape", feature))
        elif arrays:
            from datasets_core.features.formats.arrays import STORED, extractor, shapes_of

            shapes = shapes_of(features[column])
            if shapes is not None:
                extract = extractor(table.schema.field(column).type, shapes, STORED)
                found[column] = [row for chunk in table[column].chunks for row in extract(chunk)]
    return found


def _decoded(table: pa.Table, column: str, reader: RowReader) -> list[Any]:
    read = reader.column_reader(column)
    return [value for chunk in table[column].chunks for value in read(chunk)]


class Kit(Protocol):
    """Conversion of arrays to one framework.

    Attributes:
        casting: dtypes to which arrays are cast first.
        cell_casting: the same for single numbers in a row.
    """

    casting: Casting
    cell_casting: Casting

    def batch(self, values: Array) -> Any:
        """Return a column of a batch."""
        ...

    def rows(self, values: Array) -> list[Any]:
        """Return an array of numbers as one value for each row."""
        ...

    def cell(self, value: Any) -> Any:
        """Return one value of a row."""
        ...


def kit(name: str, kwargs: Mapping[str, Any]) -> Kit:
    """Return the framework `name`, with the arguments of the format.

    Raises:
        ConfigurationError: the framework does not have a requested dtype.
    """
    kits: dict[str, Callable[..., Kit]] = {"numpy": NumpyKit, "torch": TorchKit, "jax": JaxKit, "tensorflow": TensorflowKit}
    return kits[name](**kwargs)


class NumpyKit:
    """The numpy format: int64 and float32 unless `dtype` is given; read-only views unless `copy=True`."""

    def __init__(self, dtype: Any = None, copy: bool | None = None) -> None:
        from datasets_core.features.formats.arrays import DEFAULT, STORED, Casting

        self._is_copied = bool(copy)
        self.casting, self.cell_casting = DEFAULT._replace(in_dicts=False), STORED
        if dtype is not None:
            try:
                name = np.dtype(dtype).str
            except TypeError as error:
                raise ConfigurationError(
                    f"dtype={dtype!r} is not a numpy dtype", advice="Use a dtype such as 'float32'", value=dtype
                ) from error
            self.casting = self.cell_casting = Casting(name, name, name)

    def batch(self, values: Array) -> Any:
        """See `Kit.batch`."""
        return _owned(values) if self._is_copied else values

    def rows(self, values: Array) -> list[Any]:
        """See `Kit.rows`."""
        return list(self.batch(values))

    def cell(self, value: Any) -> Any:
        """See `Kit.cell`."""
        if type(value) is str:
            return np.str_(value)
        if type(value) is bytes:
            return np.bytes_(value)
        return _owned(value) if self._is_copied else value


def _owned(value: Any) -> Any:
    """Return a value with writable arrays that share no memory with other values."""
    if isinstance(value, dict):
        return {name: _owned(inner) for name, inner in value.items()}
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype != object:
        return value if value.flags.writeable else value.copy()
    for place, inner in np.ndenumerate(value):
        if isinstance(inner, (dict, np.ndarray)):
            value[place] = _owned(inner)
    return value


class _TensorKit:
    """Base of the tensor frameworks: numbers become tensors in lists and dicts."""

    casting: Casting
    cell_casting: Casting

    def tensor(self, values: Array) -> Any:
        """Return an array of numbers or booleans as a tensor."""
        raise NotImplementedError

    def batch(self, values: Array) -> Any:
        """See `Kit.batch`."""
        return self.cell(values)

    def rows(self, values: Array) -> list[Any]:
        """See `Kit.rows`."""
        return [self.tensor(value) for value in values]

    def cell(self, value: Any) -> Any:
        """See `Kit.cell`."""
        if isinstance(value, np.ndarray):
            return self.tensor(value) if value.dtype != object else [self.cell(inner) for inner in value]
        if isinstance(value, (bool, np.bool_, np.number)):
            return self.tensor(np.asarray(value))
        if isinstance(value, dict):
            return {name: self.cell(inner) for name, inner in value.items()}
        return value


class TorchKit(_TensorKit):
    """The torch format: int64 and float32 unless `dtype` is given; a copy, unless `copy=False` shares the dataset's memory."""

    def __init__(
        self,
        dtype: Any = None,
        device: Any = None,
        copy: bool | None = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> None:
        import torch

        from datasets_core.features.formats.arrays import DEFAULT, STORED

        if isinstance(dtype, str):
            dtype = getattr(torch, dtype.removeprefix("torch."), dtype)
        if dtype is not None and not isinstance(dtype, torch.dtype):
            raise ConfigurationError(
                f"dtype={dtype!r} is not a torch dtype", advice="Use a dtype such as torch.float32", value=dtype
            )
        self._torch, self._dtype, self._device = torch, dtype, device
        self._is_shared, self._has_grad, self._is_pinned = copy is False, requires_grad, pin_memory
        self._is_plain = dtype is None and device is None and not requires_grad and not pin_memory
        self.casting = (DEFAULT if dtype is None else STORED)._replace(has_clocks=False)
        self.cell_casting = self.casting

    def tensor(self, values: Array) -> Any:
        if not values.flags.writeable:
            values = _writable(values) if self._is_shared else values.copy()
        made = self._torch.from_numpy(values)
        if self._is_plain:
            return made
        made = made.to(device=self._device, dtype=self._dtype)
        if self._is_pinned:
            made = made.pin_memory()
        return made.requires_grad_() if self._has_grad and made.is_floating_point() else made

    def rows(self, values: Array) -> list[Any]:
        return list(self.tensor(values).unbind(0))


class _Memory:
    """The memory of an array, marked as writable, so that torch accepts it without a warning."""

    def __init__(self, values: Array) -> None:
        self._kept = values
        interface = dict(values.__array_interface__)
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def _writable(values: Array) -> Array:
    return np.asarray(_Memory(values)) if values.size else values.copy()


class JaxKit(_TensorKit):
    """The jax format: int32, or int64 if jax has 64 bits enabled, and float32, unless `dtype` is given."""

    def __init__(self, dtype: Any = None, device: Any = None) -> None:
        import jax
        import jax.numpy as jnp

        from datasets_core.features.formats.arrays import DEFAULT, STORED

        if isinstance(device, str):
            known = {str(found): found for found in jax.devices()}
            if device not in known:
                raise ConfigurationError(
                    f"device={device!r} is not a jax device. Available devices: {', '.join(known)}.", value=device
                )
            device = known[device]
        self._jnp, self._device, self._dtype = jnp, device, dtype
        self._integers = np.dtype("int64" if jax.config.jax_enable_x64 else "int32")
        self.casting = (DEFAULT if dtype is None else STORED)._replace(has_clocks=False)
        self.cell_casting = self.casting

    def tensor(self, values: Array) -> Any:
        dtype = self._dtype
        if dtype is None and values.dtype.kind in "iu" and values.dtype.itemsize == 8:
            limits = np.iinfo(self._integers)
            if values.size and (values.max() > limits.max or values.min() < limits.min):
                raise CastError(
                    f"An integer does not fit {self._integers.name}, which jax uses here",
                    advice="Set jax_enable_x64, or pass a dtype",
                )
            dtype = self._integers
        return self._jnp.array(values, dtype=dtype, device=self._device)


class TensorflowKit(_TensorKit):
    """The tensorflow format: int64 and float32 unless `dtype` is given; texts become tensors, ragged lists ragged tensors."""

    def __init__(self, dtype: Any = None, device: Any = None) -> None:
        import tensorflow as tf

        from datasets_core.features.formats.arrays import DEFAULT, STORED

        try:
            self._dtype = None if dtype is None else tf.as_dtype(dtype)
        except TypeError as error:
            raise ConfigurationError(
                f"dtype={dtype!r} is not a tensorflow dtype", advice="Use a dtype such as tf.float32", value=dtype
            ) from error
        self._tf, self._device = tf, device
        self.casting = (DEFAULT if dtype is None else STORED)._replace(has_clocks=False)
        self.cell_casting = self.casting

    def tensor(self, values: Array) -> Any:
        with self._tf.device(self._device):
            made = self._tf.constant(values)
            return made if self._dtype is None else self._tf.cast(made, self._dtype)

    def cell(self, value: Any) -> Any:
        if isinstance(value, (str, bytes)):
            return self._tf.constant(value)
        made = super().cell(value)
        return self._joined(made) if isinstance(made, list) else made

    def _joined(self, values: list[Any]) -> Any:
        """Return a tensor of tensors of one dtype; it is ragged if their shapes differ."""
        tf = self._tf
        if not values or not all(tf.is_tensor(value) for value in values) or len({value.dtype for value in values}) > 1:
            return values
        is_dense = not any(isinstance(value, tf.RaggedTensor) for value in values)
        if is_dense and len({tuple(value.shape) for value in values}) == 1:
            return tf.stack(values)
        if len({len(value.shape) for value in values}) == 1 and len(values[0].shape):
            return tf.ragged.stack(values)
        return values


def of_python(value: Any, made_for: Kit) -> Any:
    """Return a decoded Python value (an image, a dict, a list of numbers) with arrays in place of numbers."""
    from datasets_core.features.formats.arrays import cast, stacked

    if isinstance(value, dict):
        return {name: of_python(inner, made_for) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        made = [of_python(inner, made_for) for inner in value]
        is_numeric = bool(made) and all(isinstance(inner, (np.number, np.bool_)) for inner in made)
        return np.array(made) if is_numeric else stacked(made)
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return np.int64(value) if -(2**63) <= value < 2**63 else value
    if isinstance(value, float):
        return np.float64(value) if made_for.casting.floats is None else np.dtype(made_for.casting.floats).type(value)
    if hasattr(value, "__array_interface__") and not isinstance(value, (np.ndarray, np.generic)):  # a PIL picture
        pixels = np.asarray(value)
        if isinstance(made_for, TorchKit):
            pixels = np.ascontiguousarray((pixels if pixels.ndim > 2 else pixels[:, :, None]).transpose(2, 0, 1))
        return pixels
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        target = made_for.casting.floats if value.dtype.kind == "f" else None
        return value if target is None else cast(value, np.dtype(target))
    return value
