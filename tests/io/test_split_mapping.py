"""Methods that are declared by their signature: what users, editors and type checkers see of them, and what calls get."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from datasets_core import Dataset, DatasetDict, IterableDatasetDict, Value
from datasets_core._lazy import options_to

ROOT = Path(__file__).parents[2]
SPLITS = DatasetDict({name: Dataset.from_dict({"a": [3, 1, 2], "b": ["x", "y", "z"]}) for name in ("train", "test")})
STREAMS = IterableDatasetDict({name: rows.to_iterable_dataset() for name, rows in SPLITS.items()})


def test_a_call_gets_all_arguments_by_name() -> None:
    given: list[dict[str, Any]] = []

    class Declared:
        @options_to(lambda **options: given.append(options))
        def method(self, a: int, b: int = 2, *, c: int = 3, **more: int) -> None:
            """The declaration."""

    one = Declared()
    one.method(1)
    one.method(1, 5, c=6, d=7)

    assert given == [{"self": one, "a": 1, "b": 2, "c": 3}, {"self": one, "a": 1, "b": 5, "c": 6, "d": 7}]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: SPLITS.map(lambda row: row, num_procs=2), r"DatasetDict\.map\(\) .*'num_procs'"),
        (lambda: DatasetDict().sort("a", revers=True), r"DatasetDict\.sort\(\) .*'revers'"),
        (lambda: STREAMS.shuffle(window=3), r"IterableDatasetDict\.shuffle\(\) .*'window'"),
        (lambda: SPLITS.cast_column("a"), r"DatasetDict\.cast_column\(\) .*'feature'"),
        (lambda: SPLITS.unique("a", "b"), r"DatasetDict\.unique\(\) too many positional"),
        (lambda: SPLITS.push_to_hub("org/name", splits="x"), r"push_to_hub\(\) .*'splits'"),
        (lambda: SPLITS["train"].push_to_hub("org/name", "en", message="x"), r"push_to_hub\(\) .*'message'"),
        (lambda: SPLITS["train"].to_iterable_dataset().push_to_hub(), r"push_to_hub\(\) .*'repo_id'"),
    ],
)
def test_a_wrong_argument_is_named_with_the_function(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        call()


def test_a_traceback_names_the_declared_method() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        SPLITS.map(lambda row: {"c": row["a"] // 0})

    names = [entry.name for entry in caught.traceback]
    assert "map" in names[1:3] and "call" not in names


def test_arguments_may_be_given_by_position() -> None:
    assert SPLITS.sort("a", True)["test"]["a"][:] == [3, 2, 1]
    assert SPLITS.map(lambda row, number, split: {"c": f"{split}{number}"}, True, False, True)["test"][1]["c"] == "test1"
    assert SPLITS.cast_column("a", Value("string"))["train"][0]["a"] == "3"
    assert list(STREAMS.filter(lambda row, number: number == 1, True)["test"]) == [{"a": 1, "b": "y"}]


def test_what_one_split_refuses_is_done_to_none() -> None:
    splits = DatasetDict({"train": SPLITS["train"].with_format(None), "test": SPLITS["test"].remove_columns("a")})
    with pytest.raises(KeyError):
        splits.set_format("numpy", columns=["a"])
    assert splits["train"].format["type"] is None


@pytest.mark.parametrize("kind", [DatasetDict, IterableDatasetDict])
def test_help_shows_the_parameters_and_what_is_said_of_the_rows_of_a_split(kind: Any) -> None:
    shown = pydoc.plain(pydoc.render_doc(kind.map))

    assert f"{kind.__name__}.map = map(self, function" in shown.replace("\n", " ") or "map(self, function" in shown
    assert f"`{kind._kind.__name__}.map`" in shown
    said = re.search(r"^ {4}batched: .*?(?=^ {4}batch_size: )", inspect.getdoc(kind._kind.map), re.DOTALL | re.MULTILINE)
    assert said is not None and said[0] in inspect.getdoc(kind.map) and said[0].splitlines()[1] in shown


PROGRAM = """
from typing import assert_type

from datasets_core import Dataset, DatasetDict, Features, IterableDataset, IterableDatasetDict, Value, load_from_disk

rows = Dataset.from_dict({"a": [1]})
splits = DatasetDict({"train": rows})
streams = IterableDatasetDict({"train": rows.to_iterable_dataset()})
assert_type(splits["train"], Dataset)
assert_type(streams["train"], IterableDataset)
assert_type(splits.map(lambda row: row, True, num_proc=2, on_mixed_types="use_json"), DatasetDict)
assert_type(splits.shuffle(seed=1).sort("a", True).flatten_indices(), DatasetDict)
assert_type(splits.rename_column("a", "b").cast(Features({"b": Value("string")})), DatasetDict)
assert_type(splits.num_rows, dict[str, int])
assert_type(splits.cleanup_cache_files(), dict[str, int])
assert_type(streams.map(lambda row: row, num_workers=2).select_columns("a"), IterableDatasetDict)
assert_type(DatasetDict.from_csv({"train": "a.csv"}, sep=";"), DatasetDict)
assert_type(Dataset.from_parquet("a.parquet", columns=["a"]), Dataset)
assert_type(IterableDataset.from_json("a.json", field="rows"), IterableDataset)
assert_type(rows.to_iterable_dataset().to_csv("a.csv", num_shards=2), int)
rows.push_to_hub("org/name", "en", None, "train", private=True)
splits.push_to_hub("org/name", "en", num_shards={"train": 2})
"""
WRONG = [
    "splits.map(lambda row: row, num_procs=2)",
    'splits.sort("a", reverse="yes")',
    "splits.shuffle(1, 2, 3, 4, 5, 6, 7, 8)",
    "streams.filter(lambda row: True, batch_sizes=1)",
    'splits.push_to_hub("org/name", split="train")',
    "rows.push_to_hub()",
    "DatasetDict.from_csv()",
    'Dataset.from_text("a.txt", sample_by=1)',
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("checker", "options"),
    [("mypy", ["--strict", "--no-error-summary", "--config-file", str(ROOT / "pyproject.toml")]), ("pyright", [])],
)
def test_type_checkers_see_the_signatures(tmp_path: Path, checker: str, options: list[str]) -> None:
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + "\n".join(WRONG) + "\n", encoding="utf-8")

    done = subprocess.run([sys.executable, "-m", checker, *options, str(program)], capture_output=True, text=True, check=False)

    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if "program.py:" in line and "error" in line}
    first = len(PROGRAM.splitlines()) + 1
    assert found == set(range(first, first + len(WRONG))), done.stdout + done.stderr
