"""accelerate: prepared loaders of datasets and streams, in one process and in two; skipped batches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

accelerate = pytest.importorskip("accelerate")
torch = pytest.importorskip("torch")
datasets: Any = pytest.importorskip("datasets")


@pytest.fixture
def accelerator() -> Iterator[Any]:
    yield accelerate.Accelerator(cpu=True)
    accelerate.state.AcceleratorState._reset_state(True)
    accelerate.state.GradientState._reset_state()


def numbers(kind: str, count: int = 22) -> Any:
    """Rows of numbers: a dataset, or a stream of several shards."""
    dataset = datasets.Dataset.from_dict({"n": list(range(count)), "t": [f"t{n}" for n in range(count)]})
    return dataset.with_format("torch") if kind == "rows" else dataset.to_iterable_dataset(num_shards=4).with_format("torch")


@pytest.mark.parametrize("kind", ["rows", "stream"])
@pytest.mark.parametrize("workers", [0, 2])
def test_prepared_loader_gives_what_the_loader_gives(accelerator: Any, kind: str, workers: int) -> None:
    loader = torch.utils.data.DataLoader(numbers(kind), batch_size=4, num_workers=workers)
    prepared = accelerator.prepare(loader)
    assert sorted(n for batch in prepared for n in batch["n"].tolist()) == list(range(22))
    assert [batch["t"] for batch in prepared] == [batch["t"] for batch in loader]


@pytest.mark.parametrize("kind", ["rows", "stream"])
def test_first_batches_are_skipped(accelerator: Any, kind: str) -> None:
    prepared = accelerator.prepare(torch.utils.data.DataLoader(numbers(kind), batch_size=4))
    whole = [batch["n"].tolist() for batch in prepared]
    rest = accelerate.skip_first_batches(prepared, 2)
    assert [batch["n"].tolist() for batch in rest] == whole[2:]
    plain = accelerate.skip_first_batches(torch.utils.data.DataLoader(numbers(kind), batch_size=4), 2)
    assert [batch["n"].tolist() for batch in plain] == whole[2:]


def test_epochs_of_a_prepared_loader_are_those_of_the_stream(accelerator: Any) -> None:
    stream = numbers("stream").shuffle(seed=7, buffer_size=10)
    expected = []
    for epoch in range(3):
        stream.set_epoch(epoch)
        expected.append([int(row["n"]) for row in stream])
    prepared = accelerator.prepare(torch.utils.data.DataLoader(numbers("stream").shuffle(seed=7, buffer_size=10), batch_size=4))
    found = []
    for epoch in range(3):
        prepared.set_epoch(epoch)
        found.append([n for batch in prepared for n in batch["n"].tolist()])
    assert found == expected
    assert expected[0] != expected[1] != expected[2]


@pytest.mark.parametrize("kind", ["rows", "stream"])
def test_stateful_loader_resumes(kind: str) -> None:
    pytest.importorskip("torchdata")
    configuration = accelerate.DataLoaderConfiguration(use_stateful_dataloader=True)
    accelerator = accelerate.Accelerator(cpu=True, dataloader_config=configuration)
    prepared = accelerator.prepare(torch.utils.data.DataLoader(numbers(kind), batch_size=4))
    whole = [batch["n"].tolist() for batch in prepared]
    for number, _ in enumerate(prepared):
        if number == 1:
            state = json.loads(json.dumps(prepared.state_dict(), default=lambda value: value.tolist()))
            break
    again = accelerator.prepare(torch.utils.data.DataLoader(numbers(kind), batch_size=4))
    again.load_state_dict(state)
    assert [batch["n"].tolist() for batch in again] == whole[2:]
    accelerate.state.AcceleratorState._reset_state(True)
    accelerate.state.GradientState._reset_state()


SCRIPT = """
    import json, sys
    import accelerate, datasets, torch

    modes, folder = json.loads(sys.argv[1]), sys.argv[2]
    assert "+core." in datasets.__version__
    table = {"n": list(range(24)), "x": [[float(n)] * 3 for n in range(24)]}
    found = {}
    for name, (kind, dispatch, split, workers) in modes.items():
        configuration = accelerate.DataLoaderConfiguration(dispatch_batches=dispatch, split_batches=split)
        accelerator = accelerate.Accelerator(cpu=True, dataloader_config=configuration)
        assert accelerator.num_processes == 2, accelerator.num_processes
        dataset = datasets.Dataset.from_dict(table).with_format("torch")
        if kind != "rows":
            dataset = dataset.to_iterable_dataset(num_shards=kind).with_format("torch")
        loader = torch.utils.data.DataLoader(dataset, batch_size=4, num_workers=workers, shuffle=kind == "rows")
        model = torch.nn.Linear(3, 1)
        model, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), 0.01), loader)
        epochs = []
        for epoch in range(2):
            loader.set_epoch(epoch)
            epochs.append([])
            for batch in loader:
                accelerator.backward(model(batch["x"]).mean())
                optimizer.step()
                optimizer.zero_grad()
                epochs[-1].append(batch["n"].tolist())
                assert len(accelerator.gather(batch["n"])) == 2 * len(batch["n"])
        rest = [batch["n"].tolist() for batch in accelerate.skip_first_batches(loader, 1)]
        found[name] = [epochs, rest]
        accelerator.wait_for_everyone()
    with open(f"{folder}/{accelerator.process_index}.json", "w") as file:
        json.dump(found, file)
    accelerator.end_training()
