"""A training loop from TFRecord files: images decoded by Pillow, batches of numpy, exact resumption; no TensorFlow.

    pip install "datasets_core[tfrecord,vision]"
    python scripts/train_from_tfrecord.py                        # makes a small data set, trains, and tells how well
    python scripts/train_from_tfrecord.py --stop-after 20        # stops in the middle of an epoch …
    python scripts/train_from_tfrecord.py --folder <that folder> # … and goes on with the very next sample

With `--folder` that holds files `train-*.tfrecord*` of `image/encoded` and `image/class/label`, those are read instead.
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core import slim
from datasets_core.dataset.dataset import Dataset
from datasets_core.features.base import Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.records.specs.specs import FixedLenFeature

CLASSES = ("disc", "square", "cross")
SIDE, BATCH, EPOCHS, RATE = 24, 32, 6, 0.02
Floats = npt.NDArray[np.float32]


# -- the data set: a specification, and files that anybody could have written --------------------------------------------


def draw(random: np.random.Generator, label: int) -> bytes:
    """A PNG of one of the classes, somewhere in the picture, in some colour."""
    from PIL import Image as Pictures

    rows, columns = np.mgrid[:SIDE, :SIDE] - random.integers(9, 15, (2, 1, 1))
    shape = (rows**2 + columns**2 < 36, (abs(rows) < 6) & (abs(columns) < 6), (abs(rows) < 2) ^ (abs(columns) < 2))[label]
    noise = random.integers(0, 60, (SIDE, SIDE, 3))
    picture = np.where(shape[..., None], random.integers(120, 256, 3), noise).astype(np.uint8)
    target = io.BytesIO()
    Pictures.fromarray(picture).save(target, "PNG")
    return target.getvalue()


def make_files(folder: Path, count: int = 1200) -> None:
    """Write `train-0000i-of-00004` and `test` files: images with their labels, as `tf.Example`s."""
    random = np.random.default_rng(0)
    for split, rows, shards in (("train", count, 4), ("test", count // 4, 1)):
        labels = random.integers(0, len(CLASSES), rows)
        columns = {
            "image/encoded": [{"bytes": draw(random, int(label)), "path": None} for label in labels],
            "image/format": [b"png"] * rows,
            "image/class/label": labels.tolist(),
        }
        features = Features({"image/encoded": Image(), "image/format": Value("binary"), "image/class/label": Value("int64")})
        Dataset.from_dict(columns, features=features).to_tfrecord(folder / f"{split}.tfrecord", num_shards=shards)


def get_split(folder: Path, split: str) -> slim.Dataset:
    """The specification of one split, as TF-Slim's `datasets` modules give it."""
    keys = {
        "image/encoded": FixedLenFeature([], "string"),
        "image/format": FixedLenFeature([], "string", default_value=b"png"),
        "image/class/label": FixedLenFeature([], "int64"),
    }
    handlers = {"image": slim.Image(shape=[SIDE, SIDE, 3], channels=3), "label": slim.Tensor("image/class/label")}
    described = {"image": "A shape in some colour.", "label": f"What it is: one of {', '.join(CLASSES)}."}
    return slim.Dataset(
        data_sources=str(folder / f"{split}*.tfrecord*"),
        reader=slim.TFRecordReader,
        decoder=slim.TFExampleDecoder(keys, handlers),
        num_samples=None,
        items_to_descriptions=described,
        num_classes=len(CLASSES),
    )


# -- the model: softmax regression on the edges of the picture, so that it needs nothing but numpy ------------------------


def inputs(images: npt.NDArray[np.uint8]) -> Floats:
    """What the model looks at: the spectrum of each picture, which tells shapes wherever they are."""
    grey = images.mean(axis=3, dtype=np.float32) / 255
    spectrum = np.abs(np.fft.rfft2(grey - grey.mean(axis=(1, 2), keepdims=True)))[:, : SIDE // 2, : SIDE // 2]
    flat = np.log1p(spectrum).reshape(len(images), -1).astype(np.float32)
    ones = np.ones((len(images), 1), np.float32)
    return np.concatenate([flat - 1, ones], axis=1)


def probabilities(weights: Floats, images: npt.NDArray[np.uint8]) -> Floats:
    """How likely each class is, for each picture."""
    scores = inputs(images) @ weights
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: Floats = scores / scores.sum(axis=1, keepdims=True)
    return found


def step(weights: Floats, batch: dict[str, Any]) -> float:
    """One step of gradient descent; gives the loss before it."""
    found, labels = probabilities(weights, batch["image"]), batch["label"]
    picked = np.arange(len(labels)), labels
    loss = float(-np.log(found[picked] + 1e-9).mean())
    found[picked] -= 1
    weights -= RATE * inputs(batch["image"]).T @ found / len(labels)
    return loss


# -- the loop ------------------------------------------------------------------------------------------------------------


def train(folder: Path, stop_after: int | None) -> Floats:
    """Train from where the last run stopped, if one did, and keep where this one stands."""
    kept = folder / "checkpoint.json"
    weights = np.zeros((len(inputs(np.zeros((1, SIDE, SIDE, 3), np.uint8))[0]), len(CLASSES)), np.float32)
    options: dict[str, Any] = {"num_readers": 2, "shuffle": True, "num_epochs": EPOCHS, "seed": 7}
    with slim.DatasetDataProvider(get_split(folder, "train"), **options) as provider:
        number = 0
        if kept.exists():
            found = json.loads(kept.read_text())
            number, weights = found["step"], np.array(found["weights"], np.float32)
            provider.load_state_dict(found["provider"])
            print(f"going on after step {number}")
        for batch in provider.batch(BATCH):
            loss, number = step(weights, batch), number + 1
            if number % 25 == 0:
                print(f"step {number:4}  loss {loss:.3f}")
            if number == stop_after:
                state = {"step": number, "weights": weights.tolist(), "provider": provider.state_dict()}
                kept.write_text(json.dumps(state))
                print(f"stopped after step {number}; python {__file__} --folder {folder} goes on")
                break
    return weights


def accuracy(folder: Path, weights: Floats) -> float:
    """The share of the pictures of the split `test` that are told right."""
    right = seen = 0
    with slim.DatasetDataProvider(get_split(folder, "test"), shuffle=False, num_epochs=1) as provider:
        for batch in provider.batch(BATCH):
            right += int((probabilities(weights, batch["image"]).argmax(axis=1) == batch["label"]).sum())
            seen += len(batch["label"])
    return right / seen


def main() -> None:
    """Make the files where there are none, train, and tell how well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--folder", type=Path, help="where the files are, or are made; a new folder by default")
    parser.add_argument("--stop-after", type=int, help="how many steps to take before the state is kept")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="train_from_tfrecord_"))
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.glob("train*.tfrecord*")):
        make_files(folder)
        print("made", ", ".join(sorted(path.name for path in folder.iterdir())))
    weights = train(folder, options.stop_after)
    if options.stop_after is None:
        print(f"accuracy on the split test: {accuracy(folder, weights):.1%}")


if __name__ == "__main__":
    main()
