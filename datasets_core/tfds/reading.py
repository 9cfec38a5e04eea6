"""`SplitReading`: splits of TFDS builders as streams in the order of TFDS; `as_numpy`, `as_dataframe`."""

from __future__ import annotations

import base64
import dataclasses
import html
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from datasets_core.building.cache_key import source_file
from datasets_core.building.prepared import RecordReading
from datasets_core.errors import ArgumentTypeError, ConfigurationError, UnknownOptionError
from datasets_core.features.base import FeatureType, List
from datasets_core.features.schema import Features
from datasets_core.features.serialization import AUDIO, kind_of
from datasets_core.features.types import ClassLabel
from datasets_core.meta.info import DatasetInfo as LibraryInfo
from datasets_core.optional import needed
from datasets_core.store.manifest import Manifest
from datasets_core.store.rows.rows import Rows
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.order.files import ReadConfig
from datasets_core.tfds.connectors import SerializedInfo
from datasets_core.tfds.decode import changed, chosen
from datasets_core.tfds.elements import as_bytes, supervised
from datasets_core.tfds.images import ImageArray
from datasets_core.tfds.info import DatasetInfo
from datasets_core.tfds.split_stream import SplitStream


class SplitReading(RecordReading):
    """Base class of builders, with or without code."""

    _seen: DatasetInfo | None = None
    _is_hosted: bool = False

    @property
    def info(self) -> DatasetInfo:
        """Metadata of the dataset."""
        assert self._seen is not None
        self._seen.place(self._seen.data_dir)  # splits may have been replaced by others, which do not know it
        return self._seen

    @info.setter
    def info(self, value: LibraryInfo) -> None:
        folder = vars(self).get("_output_dir")
        self._seen = DatasetInfo.of(value, known=self._seen, data_dir=folder)

    @property
    def data_dir(self) -> str:
        """The folder of the prepared dataset."""
        return self._output_dir

    @property
    def data_path(self) -> Any:
        """The folder of the prepared dataset, as a path."""
        from datasets_core.scripting.compat.packages import Path

        return Path(self._output_dir)

    @property
    def data_dir_root(self) -> str:
        """The folder of all datasets."""
        return self._cache_dir_root

    @property
    def code_path(self) -> Any:
        """The file of the builder's class, as a path."""
        from datasets_core.scripting.compat.packages import Path

        return Path(source_file(type(self)) or "")

    @property
    def builder_config(self) -> Any:
        """The config; None for a single unnamed config."""
        return self.config if self.builder_configs or self.config.name != "default" else None

    @property
    def _builder_config(self) -> Any:  # authors read it here, as in TFDS
        return self.builder_config

    def is_prepared(self) -> bool:
        """Return True if the dataset was built."""
        return self._found() is not None

    def _found(self) -> Manifest | None:
        raise NotImplementedError

    def _built(self) -> Manifest:
        manifest = super()._built()
        if self._is_hosted:
            plain = LibraryInfo.from_dict(manifest.info.to_dict())
            return dataclasses.replace(manifest, info=plain)
        return dataclasses.replace(manifest, info=DatasetInfo.of(manifest.info, known=self._seen, data_dir=self._output_dir))

    def shown_info(self) -> LibraryInfo:
        """See `DatasetBuilder.shown_info`; for datasets of this library, it has the library's own features."""
        return LibraryInfo.from_dict(self.info.to_dict()) if self._is_hosted else self.info.copy()

    # -- reading -------------------------------------------------------------------------------------------------------

    def as_dataset(  # type: ignore[override]
        self,
        split: Any = None,
        *,
        batch_size: int | None = None,
        shuffle_files: bool = False,
        decoders: Any = None,
        read_config: ReadConfig | None = None,
        as_supervised: bool = False,
        **library: Any,
    ) -> Any:
        """Return the rows of splits, as streams.

        Args:
            split: a name, an expression, a `ReadInstruction`, or a list, tuple or dict of these; None for a dict of all splits.
            batch_size: number of rows in a batch; -1 returns all rows as one dict of arrays.
            shuffle_files: True to read the files in random order, different in each iteration.
            decoders: columns to leave undecoded, or not to read.
            read_config: read order of files; default: 16 at a time, 16 rows of each in turn.
            as_supervised: True for tuples of the columns in `supervised_keys`.
            library: `in_memory=`, with which the library requests a `Dataset`; internal.

        Raises:
            DatasetNotFoundError: the dataset was not built.
            UnknownSplitError, EmptySplitError: a split is unknown, or has no rows.
            ConfigurationError: arguments do not fit the dataset.
        """
        if self._is_hosted:
            return super().as_dataset(split, shuffle_files=shuffle_files, read_config=read_config, **library)
        if library:
            raise UnknownOptionError(next(iter(library)), builder=self.label, known=("split", "batch_size", "read_config"))
        if read_config is not None and not isinstance(read_config, ReadConfig):
            raise ArgumentTypeError(
                f"read_config={read_config!r} is not a ReadConfig", advice="Pass a ReadConfig", value=read_config
            )
        if batch_size is not None and (not isinstance(batch_size, int) or batch_size == 0 or batch_size < -1):
            raise ConfigurationError(
                f"batch_size={batch_size!r} is not valid", advice="Pass 1 or more, or -1 for all rows at once", value=batch_size
            )
        read = super().as_dataset

        def one(part: Any) -> Any:
            stream = read(part, shuffle_files=shuffle_files, read_config=read_config or ReadConfig())
            made = self._elements(stream, decoders, as_supervised=as_supervised)
            if batch_size is None:
                return made
            return made.padded_batch(batch_size) if batch_size > 0 else next(iter(made.padded_batch(max(1, len(made)))))

        return mapped(one, {name: name for name in self._built().split_lengths()} if split is None else split)

    def as_data_source(self, split: Any = None, *, decoders: Any = None, **_: Any) -> Any:
        """Return splits with random access to rows, in stored order.

        Args:
            split: as in `as_dataset`.
            decoders: columns to leave undecoded, or not to read.
        """

        def one(rows: Any) -> Any:
            names = chosen(rows.features, decoders)
            rows = rows if decoders is None else rows.cast(Features(changed(rows.features, decoders)))
            return rows if names is None else rows.select_columns(names)

        return mapped(one, super().as_dataset(split))

    def _elements(self, stream: IterableDataset, decoders: Any, *, as_supervised: bool) -> SplitStream:
        features = stream.features or Features()
        if decoders is not None:
            names = chosen(features, decoders)
            stream = stream.cast(Features(changed(features, decoders)))
            stream = stream if names is None else stream.select_columns(names)
        keys = self.info.supervised_keys
        if not as_supervised:
            return SplitStream.of(stream)
        form = supervised(keys, stream.features or {}, dataset=self.label)
        return SplitStream.of(stream.select_columns(form.names), form)  # other columns are not read


