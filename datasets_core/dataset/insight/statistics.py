"""Column statistics of `describe`, computed block by block in bounded memory."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.dataset.insight.describe import ColumnSummary, Histogram, Lengths, Summary, kind_of_feature
from datasets_core.features.base import FeatureType
from datasets_core.features.types import ClassLabel

# The number of distinct values of a column: counted exactly up to a limit, estimated from hashes beyond it.


Hashes: TypeAlias = npt.NDArray[np.uint64]

EXACT_LIMIT = 10_000
_KEPT = 4096  # smallest hashes: the estimate is off by 1/sqrt(_KEPT), 1.6 %, one time in three
_WIDE_BYTES = 2048  # texts that are longer on average are not kept for counting
_SHORT_WORDS = 8  # of eight bytes: texts up to this length are hashed all at a time, longer ones by their checksums
_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class Distinct:
    """Counts the distinct values of a column that is passed array by array.

    >>> seen = Distinct()
    >>> seen.add(pa.array(["a", "b", "a"]))
    >>> seen.number, seen.is_exact, seen.counts
    (2, True, {'a': 2, 'b': 1})
    """

    def __init__(self) -> None:
        self.counts: dict[Any, int] | None = {}
        """Count of each value; None if there are too many."""
        self._hashes: Hashes = np.zeros(0, dtype=np.uint64)
        self._border = np.uint64(0xFFFFFFFFFFFFFFFF)

    @property
    def is_exact(self) -> bool:
        """True if `number` is counted, not estimated."""
        return self.counts is not None

    @property
    def number(self) -> int:
        """Return the number of distinct values."""
        if self.counts is not None:
            return len(self.counts)
        if len(self._hashes) < _KEPT:
            return len(self._hashes)
        return round((_KEPT - 1) / (float(self._hashes[-1]) / 2.0**64))

    def add(self, values: pa.Array) -> None:
        """Count values, none of them null."""
        if not len(values):
            return
        if self.counts is not None:
            if not _is_wide(values):
                found = pc.value_counts(values)
                if len(found) <= EXACT_LIMIT and self._count(found):
                    return
            self._give_up(values.type)
        self._keep(hashes(values))

    def _count(self, found: pa.StructArray) -> bool:
        counts = self.counts
        assert counts is not None
        for value, times in zip(found.field(0).to_pylist(), found.field(1).to_pylist(), strict=True):
            counts[value] = counts.get(value, 0) + times
        return len(counts) <= EXACT_LIMIT

    def _give_up(self, arrow_type: pa.DataType) -> None:
        counted, self.counts = self.counts, None
        if counted:
            self._keep(hashes(pa.array(list(counted), type=arrow_type)))

    def _keep(self, found: Hashes) -> None:
        low = found[found <= self._border]
        if len(low):
            merged = np.sort(np.concatenate([self._hashes, low]))
            self._hashes = merged[np.flatnonzero(np.diff(merged, prepend=~merged[:1]))][:_KEPT]  # quicker than np.unique
            if len(self._hashes) == _KEPT:
                self._border = self._hashes[-1]


def _is_wide(values: pa.Array) -> bool:
    return not _is_fixed(values.type) and bool(values.nbytes > _WIDE_BYTES * len(values))


def _is_fixed(arrow_type: pa.DataType) -> bool:
    return any(is_kind(arrow_type) for is_kind in (pa.types.is_primitive, pa.types.is_decimal))


def hashes(values: pa.Array) -> Hashes:
    """Return a hash of 64 bits for each value, the same in every process; values are numbers, times, texts or bytes without
    nulls.

    A text is hashed by its words of eight bytes; one above 64 bytes by its length, its first word and its checksum.
    """
    if _is_fixed(values.type):
        return _mixed(_words(values))
    return _text_hashes(values)


def _words(values: pa.Array) -> Hashes:
    """Return fixed-width values as words, which are equal if the values are."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    elif pa.types.is_decimal(values.type):
        values = values.cast(pa.float64())
    width = values.type.bit_width // 8
    data = np.frombuffer(values.buffers()[1], dtype=f"u{width}", offset=values.offset * width, count=len(values))
    return data.astype(np.uint64)


def _mixed(words: Hashes) -> Hashes:
    """Return the finalizer of splitmix64."""
    words = words + _ODD
    words ^= words >> np.uint64(30)
    words *= _MIXERS[0]
    words ^= words >> np.uint64(27)
    words *= _MIXERS[1]
    words ^= words >> np.uint64(31)
    return words


