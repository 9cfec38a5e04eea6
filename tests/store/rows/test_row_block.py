"""A block of rows is a sequence of dicts, of which torch's collation makes the batch again."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.store.rows.view import RowBlock

_ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_a_block_is_a_sequence_of_its_rows() -> None:
    block = RowBlock({"a": [1, 2], "b": ["x", "y"]}, 2)

    assert list(block) == _ROWS == block
    assert (len(block), block[-1], block[:1], repr(block)) == (2, _ROWS[1], _ROWS[:1], repr(_ROWS))
    assert pickle.loads(pickle.dumps(block)) == _ROWS
    with pytest.raises(IndexError):
        block[2]
    assert list(RowBlock({}, 2)) == [{}, {}]
    assert [type(row) for row in block] == [dict, dict]  # jax.tree takes a subclass of dict for a leaf


def test_code_that_copies_a_list_under_its_own_type_gets_a_list() -> None:
    block = RowBlock({"a": [1, 2]}, 2)

    copied: Any = type(block)(row for row in block)  # type: ignore[call-arg, arg-type]  # as accelerate's send_to_device does

    assert (type(copied), copied, RowBlock()) == (list, [{"a": 1}, {"a": 2}], [])  # type: ignore[call-arg]


@pytest.fixture
def dataset() -> Dataset:
    """Ten rows of numbers, texts and lists in three pieces."""
    table = pa.table({"n": list(range(10)), "t": [f"t{i}" for i in range(10)], "l": [[i, i] for i in range(10)]})
    return Dataset(pa.Table.from_batches(table.to_batches(max_chunksize=4))).with_format("torch")


@pytest.mark.optional("torch")
def test_torch_makes_of_a_block_what_it_makes_of_its_rows(dataset: Dataset) -> None:
    from torch.utils.data import default_collate

    block = dataset.__getitems__([7, 2, 5])

    for made in (default_collate(block), default_collate(list(block)), default_collate([dict(row) for row in block])):
        assert (made["n"].tolist(), made["t"], made["l"].tolist()) == ([7, 2, 5], ["t7", "t2", "t5"], [[7, 7], [2, 2], [5, 5]])


@pytest.mark.optional("torch")
@pytest.mark.parametrize("options", [{}, {"num_workers": 1, "multiprocessing_context": "fork"}])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_loader_gives_the_rows_in_batches(dataset: Dataset, options: dict[str, Any]) -> None:
    from torch.utils.data import DataLoader

    for source, wanted in [(dataset, list(range(10))), (dataset.select([9, 0, 4]), [9, 0, 4])]:
        batches = list(DataLoader(source, batch_size=4, **options))  # type: ignore[arg-type]

        assert [n for batch in batches for n in batch["n"].tolist()] == wanted
        assert [t for batch in batches for t in batch["t"]] == [f"t{i}" for i in wanted]


@pytest.mark.slow
@pytest.mark.optional("torch")
def test_a_loader_reads_in_spawned_processes(dataset: Dataset) -> None:
    from torch.utils.data import DataLoader

    loader: Any = DataLoader(dataset, batch_size=4, num_workers=1, multiprocessing_context="spawn")  # type: ignore[arg-type]

    assert [batch["n"].tolist() for batch in loader] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


_SCRIPT = """
import sys
from torch.utils.data import DataLoader
from datasets_core import Dataset, load_from_disk

def add(row):
    return {"n": row["n"] + 1}

if __name__ == "__main__":
    held = Dataset.from_dict({"n": list(range(10))})
    held.save_to_disk(sys.argv[1])
    stored = load_from_disk(sys.argv[1])
    sources = [stored.shuffle(seed=1).map(add), stored.with_format("torch")]
    for start, source in zip(["spawn", "forkserver"], sources):
        loader = DataLoader(source, batch_size=4, num_workers=1, multiprocessing_context=start)
        assert [n for batch in loader for n in batch["n"].tolist()] == source.with_format(None)["n"][:], start
    print("all read")
"""


@pytest.mark.slow
@pytest.mark.optional("torch")
def test_a_loader_in_a_script_reads_in_fresh_processes(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(_SCRIPT, encoding="utf-8")

    done = subprocess.run([sys.executable, script, tmp_path / "rows"], capture_output=True, text=True, timeout=300, check=False)

    assert "all read" in done.stdout, done.stderr


@pytest.mark.optional("torch")
def test_a_users_own_collation_sees_rows(dataset: Dataset) -> None:
    from torch.utils.data import DataLoader

    loader: Any = DataLoader(dataset, batch_size=5, collate_fn=lambda rows: [(row["t"], int(row["n"])) for row in rows])  # type: ignore[arg-type]

    assert next(iter(loader)) == [(f"t{i}", i) for i in range(5)]


@pytest.mark.optional("jax")
def test_a_collation_by_jax_stacks_the_rows(dataset: Dataset) -> None:
    import jax
    import jax.numpy as jnp

    rows = dataset.select_columns(["n", "l"]).with_format("jax").__getitems__([7, 2])

    batch = jax.tree.map(lambda *leaves: jnp.stack(leaves), *rows)
    assert (type(rows), batch["n"].tolist(), batch["l"].tolist()) == (list, [7, 2], [[7, 7], [2, 2]])


@pytest.mark.optional("torch")
def test_rows_that_a_collation_returns_can_be_sent_to_a_device(dataset: Dataset) -> None:
    from torch.utils.data import DataLoader

    loader: Any = DataLoader(dataset, batch_size=2, collate_fn=lambda rows: rows)  # type: ignore[arg-type]
    rows = next(iter(loader))

    sent = type(rows)({name: value.to("cpu") if name == "n" else value for name, value in row.items()} for row in rows)
    assert [(int(row["n"]), row["t"]) for row in sent] == [(0, "t0"), (1, "t1")]