def mapped(function: Callable[[Any], Any], nest: Any) -> Any:
    """Apply a function to each leaf of nested lists, tuples and dicts.

    >>> mapped(str, {"a": [1, (2,)]})
    {'a': ['1', ('2',)]}
    """
    if isinstance(nest, Mapping):
        return {name: mapped(function, inner) for name, inner in nest.items()}
    if isinstance(nest, (list, tuple)):
        return type(nest)(mapped(function, inner) for inner in nest)
    return function(nest)


# `as_numpy`: streams and their rows as arrays and bytes.


def as_numpy(dataset: Any) -> Any:
    """Convert streams to streams of arrays, numpy scalars and bytes, and values likewise, in any nesting.

    Args:
        dataset: a stream, rows, values, or a nesting of these.

    Returns:
        Streams for streams; numpy arrays, scalars and bytes for values, in the same nesting.

    Raises:
        ArgumentTypeError: an object has no values, for example a function.

    Example:
        >>> from datasets_core import tfds
        >>> stream = tfds.SplitStream.of(Dataset.from_dict({"a": [1, 2], "text": ["x", "y"]}).to_iterable_dataset())
        >>> next(iter(as_numpy(stream)))
        {'a': np.int64(1), 'text': b'x'}
    """
    return mapped(_one, dataset)