def _text_hashes(values: pa.Array) -> Hashes:
    is_large = pa.types.is_large_string(values.type) or pa.types.is_large_binary(values.type)
    if not (is_large or pa.types.is_string(values.type) or pa.types.is_binary(values.type)):
        values, is_large = values.cast(pa.large_binary()), True
    _, offset_buffer, data = values.buffers()
    dtype = np.dtype(np.int64 if is_large else np.int32)
    offsets = np.frombuffer(offset_buffer, dtype=dtype, offset=values.offset * dtype.itemsize, count=len(values) + 1)
    base = int(offsets[0])
    starts, lengths = offsets[:-1].astype(np.int64) - base, np.diff(offsets).astype(np.int64)
    used = int(offsets[-1]) - base
    padded = np.zeros(used + 8, dtype=np.uint8)
    if used:
        padded[:used] = np.frombuffer(data, dtype=np.uint8, offset=base, count=used)
    words = np.ndarray(used + 1, dtype="<u8", buffer=padded, strides=(1,))  # the eight bytes from each place on
    found = lengths.astype(np.uint64)
    is_short = lengths <= 8 * _SHORT_WORDS
    for number in range(_SHORT_WORDS):
        at = np.flatnonzero(is_short & (lengths > 8 * number))
        if not len(at):
            break
        unused = (8 - np.minimum(lengths[at] - 8 * number, 8)).astype(np.uint64) << np.uint64(3)  # bits, of the text behind
        folded = (words[starts[at] + 8 * number] << unused) ^ found[at]
        folded *= _ODD
        folded ^= folded >> np.uint64(32)
        found[at] = folded
    at = np.flatnonzero(~is_short)
    if len(at):
        read, rests = padded.data, zip(starts[at].tolist(), (starts + lengths)[at].tolist(), strict=True)
        sums = np.array([zlib.crc32(read[start:end]) for start, end in rests], dtype=np.uint64)
        found[at] = _mixed(found[at] ^ words[starts[at]]) ^ sums
    return _mixed(found)


_MOST_FREQUENT = 50  # values whose frequencies are kept, where there are more
_MEDIA_FIELDS = {"bytes", "path"}  # of the struct that pictures, sounds, … are stored as


def summarized(
    features: Mapping[str, FeatureType],
    schema: pa.Schema,
    blocks: Callable[[], Iterable[pa.RecordBatch]],
    bins: int,
    *,
    bins_lengths: bool = False,
) -> Summary:
    """Return the summary of the columns `features`.

    Args:
        schema: schema of the blocks.
        blocks: returns an iterator from the first block at each call; it is called a second time only if a histogram needs it.
        bins: number of bins of each histogram.
        bins_lengths: True to make histograms of lengths too, of columns whose values are not counted one by one.
    """
    parts = [part for name, feature in features.items() for part in _parts(feature, schema.field(name).type, (name,))]
    num_rows = 0
    for block in blocks():
        num_rows += block.num_rows
        for part in parts:
            part.add(_at(block, part.path))
    if num_rows:
        unfinished = [part for part in parts if part.begin_histogram(bins, bins_lengths)]
        for block in blocks() if unfinished else ():
            for part in unfinished:
                part.add_to_histogram(_at(block, part.path))
    return Summary(num_rows, tuple(part.summary() for part in parts))


def _parts(feature: FeatureType, arrow_type: pa.DataType, path: tuple[str, ...]) -> Iterator[_Part]:
    """Yield the parts of a column to describe: itself, then each field of a struct."""
    yield _Part(path, feature, arrow_type)
    if isinstance(feature, dict) and pa.types.is_struct(arrow_type):
        for name, inner in feature.items():
            yield from _parts(inner, arrow_type.field(name).type, (*path, name))


def _at(block: pa.RecordBatch, path: Sequence[str]) -> pa.Array:
    values = block.column(block.schema.get_field_index(path[0]))
    for name in path[1:]:
        values = pc.struct_field(values, [values.type.get_field_index(name)])
    return values


