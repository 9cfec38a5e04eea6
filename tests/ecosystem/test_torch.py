"""torch and torchdata: loaders, StatefulDataLoader, and DistributedDataParallel in two processes."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
datasets: Any = pytest.importorskip("datasets")
DataLoader = torch.utils.data.DataLoader


def numbers(kind: str, count: int = 50) -> Any:
    """Rows of numbers: a dataset, a dataset in another order, a stream, a stream with steps."""
    dataset = datasets.Dataset.from_dict({"n": list(range(count)), "l": [[n, n + 1] for n in range(count)]})
    if kind == "rows":
        return dataset.with_format("torch")
    if kind == "chosen":
        return dataset.shuffle(seed=1).select(range(count)).with_format("torch")
    stream = dataset.to_iterable_dataset(num_shards=4)
    if kind == "steps":
        stream = (
            stream.shuffle(seed=3, buffer_size=16).map(lambda row: {"m": row["n"] * 2}).filter(lambda row: row["n"] % 5 != 1)
        )
    return stream.with_format("torch")


def found(loader: Any) -> list[int]:
    """The numbers that a loader gives."""
    return [n for batch in loader for n in batch["n"].tolist()]


@pytest.mark.parametrize("kind", ["rows", "chosen", "stream", "steps"])
@pytest.mark.parametrize("workers", [0, 1, 2])
def test_loader_gives_each_row_once(kind: str, workers: int) -> None:
    source = numbers(kind)
    expected = [int(row["n"]) for row in source]
    loader = DataLoader(source, batch_size=8, num_workers=workers)
    assert sorted(found(loader)) == sorted(expected)
    if workers < 2 or kind in ("rows", "chosen"):
        assert found(loader) == expected
    batch = next(iter(loader))
    assert batch["n"].dtype == torch.int64
    assert batch["l"].shape == (8, 2)


def test_random_and_weighted_samplers() -> None:
    dataset = numbers("rows")
    sampled = DataLoader(dataset, batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(0))
    assert sorted(found(sampled)) == list(range(50)) != found(sampled)
    weighted = torch.utils.data.WeightedRandomSampler([0.0] * 49 + [1.0], 6)
    assert found(DataLoader(dataset, batch_size=2, sampler=weighted)) == [49] * 6
    whole = torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler(dataset), 20, True)
    assert [len(rows["n"]) for rows in DataLoader(dataset, sampler=whole, batch_size=None)] == [20, 20]


def test_subsets_and_sums_of_torch() -> None:
    dataset = numbers("rows")
    one, two = torch.utils.data.random_split(dataset, [20, 30], torch.Generator().manual_seed(0))
    assert sorted(found(DataLoader(one, batch_size=8)) + found(DataLoader(two, batch_size=8))) == list(range(50))
    assert len(found(DataLoader(torch.utils.data.ConcatDataset([dataset, dataset]), batch_size=8))) == 100
    chained = torch.utils.data.ChainDataset([numbers("stream"), numbers("stream")])
    assert len(found(DataLoader(chained, batch_size=8))) == 100
    assert isinstance(numbers("stream"), torch.utils.data.IterableDataset)


@pytest.mark.parametrize("kind", ["rows", "chosen", "stream", "steps"])
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("shuffle", [False, True])
def test_stateful_loader_resumes(kind: str, workers: int, shuffle: bool) -> None:
    stateful = pytest.importorskip("torchdata.stateful_dataloader").StatefulDataLoader
    if shuffle and kind in ("stream", "steps"):
        shuffle = False

    def loader() -> Any:
        return stateful(
            numbers(kind), batch_size=4, num_workers=workers, shuffle=shuffle, generator=torch.Generator().manual_seed(5)
        )

    first = loader()
    whole = [batch["n"].tolist() for batch in first]
    assert sorted(n for batch in whole for n in batch) == sorted(int(row["n"]) for row in numbers(kind))
    for stop in (1, 4, len(whole) - 1):
        walked, states = loader(), []
        for _, batch in zip(range(stop), walked, strict=False):
            states.append((batch["n"].tolist(), walked.state_dict()))
        assert [batch for batch, _ in states] == whole[:stop]
        again = loader()
        again.load_state_dict(states[-1][1])
        assert [batch["n"].tolist() for batch in again] == whole[stop:]
    second = [batch["n"].tolist() for batch in first]  # the next epoch
    assert len(second) == len(whole)


SCRIPT = """
    import json, sys
    import datasets, torch
    from datasets.distributed import split_dataset_by_node

    modes, folder = json.loads(sys.argv[1]), sys.argv[2]
    torch.distributed.init_process_group("gloo")
    rank, size = torch.distributed.get_rank(), torch.distributed.get_world_size()
    assert size == 2 and "+core." in datasets.__version__
    dataset = datasets.Dataset.from_dict({"n": list(range(48)), "x": [[float(n)] * 3 for n in range(48)]})
    found = {}
    for kind, workers in modes:
        if kind == "sampler":
            source = dataset.with_format("torch")
            sampler = torch.utils.data.DistributedSampler(source, seed=1)
        else:
            source = dataset if kind == "rows" else dataset.to_iterable_dataset(num_shards=4).shuffle(seed=2, buffer_size=8)
            source, sampler = split_dataset_by_node(source, rank, size).with_format("torch"), None
        loader = torch.utils.data.DataLoader(source, batch_size=4, sampler=sampler, num_workers=workers)
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))
        optimizer = torch.optim.SGD(model.parameters(), 0.001)
        epochs = found[f"{kind} {workers}"] = []
        for epoch in range(2):
            if kind != "rows":
                (sampler or source).set_epoch(epoch)
            epochs.append([])
            for batch in loader:
                model(batch["x"]).mean().backward()
                optimizer.step()
                epochs[-1] += batch["n"].tolist()
    with open(f"{folder}/{rank}.json", "w") as file:
        json.dump(found, file)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
"""

MODES = [("sampler", 0), ("rows", 0), ("rows", 2), ("stream", 0), ("stream", 2)]


@pytest.mark.parametrize(("kind", "workers"), MODES)
def test_distributed_data_parallel_by_torchrun(two_processes: list[dict[str, Any]], kind: str, workers: int) -> None:
    one, two = (found[f"{kind} {workers}"] for found in two_processes)
    for first, second in zip(one, two, strict=True):
        assert len(first) == len(second) == 24
        assert sorted(first + second) == list(range(48))
    assert (one[0] == one[1]) is (kind == "rows")
