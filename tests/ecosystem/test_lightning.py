"""lightning: fit, validate, predict and resume with loaders of datasets and streams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

lightning = pytest.importorskip("lightning")
torch = pytest.importorskip("torch")
datasets: Any = pytest.importorskip("datasets")


class Model(lightning.LightningModule):  # type: ignore[misc, name-defined]
    """A linear model that notes the rows that it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.seen: dict[str, list[list[int]]] = {"train": [], "val": [], "predict": []}

    def _loss(self, batch: Any, kind: str) -> Any:
        self.seen[kind].append(batch["n"].tolist())
        return self.layer(batch["x"]).mean()

    def training_step(self, batch: Any) -> Any:
        return self._loss(batch, "train")

    def validation_step(self, batch: Any) -> None:
        self._loss(batch, "val")

    def predict_step(self, batch: Any) -> Any:
        self._loss(batch, "predict")
        return self.layer(batch["x"])

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), 0.01)


def loader(kind: str, stateful: bool = False) -> Any:
    """A loader of 24 rows."""
    dataset = datasets.Dataset.from_dict({"n": list(range(24)), "x": [[float(n), 1.0] for n in range(24)]}).with_format("torch")
    if kind != "rows":
        dataset = dataset.to_iterable_dataset(num_shards=3).shuffle(seed=4, buffer_size=10)
    if stateful:
        base = pytest.importorskip("torchdata.stateful_dataloader").StatefulDataLoader
        # of a loader without a length lightning reads a batch ahead, and its checkpoint loses that batch, of any stream
        return type("Sized", (base,), {"__len__": lambda self: 6})(dataset, batch_size=4)
    return torch.utils.data.DataLoader(dataset, batch_size=4)


def trainer(folder: Path, **options: Any) -> Any:
    """A trainer that shows nothing."""
    given = {"accelerator": "cpu", "devices": 1, "logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    return lightning.Trainer(
        default_root_dir=folder, num_sanity_val_steps=0, **{**given, "enable_checkpointing": False, **options}
    )


@pytest.mark.parametrize("kind", ["rows", "stream"])
def test_fit_validate_and_predict(kind: str, tmp_path: Path) -> None:
    model = Model()
    made = trainer(tmp_path, max_epochs=2)
    made.fit(model, loader(kind), loader(kind))
    assert len(model.seen["train"]) == len(model.seen["val"]) == 12
    for rows in (model.seen["train"][:6], model.seen["train"][6:], model.seen["val"][:6]):
        assert sorted(n for batch in rows for n in batch) == list(range(24))
    assert len(made.predict(model, loader(kind))) == 6


def test_data_module(tmp_path: Path) -> None:
    class Module(lightning.LightningDataModule):  # type: ignore[misc, name-defined]
        def train_dataloader(self) -> Any:
            return loader("rows")

        def val_dataloader(self) -> Any:
            return [loader("rows"), loader("stream")]

    class Several(Model):
        def validation_step(self, batch: Any, batch_idx: int, dataloader_idx: int = 0) -> None:
            self.seen["val"].append(batch["n"].tolist())

    model = Several()
    trainer(tmp_path, max_epochs=1).fit(model, datamodule=Module())
    assert (len(model.seen["train"]), len(model.seen["val"])) == (6, 12)


@pytest.mark.parametrize("kind", ["rows", "stream"])
def test_fit_resumes_in_the_middle_of_an_epoch(kind: str, tmp_path: Path) -> None:
    from lightning.pytorch.callbacks import ModelCheckpoint

    whole = Model()
    trainer(tmp_path, max_steps=10).fit(whole, loader(kind, stateful=True))
    first = Model()
    keep = ModelCheckpoint(dirpath=tmp_path, filename="kept", every_n_train_steps=4, save_top_k=-1)
    trainer(tmp_path, max_steps=4, enable_checkpointing=True, callbacks=[keep]).fit(first, loader(kind, stateful=True))
    second = Model()
    trainer(tmp_path, max_steps=10).fit(second, loader(kind, stateful=True), ckpt_path=str(tmp_path / "kept.ckpt"))
    assert first.seen["train"] + second.seen["train"] == whole.seen["train"]


@pytest.mark.parametrize("kind", ["rows", "stream"])
def test_fabric(kind: str) -> None:
    fabric = lightning.Fabric(accelerator="cpu", devices=1)
    fabric.launch()
    found = [n for batch in fabric.setup_dataloaders(loader(kind)) for n in batch["n"].tolist()]
    assert sorted(found) == list(range(24))