class _Part:
    """Running statistics of a column, or of a field of one."""

    def __init__(self, path: tuple[str, ...], feature: FeatureType, arrow_type: pa.DataType) -> None:
        self.path, self.feature = path, feature
        self._nulls = self._nans = 0
        self._type = _plain_type(arrow_type)
        self._is_time = pa.types.is_temporal(self._type) and not pa.types.is_interval(self._type)
        is_label, is_number = isinstance(feature, ClassLabel), _is_number(self._type)
        is_text = _is_text(self._type)
        self._distinct = Distinct() if is_number or is_text or self._is_time or pa.types.is_boolean(self._type) else None
        self._moments = _Moments() if (is_number or self._is_time) and not is_label else None
        self._measure = _measure(feature, self._type)
        self._lengths = _Moments()
        self._scale: Scale | None = None
        self._length_scale: Scale | None = None

    # -- adding up -----------------------------------------------------------------------------------------------------

    def add(self, values: pa.Array) -> None:
        """Add a block."""
        if pa.types.is_null(values.type):
            self._nulls += len(values)
            return
        self._nulls += values.null_count
        if self._measure is not None:
            lengths = _without_nulls(self._measure[0](values))
            self._lengths.add(_numbers(lengths))
        if self._distinct is None:
            return
        values = self._usable(values)
        self._distinct.add(values)
        if self._moments is not None:
            self._moments.add(_numbers(values))

    def _usable(self, values: pa.Array) -> pa.Array:
        """Return the values, without nulls and NaNs, in a type that is computed with; times as integers."""
        if values.type != self._type:  # first: pyarrow does not filter every type
            values = pc.cast(values, self._type)
        values = _without_nulls(values)
        if self._is_time:
            return values.view(pa.int32() if self._type.bit_width == 32 else pa.int64())
        if pa.types.is_floating(self._type):
            numbers = _numbers(values) + 0  # so that -0.0 is 0.0
            is_nan = np.isnan(numbers)
            found = int(np.count_nonzero(is_nan))
            self._nans += found if self._scale is None else 0
            return _as_arrow(numbers[~is_nan] if found else numbers)
        return values

    def begin_histogram(self, bins: int, bins_lengths: bool) -> bool:
        """Set up the histogram; return True if a second pass over the rows is needed to fill it."""
        if bins_lengths and self._measure is not None and self._lengths.finite is not None:
            self._length_scale = Scale(*self._lengths.finite, bins)
        return self._begin_of_values(bins) or self._length_scale is not None

    def _begin_of_values(self, bins: int) -> bool:
        moments = self._moments
        if moments is None or self._distinct is None or moments.finite is None or bins < 1:
            return False
        self._scale = Scale(*moments.finite, bins, is_whole=self._is_time)
        if self._distinct.counts is None:
            return True
        counts = self._distinct.counts
        values = [value for value in counts if not isinstance(value, float) or math.isfinite(value)]
        if values:
            kind = float if not all(type(value) is int for value in values) else None
            self._scale.add(np.array(values, dtype=kind), np.array([counts[value] for value in values]))
        return False

    def add_to_histogram(self, values: pa.Array) -> None:
        """Add a block in the second pass."""
        if self._length_scale is not None and self._measure is not None and not pa.types.is_null(values.type):
            self._length_scale.add(_numbers(_without_nulls(self._measure[0](values))))
        if self._scale is None or self._distinct is None or self._distinct.counts is not None:
            return
        numbers = _numbers(self._usable(values))
        self._scale.add(numbers[np.isfinite(numbers)] if numbers.dtype.kind == "f" else numbers)

    # -- result --------------------------------------------------------------------------------------------------------

    def summary(self) -> ColumnSummary:
        """Return the statistics."""
        moments, distinct = self._moments, self._distinct
        is_number = moments is not None and not self._is_time
        return ColumnSummary(
            name=".".join(self.path),
            kind=kind_of_feature(self.feature),
            nulls=self._nulls,
            nans=self._nans if pa.types.is_floating(self._type) else None,
            distinct=None if distinct is None else distinct.number,
            is_distinct_exact=distinct is None or distinct.is_exact,
            min=None if moments is None else self._value(moments.low),
            max=None if moments is None else self._value(moments.high),
            mean=moments.mean if moments is not None and is_number and moments.count else None,
            std=moments.std if moments is not None and is_number else None,
            lengths=self._length_summary(),
            histogram=self._histogram(),
            frequencies=self._frequencies(),
        )

    def _value(self, number: Any) -> Any:
        if number is None or not self._is_time:
            return number
        return time_value(math.floor(number), self._type)

    def _length_summary(self) -> Lengths | None:
        found = self._lengths
        if self._measure is None or not found.count:
            return None
        scale = self._length_scale
        spread = None if scale is None else Histogram(tuple(scale.edges), tuple(scale.counts.tolist()))
        return Lengths(self._measure[1], found.low, found.mean, found.high, spread)

    def _histogram(self) -> Histogram | None:
        if self._scale is None:
            return None
        return Histogram(tuple(map(self._value, self._scale.edges)), tuple(self._scale.counts.tolist()))

    def _frequencies(self) -> tuple[tuple[Any, int], ...] | None:
        counts = None if self._distinct is None or self._moments is not None else self._distinct.counts
        if counts is None:
            return None
        named: dict[Any, int] = {}
        if isinstance(self.feature, ClassLabel):
            names = self.feature.names
            for code, times in counts.items():
                name = names[code] if 0 <= code < len(names) else str(code)
                named[name] = named.get(name, 0) + times
            for name in names[: max(0, _MOST_FREQUENT - len(named))]:
                named.setdefault(name, 0)
        else:
            named = counts
        return tuple(sorted(named.items(), key=lambda item: -item[1])[:_MOST_FREQUENT])


