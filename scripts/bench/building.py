"""Files and generators made into datasets."""

import hashlib
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from by_hand import read_batches, write
from context import Context, Timed, Workload, load


def _by_hand(kind: str) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        def run() -> int:
            if kind == "small":
                return write(_small_batches(context.files(kind)), context.scratch / "0.arrow")
            return sum(
                write(read_batches(kind, path), context.scratch / f"{part}.arrow")
                for part, path in enumerate(context.files(kind))
            )

        return run

    return cell


def _small_batches(paths: list[str]) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.json as pajson

    parts = []
    for path in paths:
        with open(path, "rb") as lines:
            parts.append(lines.read())
    yield from pajson.read_json(pa.BufferReader(b"".join(parts))).to_batches()


def _build(kind: str, **options: Any) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        context.library  # noqa: B018 - imported untimed; `import` is a row of its own
        return lambda: len(load(context, kind, context.scratch, **options))

    return cell


# -- rows from Python -----------------------------------------------------------------------------------------------------


def small_rows(n: int) -> Iterator[dict[str, Any]]:
    """Rows of five plain columns."""
    for i in range(n):
        yield {"id": i, "x": i * 0.5, "flag": i % 3 == 0, "cat": f"c{i % 17}", "text": f"this is row number {i}"}


def _features(library: Any) -> Any:
    value = library.Value
    return library.Features(
        {"id": value("int64"), "x": value("float64"), "flag": value("bool"), "cat": value("string"), "text": value("string")}
    )


def _from_generator(typed: bool) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        library, n = context.library, context.rows(300_000)
        features = _features(library) if typed else None
        return lambda: len(
            library.Dataset.from_generator(small_rows, gen_kwargs={"n": n}, features=features, cache_dir=str(context.scratch))
        )

    return cell


def _builder(context: Context) -> Timed:
    return _built(context, context.rows(300_000), shuffled=False)


def _shuffled_builder(rows: int) -> Callable[[Context], Timed]:
    return lambda context: _built(context, context.rows(rows), shuffled=True)  # a library without that order writes as it comes


def _built(context: Context, n: int, *, shuffled: bool) -> Timed:
    library = context.library

    class Rows(library.GeneratorBasedBuilder):  # type: ignore[misc, name-defined]
        VERSION = library.Version("1.0.0")
        shuffle_on_write = shuffled

        def _info(self) -> Any:
            return library.DatasetInfo(features=_features(library))

        def _split_generators(self, dl_manager: Any) -> Any:
            return [library.SplitGenerator(name="train", gen_kwargs={"n": n})]

        def _generate_examples(self, n: int) -> Iterator[tuple[int, dict[str, Any]]]:
            yield from enumerate(small_rows(n))

    def run() -> int:
        builder = Rows(cache_dir=str(context.scratch))
        builder.download_and_prepare()
        return len(builder.as_dataset(split="train"))

    return run


def _generated_by_hand(context: Context, *, rows: int = 300_000) -> Timed:
    import pyarrow as pa

    kinds = {"id": pa.int64(), "x": pa.float64(), "flag": pa.bool_(), "cat": pa.string(), "text": pa.string()}
    schema = pa.schema(kinds)

    def batches() -> Iterator[Any]:
        held = []
        for row in small_rows(context.rows(rows)):
            held.append(row)
            if len(held) == 10_000:
                yield pa.record_batch([pa.array([row[name] for row in held], kinds[name]) for name in kinds], schema=schema)
                held = []
        if held:
            yield pa.record_batch([pa.array([row[name] for row in held], kinds[name]) for name in kinds], schema=schema)

    return lambda: write(batches(), context.scratch / "0.arrow")


# -- reading --------------------------------------------------------------------------------------------------------------


def _checked(context: Context) -> Timed:
    context.library  # noqa: B018
    return lambda: len(load(context, "big", context.scratch, verification_mode="all_checks"))


def _checked_by_hand(context: Context) -> Timed:
    def run() -> int:
        for path in context.files("big"):
            with open(path, "rb") as source:
                hashlib.file_digest(source, "sha256")
        return sum(
            write(read_batches("big", path), context.scratch / f"{os.path.basename(path)}.arrow")
            for path in context.files("big")
        )

    return run


_KINDS = {
    "csv": "build csv, 4 files, 1 M rows",
    "jsonl": "build JSON lines, 4 files, 500 k rows",
    "nested": "build nested JSON lines, 4 files, 160 k rows",
    "parquet": "build parquet, 4 files, 1 M rows",
    "text": "build text, 4 files, 2 M lines",
    "small": "build 2,000 JSON files of 5 rows",
    "big": "build one csv file of 1.2 GB",
}

ROWS = {
    **{f"build_{kind}": Workload(title, _build(kind), _by_hand(kind), (kind,)) for kind, title in _KINDS.items()},
    "build_checked": Workload("the same, all_checks", _checked, _checked_by_hand, ("big",)),
    "generator": Workload("from_generator, 300 k rows", _from_generator(False), _generated_by_hand),
    "generator_typed": Workload("from_generator with features, 300 k rows", _from_generator(True), _generated_by_hand),
    "builder": Workload("GeneratorBasedBuilder with keys, 300 k rows", _builder, _generated_by_hand),
    "builder_shuffled": Workload("the same by the hash of its keys", _shuffled_builder(300_000), _generated_by_hand),
    "builder_shuffled_4m": Workload(
        "the same, 4 M rows", _shuffled_builder(4_000_000), partial(_generated_by_hand, rows=4_000_000)
    ),
}
