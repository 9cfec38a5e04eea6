"""Whole tables as JSON, and the side of Hugging Face `datasets` in the tests of exchange.

An interpreter that has that package runs this file; it answers requests, one line of JSON each.  Both sides write what they
find by `plain()`, so that two whole tables are compared, with the types of their values.
"""

from __future__ import annotations

import datetime as dt
import decimal
import glob
import json
import os
import sys
import traceback
from typing import Any


def plain(value: Any) -> Any:
    """A value as JSON from which value and type can be told; pandas' times count as the standard ones.

    >>> plain([1, 1.0, b"a", None])
    [1, {'float': '0x1.0000000000000p+0'}, {'bytes': '61'}, None]
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return {"float": value.hex()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, dict):
        return {"dict": [[key, plain(inner)] for key, inner in value.items()]}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, decimal.Decimal):
        return {"decimal": str(value)}
    for kind in (dt.datetime, dt.date, dt.time):
        if isinstance(value, kind):
            return {kind.__name__: value.isoformat(), "zone": str(getattr(value, "tzinfo", None))}
    if isinstance(value, dt.timedelta):
        return {"timedelta": [value.days, value.seconds, value.microseconds, getattr(value, "nanoseconds", 0)]}
    raise TypeError(f"a {type(value)}: {value!r}")


def described(dataset: Any) -> dict[str, Any]:
    """Rows and features of a dataset of either library, as JSON."""
    features = json.loads(json.dumps(dataset.features.to_dict()))
    return {"rows": [plain(row) for row in dataset], "features": features}


# -- the other side ----------------------------------------------------------------------------------------------------


def _load(datasets: Any, request: dict[str, Any]) -> Any:
    return described(datasets.load_dataset(request["kind"], data_files=request["files"], split="train"))


def _stream(datasets: Any, request: dict[str, Any]) -> Any:
    return described(datasets.Dataset.from_file(request["file"]))


def _saved(datasets: Any, request: dict[str, Any]) -> Any:
    found = datasets.load_from_disk(request["folder"])
    kinds = found if isinstance(found, dict) else {"": found}
    form = {key: value for key, value in next(iter(kinds.values())).format.items() if key != "format_kwargs"}
    return {name: described(each.with_format(None)) for name, each in kinds.items()} | {"format": form}


def _save(datasets: Any, request: dict[str, Any]) -> Any:
    """Save some rows in a format, alone and as a dictionary."""
    made = datasets.Dataset.from_dict({"a": [1, 2, 3], "s": ["x", None, "z"]}, split="train").shuffle(seed=3)
    made.with_format("arrow", columns=["s"]).save_to_disk(os.path.join(request["folder"], "one"), num_shards=2)
    group = datasets.DatasetDict({"train": made, "test": made.select([0])})
    group.save_to_disk(os.path.join(request["folder"], "group"))
    return {**described(made), "fingerprint": made._fingerprint}


def _texts(datasets: Any, request: dict[str, Any]) -> Any:
    """The bytes of csv and JSON, each column of a Parquet file alone."""
    import io

    made = datasets.Dataset.from_parquet(request["file"])
    found: dict[str, Any] = {}
    for name in made.column_names:
        for method in ("to_csv", "to_json"):
            file = io.BytesIO()
            try:
                size = getattr(made.select_columns(name), method)(file)
                found[f"{method} {name}"] = [size, file.getvalue().hex()]
            except Exception:  # bytes that are no text, and the year 1
                found[f"{method} {name}"] = None
    return found


def _info(datasets: Any, request: dict[str, Any]) -> Any:
    info = datasets.DatasetInfo.from_directory(request["folder"])
    names = ["description", "license", "builder_name", "dataset_name", "config_name", "dataset_size", "download_checksums"]
    return {
        **{name: getattr(info, name) for name in names},
        "version": str(info.version),
        "features": info.features.to_dict(),
        "splits": {name: [split.num_examples, split.num_bytes, split.shard_lengths] for name, split in info.splits.items()},
    }


def _write(datasets: Any, request: dict[str, Any]) -> Any:
    """Make the table of every kind, and write it in all ways that there are."""
    from every_kind import FORM, rows  # stands beside this file

    folder, features = request["folder"], datasets.Features.from_dict({name: FORM[name] for name in request["columns"]})
    made = datasets.Dataset.from_generator(
        lambda: ({name: row[name] for name in features} for row in rows()),
        features=features,
        cache_dir=os.path.join(folder, "cache"),
        writer_batch_size=2,
    )
    translations = [name for name, feature in features.items() if "Translation" in type(feature).__name__]
    savable = made.remove_columns(translations)  # this package fails to save these
    saved, parquet = os.path.join(folder, "saved"), os.path.join(folder, "table.parquet")
    savable.save_to_disk(saved, num_shards=2)
    made.to_parquet(parquet, batch_size=2)
    again = datasets.load_dataset("parquet", data_files=parquet, split="train")
    mapped = made.map(lambda row: row, load_from_cache_file=False)
    return {
        "cache": [described(made), _files(made)],
        "cache of parquet": [described(again), _files(again)],
        "cache of map": [described(mapped), _files(mapped)],
        "saved": [described(savable), sorted(glob.glob(os.path.join(saved, "*.arrow")))],
        "parquet": [described(again), [parquet]],
    }


def _files(dataset: Any) -> list[str]:
    return [found["filename"] for found in dataset.cache_files]


def _answer() -> None:
    import datasets

    datasets.disable_progress_bars()
    acts = {"load": _load, "stream": _stream, "info": _info, "write": _write, "saved": _saved, "save": _save, "texts": _texts}
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"found": acts[request["do"]](datasets, request)}
        except Exception:  # for the test to show
            answer = {"error": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    _answer()