"""

MODES: dict[str, tuple[Any, bool | None, bool, int]] = {
    "rows": ("rows", None, False, 0),
    "rows, split batches": ("rows", False, True, 0),
    "rows, dispatched": ("rows", True, False, 0),
    "rows, dispatched split batches": ("rows", True, True, 0),
    "rows, by workers": ("rows", None, False, 1),
    "stream": (4, False, False, 0),  # of so many shards
    "stream, split batches": (4, False, True, 0),
    "stream, dispatched": (4, True, False, 0),
    "stream, dispatched split batches": (4, True, True, 0),
    "stream, by default": (4, None, False, 0),
    "stream, by workers": (4, False, False, 1),
    "stream of one shard": (1, False, False, 0),
}


@pytest.mark.parametrize("mode", MODES)
def test_two_processes(two_processes: list[dict[str, Any]], mode: str) -> None:
    (first, first_rest), (second, second_rest) = (found[mode] for found in two_processes)
    for one, two in zip(first, second, strict=True):
        assert len(one) == len(two)
        assert all(len(batch) == (2 if MODES[mode][2] else 4) for batch in [*one, *two])
        assert sorted(n for batch in [*one, *two] for n in batch) == list(range(24))
    assert len(first_rest) == len(second_rest)
    if mode != "rows, dispatched":  # whose process 0 skips a batch of its own, half a batch of both
        assert len(first_rest) == len(first[0]) - 1
    if not mode.startswith("rows"):  # which are shuffled anew
        assert (first_rest, second_rest) == (first[-1][1:], second[-1][1:])


def test_accelerate_launch_runs_programs_with_the_alias(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import datasets\nprint(datasets.__version__)\n")
    command = [sys.executable, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "1", "--num_machines", "1"]
    command += ["--mixed_precision", "no", "--dynamo_backend", "no", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.strip() == datasets.__version__, done.stderr


def test_its_own_program_passes_in_two_processes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "-m"]
    done = subprocess.run(
        [*command, "accelerate.test_utils.scripts.test_script"], cwd=tmp_path, capture_output=True, text=True, timeout=300,
        check=False, env={**os.environ, "ACCELERATE_USE_CPU": "true"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Test split between processes as a datasets.Dataset" in done.stdout
    assert "Hugging Face datasets is not available" not in done.stdout
