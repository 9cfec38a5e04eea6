"""A column for each dtype, and rows that try them: values, zeros and nothing."""

import datetime
import decimal

import datasets

_DTYPES = [
    "null", "bool", "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float", "float16", "float32", "float64", "double", "string", "large_string", "binary", "large_binary",
    "timestamp[s]", "timestamp[ms]", "timestamp[us]", "timestamp[ns]", "timestamp[us, tz=UTC]", "timestamp[s, tz=Europe/Paris]",
    "date32", "date64", "time32[s]", "time64[us]", "duration[s]", "duration[ms]", "decimal128(10, 2)",
]
_NOON = datetime.datetime(2020, 2, 29, 12, 30, 15)


def _value(dtype, turn):
    if dtype == "null":
        return None
    if dtype.startswith("bool"):
        return turn == 0
    if dtype.startswith("uint"):
        return [2 ** min(int(dtype[4:]), 63) - 1, 0][turn]
    if dtype.startswith("int"):
        return [-(2 ** (int(dtype[3:]) - 1)), 0][turn]
    if dtype in ("float", "float16", "float32", "float64", "double"):
        return [0.5, -0.0][turn]
    if "string" in dtype:
        return ["Zoë", ""][turn]
    if "binary" in dtype:
        return [b"\x00\xff", b""][turn]
    if dtype.startswith("timestamp"):
        zone = datetime.timezone.utc if "tz" in dtype else None
        return [_NOON.replace(tzinfo=zone), datetime.datetime(1970, 1, 1, tzinfo=zone)][turn]
    if dtype.startswith("date"):
        return [_NOON.date(), datetime.date(1969, 12, 31)][turn]
    if dtype.startswith("time"):
        return [_NOON.time(), datetime.time(0)][turn]
    if dtype.startswith("duration"):
        return [datetime.timedelta(days=1, seconds=2), datetime.timedelta(0)][turn]
    return [decimal.Decimal("12345678.90"), decimal.Decimal("-0.01")][turn]


class TypedValues(datasets.GeneratorBasedBuilder):
    def _info(self):
        features = {}
        for dtype in _DTYPES:
            features["a " + dtype] = datasets.Value(dtype)
            features["some " + dtype] = datasets.Sequence(datasets.Value(dtype=dtype))
        return datasets.DatasetInfo(features=datasets.Features(features))

    def _split_generators(self, dl_manager):
        return [
            datasets.SplitGenerator(name="values", gen_kwargs={"turns": [0, 1, 0]}),
            datasets.SplitGenerator(name="holes", gen_kwargs={"turns": [None, 0, None]}),
            datasets.SplitGenerator(name="nothing", gen_kwargs={"turns": [None, None]}),
        ]

    def _generate_examples(self, turns):
        for key, turn in enumerate(turns):
            row = {}
            for dtype in _DTYPES:
                value = None if turn is None else _value(dtype, turn)
                row["a " + dtype] = value
                row["some " + dtype] = None if turn is None else [value, None, value]
            yield key, row