class _Moments:
    """Count, bounds, mean and deviation of numbers."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = self._squares = 0.0
        self.low: Any = None
        self.high: Any = None
        self.finite: tuple[Any, Any] | None = None
        """The lowest and the highest number that is not infinite."""

    @property
    def std(self) -> float | None:
        """The deviation of a sample: None for less than two numbers."""
        return math.sqrt(self._squares / (self.count - 1)) if self.count > 1 else None

    def add(self, numbers: npt.NDArray[Any]) -> None:
        """Add numbers, none of them NaN."""
        if not len(numbers):
            return
        low, high = numbers.min().item(), numbers.max().item()
        self.low, self.high = _lower(self.low, low), _higher(self.high, high)
        if math.isinf(low) or math.isinf(high):
            finite = numbers[np.isfinite(numbers)]
            low, high = (finite.min().item(), finite.max().item()) if len(finite) else (None, None)
        if low is not None:
            before = self.finite or (low, high)
            self.finite = (_lower(before[0], low), _higher(before[1], high))
        with np.errstate(all="ignore"):  # the mean of infinities is NaN, and squares may overflow
            wide = numbers.astype(np.float64, copy=False)
            mean = float(wide.mean())
            wide = wide - mean
            wide *= wide  # no np.dot: BLAS would start its threads, at ten times the cost
            squares = float(wide.sum())
            count = self.count + len(numbers)
            step = np.float64(mean) - self.mean
            self._squares = float(self._squares + squares + step * step * (self.count * len(numbers) / count))
            self.mean = float(self.mean + step * (len(numbers) / count))
        self.count = count


def _lower(one: Any, other: Any) -> Any:
    return other if one is None else min(one, other)


def _higher(one: Any, other: Any) -> Any:
    return other if one is None else max(one, other)


class Scale:
    """Bins of equal width between two numbers, with the count of numbers in each.

    Args:
        low, high: the lowest and the highest number.
        bins: number of bins; at most one for each integer.
        is_whole: True for edges that are integers, as those of times.

    >>> scale = Scale(0, 9, 3)
    >>> scale.edges, scale.places(np.array([0, 2, 3, 9])).tolist()
    ([0.0, 3.0, 6.0, 9], [0, 0, 1, 2])
    """

    def __init__(self, low: Any, high: Any, bins: int, *, is_whole: bool = False) -> None:
        if isinstance(low, int) and high - low < bins:
            bins, self.edges = high - low + 1, [low + number for number in range(high - low + 2)]
        elif isinstance(low, int):
            self.edges = [low + (high - low) * number / bins for number in range(bins)] + [high]
            if is_whole:
                self.edges = [low + (high - low) * number // bins for number in range(bins)] + [high]
        elif low == high:
            bins, self.edges = 1, [low, high]
        else:
            self.edges = [low * (1 - number / bins) + high * (number / bins) for number in range(bins + 1)]
        self.counts: npt.NDArray[np.int64] = np.zeros(bins, dtype=np.int64)
        self._low, self._span = low, float(self.edges[-1]) - float(low)

    def add(self, numbers: npt.NDArray[Any], weights: npt.NDArray[Any] | None = None) -> None:
        """Add finite numbers, each once or as often as its weight."""
        self.counts += np.bincount(self.places(numbers), weights, len(self.counts)).astype(np.int64)

    def places(self, numbers: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Return the number of the bin of each number; those beyond the ends are in the outermost bins."""
        bins = len(self.counts)
        wide = numbers.astype(np.float64, copy=False)
        with np.errstate(all="ignore"):
            found = (wide - float(self._low)) * (bins / self._span if self._span else 0.0)
            np.nan_to_num(found, copy=False)
            places = np.clip(found, 0, bins - 1, out=found).astype(np.int64)
            edges = np.array(self.edges, dtype=np.float64)
            places -= (wide < edges[places]) & (places > 0)  # the arithmetic is off by one bin where a number is at an edge
            places += (wide >= edges[places + 1]) & (places < bins - 1)
        return places