def _one(value: Any) -> Any:
    if isinstance(value, SplitStream):
        return value.as_numpy()
    if isinstance(value, Rows):
        return SplitStream.of(value.to_iterable_dataset()).as_numpy()  # type: ignore[attr-defined]
    if isinstance(value, IterableDataset):
        return SplitStream.of(value).as_numpy()
    if hasattr(value, "as_numpy_iterator"):
        return value.as_numpy_iterator()
    if callable(value):
        raise ArgumentTypeError(f"{value!r} has no values", advice="Pass a dataset, or values of one", value=value)
    return as_bytes(value)


class SerializedParser:
    """`tfds.core.example_parser.ExampleParser`: parses rows that TFDS serialized.

    Args:
        example_specs: the result of `get_serialized_info()` of features.
    """

    def __init__(self, example_specs: SerializedInfo) -> None:
        self._specs = example_specs

    def parse_example(self, serialized_example: Any) -> dict[str, Any]:
        """Return a row, for `decode_example` of the features."""
        return self._specs.parse(serialized_example)


def ReadFromTFDS(  # noqa: N802 - its name in TFDS
    builder: SplitReading, split: str, workers_per_shard: int = 1, **as_dataset_kwargs: Any
) -> Any:
    """Return the transform of Apache Beam for the rows of a split, as arrays, numpy scalars and bytes.

    Args:
        builder: a builder whose dataset is prepared.
        split: a name or an expression.
        workers_per_shard: ignored.
        as_dataset_kwargs: arguments of `builder.as_dataset`.

    Raises:
        MissingDependencyError: Apache Beam is not installed.
    """
    beam = needed("apache_beam", "ReadFromTFDS", "datasets_core[beam]")
    return beam.Create([split]) | beam.FlatMap(lambda part: as_numpy(builder.as_dataset(split=part, **as_dataset_kwargs)))


# `as_dataframe`: rows of a stream as a pandas frame, which shows images and audio clips in notebooks.


Show = Callable[[Any], str]
_THUMBNAIL = 128  # length in pixels of the longer side


def as_dataframe(ds: Any, ds_info: Any = None) -> Any:
    """Return the rows as a pandas frame: a column for each leaf, `outer/inner` for those in dicts, arrays and bytes as values.

    Args:
        ds: a stream of rows, or of tuples by `as_supervised=True`; it is read to the end, so limit it with take().
        ds_info: the info of the dataset, whose features determine the display in notebooks.

    Raises:
        MissingDependencyError: pandas is not installed.

    Example:
        >>> from datasets_core import tfds
        >>> as_dataframe(tfds.SplitStream.of(Dataset.from_dict({"a": [1, 2]}).to_iterable_dataset()))["a"].tolist()
        [1, 2]
    """
    pandas = needed("pandas", "as_dataframe")
    rows = [dict(_leaves("", row)) for row in as_numpy(ds)]
    columns = sorted(dict.fromkeys(name for row in rows for name in row))
    frame = pandas.DataFrame(
        {name: _series(pandas, [row.get(name) for row in rows]) for name in columns}, columns=columns or None
    )
    features = getattr(ds_info, "features", None)
    keys = getattr(ds_info, "supervised_keys", None)
    kinds = dict(_kinds("", features)) if features is not None else {}
    if rows and keys is not None and all(name.isdigit() for name in columns):  # tuples, whose names are in the info
        names = {str(place): key for place, key in enumerate(keys) if isinstance(key, str)}
        frame = frame.rename(columns=names)
    return _showing(pandas, frame, {name: _show(kind) for name, kind in kinds.items()})


