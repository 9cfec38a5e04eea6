"""`as_dataframe`: rows of a stream as a pandas frame, which shows pictures and sounds in notebooks."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from datasets_core.features.base import FeatureType, List
from datasets_core.features.kind_marks import AUDIO, kind_of
from datasets_core.features.labels import ClassLabel
from datasets_core.optional import needed
from datasets_core.tfds.image_arrays import ImageArray
from datasets_core.tfds.numpy_elements import as_numpy

Show = Callable[[Any], str]
_THUMBNAIL = 128  # pixels of the longer side


def as_dataframe(ds: Any, ds_info: Any = None) -> Any:
    """The rows as a pandas frame: a column for each leaf, `outer/inner` for those in dicts, arrays and bytes as values.

    Args:
        ds: a stream of rows, or of tuples by `as_supervised=True`; all of it is read: take some rows first.
        ds_info: the info of the dataset, whose features say how a notebook shows the values.

    >>> from datasets_core import tfds
    >>> as_dataframe(tfds.SplitStream.of(Dataset.from_dict({"a": [1, 2]}).to_iterable_dataset()))["a"].tolist()
    [1, 2]

    Raises:
        MissingDependencyError: pandas is not installed.
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
    if rows and keys is not None and all(name.isdigit() for name in columns):  # tuples, whose names the info knows
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
    """The frame, which in a notebook shows columns by functions of its own."""

    class ShownFrame(pandas.DataFrame):  # type: ignore[misc]
        """A frame that knows how its columns look."""

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