# -- arrays ------------------------------------------------------------------------------------------------------------


def _without_nulls(values: pa.Array) -> pa.Array:
    return values.drop_null() if values.null_count else values


def _numbers(values: pa.Array) -> npt.NDArray[Any]:
    """Return numbers without nulls as a numpy array over the same memory."""
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64(), safe=False)
    dtype = np.dtype(values.type.to_pandas_dtype())
    return np.frombuffer(values.buffers()[1], dtype=dtype, offset=values.offset * dtype.itemsize, count=len(values))


def _as_arrow(numbers: npt.NDArray[Any]) -> pa.Array:
    # `pa.array(ndarray)` would import pandas where it is installed: 0.3 s
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, pa.py_buffer(numbers)])


def _plain_type(arrow_type: pa.DataType) -> pa.DataType:
    """Return the type in which values are computed."""
    if pa.types.is_dictionary(arrow_type) or pa.types.is_run_end_encoded(arrow_type):
        return _plain_type(arrow_type.value_type)
    if pa.types.is_float16(arrow_type):
        return pa.float32()
    if arrow_type in (pa.string_view(), pa.binary_view()):
        return pa.large_string() if arrow_type == pa.string_view() else pa.large_binary()
    return arrow_type


def _is_number(arrow_type: pa.DataType) -> bool:
    return any(is_kind(arrow_type) for is_kind in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal))


def _is_text(arrow_type: pa.DataType) -> bool:
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(is_kind(arrow_type) for is_kind in kinds) or pa.types.is_fixed_size_binary(arrow_type)


def _measure(feature: FeatureType, arrow_type: pa.DataType) -> tuple[Callable[[pa.Array], pa.Array], str] | None:
    """Return a function for the lengths of values, and their unit; None for types without lengths."""
    if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type):
        return (lambda values: pc.utf8_length(pc.cast(values, arrow_type))), "characters"
    if _is_text(arrow_type):
        return (lambda values: pc.binary_length(pc.cast(values, arrow_type))), "bytes"
    if pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type) or pa.types.is_fixed_size_list(arrow_type):
        return pc.list_value_length, "items"
    if is_media(feature, arrow_type):
        return (lambda values: pc.binary_length(pc.struct_field(values, [arrow_type.get_field_index("bytes")]))), "bytes"
    return None


def numbers_of(
    values: pa.Array, feature: FeatureType, *, are_lengths: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """Return the numbers of a column (times as integers) or the lengths of its values, and a mask of these values; None for
    all.
    """
    arrow_type = _plain_type(values.type)
    measure = _measure(feature, arrow_type) if are_lengths else None
    found = values if values.type == arrow_type else pc.cast(values, arrow_type)
    found = found if measure is None else measure[0](found)
    has_one = None if not found.null_count else ~found.is_null().to_numpy(zero_copy_only=False)
    found = _without_nulls(found)
    if pa.types.is_temporal(found.type):
        found = found.view(pa.int32() if found.type.bit_width == 32 else pa.int64())
    return _numbers(found), has_one


def number_of(value: Any, arrow_type: pa.DataType) -> Any:
    """Return a bound of a column as the number that it is computed with: the inverse of `time_value`.

    >>> import datetime
    >>> number_of(datetime.date(1970, 1, 3), pa.date32())
    2
    """
    return pa.scalar(value, arrow_type).value if pa.types.is_temporal(arrow_type) else value


def is_media(feature: FeatureType, arrow_type: pa.DataType) -> bool:
    """Return True if the column holds images, audio or other files, stored as bytes and path."""
    if isinstance(feature, dict) or not pa.types.is_struct(arrow_type):
        return False
    return {field.name for field in arrow_type} == _MEDIA_FIELDS


def time_value(number: int, arrow_type: pa.DataType) -> Any:
    """Return an integer of a column of times as a time; nanoseconds are cut off."""
    width = pa.int32() if arrow_type.bit_width == 32 else pa.int64()
    values = pa.array([number], type=width).view(arrow_type)
    if getattr(arrow_type, "unit", None) == "ns":  # Python times have none, and pyarrow would import pandas
        coarse = pa.time64("us") if pa.types.is_time(arrow_type) else None
        coarse = coarse or (pa.duration("us") if pa.types.is_duration(arrow_type) else pa.timestamp("us", arrow_type.tz))
        values = values.cast(coarse, safe=False)
    try:
        return values[0].as_py()
    except (ValueError, OverflowError):  # a year that Python does not have
        return str(values[0])