def _series(pandas: Any, values: list[Any]) -> Any:
    if any(isinstance(value, (np.ndarray, bytes, list)) or value is None for value in values):
        return pandas.Series(values, dtype=object)
    return pandas.Series(values)


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for inner, part in value.items():
            yield from _leaves(f"{name}/{inner}" if name else str(inner), part)
    elif isinstance(value, tuple):
        for place, part in enumerate(value):
            yield from _leaves(f"{name}/{place}" if name else str(place), part)
    else:
        yield name or "", value


def _kinds(name: str, feature: Any) -> Iterator[tuple[str, FeatureType]]:
    if isinstance(feature, Mapping):
        for inner, part in feature.items():
            yield from _kinds(f"{name}/{inner}" if name else inner, part)
    elif isinstance(parts := feature.flatten() if hasattr(feature, "flatten") else None, Mapping):
        yield from _kinds(name, parts)
    else:
        yield name, feature


def _showing(pandas: Any, frame: Any, shows: Mapping[str, Show]) -> Any:
    """Return the frame with display functions for columns in notebooks."""

    class ShownFrame(pandas.DataFrame):  # type: ignore[misc]
        """A frame with display functions for its columns."""

        @property
        def _constructor(self) -> Any:
            return pandas.DataFrame

        def _repr_html_(self) -> str:
            names = {name: html.escape(str(name)) for name in self.columns}
            plain = pandas.DataFrame(self).rename(columns=names)
            formats = {names[name]: shows.get(name, _text) for name in names}  # all of them: nothing else is escaped
            with pandas.option_context("display.max_colwidth", None):
                found: str = plain.to_html(formatters=formats, escape=False, max_rows=pandas.get_option("display.max_rows"))
            return found

    return ShownFrame(frame)


def _show(feature: Any) -> Show:
    if isinstance(feature, ClassLabel):
        names = feature.names
        return lambda code: _text(names[int(code)] if code is not None and 0 <= int(code) < len(names) else code)
    if isinstance(feature, ImageArray):
        return _picture
    if isinstance(feature, List) and str(feature.id).startswith(AUDIO):
        rate = int(kind_of(feature).removeprefix(AUDIO).strip() or 16_000)
        return lambda samples: _sound(samples, rate)
    return _decoded if getattr(feature, "dtype", None) == "string" else _text


def _text(value: Any) -> str:
    return html.escape(str(value))


def _decoded(text: Any) -> str:
    return _text(text.decode(errors="replace") if isinstance(text, bytes) else text)


def _picture(array: Any) -> str:
    if not isinstance(array, np.ndarray) or array.ndim != 3 or array.dtype != np.uint8:
        return html.escape(repr(array)[:80])
    image = needed("PIL.Image", "Showing images", "datasets_core[vision]").fromarray(
        array[..., 0] if array.shape[2] == 1 else array
    )
    image.thumbnail((_THUMBNAIL, _THUMBNAIL))
    return f'<img src="data:image/png;base64,{_encoded(lambda file: image.save(file, "PNG"))}" alt="image" />'


def _sound(samples: Any, rate: int) -> str:
    import wave

    array = np.asarray(samples)
    array = array if array.dtype.kind == "f" else array / max(1, int(np.abs(array).max(initial=1)))
    mono = array if array.ndim == 1 else array.mean(axis=1)

    def write(file: Any) -> None:
        with wave.open(file, "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(2)
            sound.setframerate(rate)
            sound.writeframes((np.clip(mono, -1, 1) * 32767).astype("<i2").tobytes())

    return f'<audio controls src="data:audio/wav;base64,{_encoded(write)}"></audio>'


def _encoded(write: Callable[[Any], object]) -> str:
    file = io.BytesIO()
    write(file)
    return base64.b64encode(file.getvalue()).decode()
