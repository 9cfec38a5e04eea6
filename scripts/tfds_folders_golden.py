"""Writes `tests/tfds/golden`: folders that TensorFlow Datasets prepared, and in `expected.json` what it reads of them.

    python scripts/tfds_folders_golden.py

It is run in an interpreter that has tensorflow, tensorflow-datasets and array_record.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import shutil
from pathlib import Path
from typing import Any, ClassVar

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow_datasets.core.features.bounding_boxes import bb_utils

GOLDEN = Path(__file__).parents[1] / "tests" / "tfds" / "golden"
F = tfds.features
ENCODINGS = (F.Encoding.NONE, F.Encoding.BYTES, F.Encoding.ZLIB)
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "float32", "float64")


def noise(shape: tuple[int, ...], dtype: Any = np.uint8, seed: int = 0) -> Any:
    """Numbers that no rule tells."""
    return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def scalars() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One value of each type, at its ends."""
    features = {name: F.Scalar(tf.as_dtype(name)) for name in (*INTEGERS, *FLOATS, "bool")}
    features["text"], features["string"] = F.Text(), F.Scalar(np.str_)
    rows = []
    for number in range(4):
        row: dict[str, Any] = {}
        for name in INTEGERS:
            limits = np.iinfo(name)
            row[name] = [limits.min, limits.max, 1, 7][number]
        row |= {name: [0.1, -2.5, 0.0, 1e4][number] for name in FLOATS}
        row |= {
            "bool": number % 2 == 0,
            "text": ["é", "", "a b", "日本"][number],
            "string": ["", "x", "é", "long " * 9][number],
        }
        rows.append(row)
    return features, rows


def tensors() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Arrays of each type and encoding, of which no, one or two sizes vary."""
    features: dict[str, Any] = {}
    rows: list[dict[str, Any]] = [{} for _ in range(3)]
    shapes = {
        "none": (),
        "23": (2, 3),
        "n": (None,),
        "n3": (None, 3),
        "3n": (3, None),
        "nn": (None, None),
        "n2n": (None, 2, None),
    }
    for dtype in (*INTEGERS[1:], *FLOATS, "bool", "string", "bfloat16"):
        for encoding in ENCODINGS:
            if (dtype == "string" and encoding is not F.Encoding.NONE) or (dtype == "bfloat16" and encoding is F.Encoding.NONE):
                continue
            for name, shape in shapes.items():
                if shape.count(None) > 1 and encoding is F.Encoding.NONE:
                    continue
                if dtype not in ("int32", "bool") and name not in (("n3", "nn") if encoding is F.Encoding.ZLIB else ("23",)):
                    continue
                if dtype in ("uint32", "uint64") and encoding is not F.Encoding.NONE:  # which it cannot read itself
                    continue
                key = f"{dtype}_{encoding.value}_{name}"
                features[key] = F.Tensor(shape=shape, dtype=tf.as_dtype(dtype), encoding=encoding)
                for number, row in enumerate(rows):
                    sizes = [[2, 0, 4][number] if size is None else size for size in shape]
                    values = noise(tuple(sizes), np.uint8, number)
                    if dtype == "string":
                        row[key] = np.array(values.astype(str), object) if shape else str(values)
                    else:
                        kind = tf.as_dtype(dtype).as_numpy_dtype
                        row[key] = (values / (3 if np.dtype(kind).kind == "f" else 1)).astype(kind)
    return features, rows


def images() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Pictures of each type, number of channels and format."""
    features = {
        "rgb": F.Image(shape=(None, None, 3), encoding_format="png"),
        "gray": F.Image(shape=(3, 4, 1)),
        "rgba": F.Image(shape=(None, None, 4)),
        "jpeg": F.Image(encoding_format="jpeg"),
        "deep": F.Image(shape=(None, None, 1), dtype=np.uint16, encoding_format="png"),
        "deep_rgb": F.Image(shape=(None, None, 3), dtype=np.uint16, encoding_format="png"),
        "floats": F.Image(shape=(None, None, 1), dtype=np.float32),
        "any": F.Image(shape=(None, None, None)),
        "mask": F.LabeledImage(labels=["sky", "sea", "sand"], shape=(None, None, 1)),
        "film": F.Video(shape=(None, 3, 4, 3)),
        "film_jpeg": F.Video(shape=(2, 8, 8, 3), encoding_format="jpeg"),
        "several": F.Sequence(F.Image(shape=(None, None, 3))),
        "films": F.Sequence(F.Video(shape=(None, 2, 2, 1))),
    }
    smooth = np.stack(np.meshgrid(np.arange(16) * 9, np.arange(16) * 9), -1).sum(-1).astype(np.uint8)
    rows = []
    for number in range(2):
        rgb = noise((3, 4, 3), seed=number)
        rows.append(
            {
                "rgb": rgb,
                "gray": rgb[..., :1],
                "rgba": noise((3, 4, 4), seed=number),
                "jpeg": np.repeat(smooth[..., None], 3, -1),
                "deep": noise((3, 4, 1), np.uint16, number),
                "deep_rgb": noise((3, 4, 3), np.uint16, number),
                "floats": (noise((3, 4, 1), seed=number) / np.float32(7)).astype(np.float32),
                "any": rgb[..., :1],
                "mask": rgb[..., :1] % 3,
                "film": noise((number, 3, 4, 3), seed=number),
                "film_jpeg": np.repeat(np.repeat(smooth[None, :8, :8, None], 2, 0), 3, -1),
                "several": [rgb, rgb][: number + 1],
                "films": [noise((length, 2, 2, 1)) for length in ([1, 2], [])[number]],
            }
        )
    return features, rows


def labels() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Classes, texts, boxes and translations."""
    form = bb_utils.BBoxFormat
    features = {
        "label": F.ClassLabel(names=["x", "é y", "z"]),
        "number": F.ClassLabel(num_classes=4),
        "inner": {"label": F.ClassLabel(names=["m", "n"])},
        "several": F.Sequence(F.ClassLabel(names=["p", "q"])),
        "objects": F.Sequence({"label": F.ClassLabel(names=["cat", "dog"]), "bbox": F.BBoxFeature()}),
        "box": F.BBoxFeature(),
        "pixels": F.BBoxFeature(bbox_format=form.XYWH),
        "both": F.Translation(["en", "fr"]),
        "some": F.TranslationVariableLanguages(languages=["en", "fr", "de"]),
        "any": F.TranslationVariableLanguages(),
        "pairs": F.Sequence(F.Translation(["en", "fr"])),
        "lists": F.Sequence(F.TranslationVariableLanguages(["en", "fr"])),
    }
    box = F.BBox(0.0, 0.1, 0.5, 1.0)
    rows = [
        {
            "label": "é y",
            "number": 2,
            "inner": {"label": "n"},
            "several": ["q", "p"][:number],
            "objects": [{"label": "dog", "bbox": box}] * number,
            "box": box,
            "pixels": np.array([1, 2, 3, 4], np.float32),
            "both": {"en": "a", "fr": "é"},
            "some": {"en": "a", "fr": ["b", "c"][: number + 1]},
            "any": {"xx": ["b", "c"]},
            "pairs": [{"en": "a", "fr": "b"}] * number,
            "lists": [{"en": "x", "fr": ["y", "z"]}, {"en": "w"}][:number],
        }
        for number in range(3)
    ]
    rows[0]["label"] = -1
    return features, rows


def sequences() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Lists of everything, lists of lists, and nested datasets."""
    tensor = F.Tensor(shape=(2,), dtype=np.int32, encoding=F.Encoding.ZLIB)
    features = {
        "numbers": F.Sequence(np.int32),
        "three": F.Sequence(np.float32, length=3),
        "texts": F.Sequence(F.Text()),
        "flags": F.Sequence(np.bool_),
        "dicts": F.Sequence({"a": np.int64, "b": F.Text()}),
        "deep": F.Sequence({"a": F.Sequence(np.int64), "b": F.Text(), "c": {"d": np.int8, "e": F.Sequence(F.Text())}}),
        "lists": F.Sequence(F.Sequence(np.int64)),
        "lists_of_lists": F.Sequence(F.Sequence(F.Sequence(F.Text()))),
        "arrays": F.Sequence(F.Tensor(shape=(2, 3), dtype=np.int8)),
        "encoded": F.Sequence(tensor),
        "encoded_lists": F.Sequence(F.Sequence(tensor)),
        "dicts_in_lists": F.Sequence(F.Sequence({"a": np.int64})),
        "nested": {"a": {"b": {"c": np.int64, "d": F.Text()}, "e": F.Sequence(np.uint8)}, "f": np.float32},
        "a/b": np.int64,
        "rows": F.Dataset({"a": np.int64, "b": F.Text()}),
        "plain_rows": F.Dataset(np.int32),
        "rows_of_lists": F.Dataset({"image": F.Image(shape=(2, 2, 1)), "list": F.Sequence(np.int64)}),
        "rows_of_rows": F.Dataset({"inner": F.Dataset({"x": np.int64})}),
        "sound": F.Audio(sample_rate=8000),
        "stereo": F.Audio(shape=(None, 2), dtype=np.float32),
    }
    rows = []
    for number in range(4):
        dicts = [{"a": place, "b": f"{number}-{place}"} for place in range(number)]
        rows.append(
            {
                "numbers": list(range(number)),
                "three": [0.5, 1.5, number],
                "texts": ["é", "", "x"][:number],
                "flags": [True, False, True][:number],
                "dicts": dicts,
                "deep": [{"a": [place] * place, "b": "x", "c": {"d": place, "e": ["u"] * place}} for place in range(number)],
                "lists": [[1], [], [2, 3]][:number],
                "lists_of_lists": [[["a"], []], [], [["b", "c"]]][:number],
                "arrays": [np.full((2, 3), place, np.int8) for place in range(number)],
                "encoded": [[1, 2], [3, 4], [5, 6]][:number],
                "encoded_lists": [[[1, 2], [3, 4]], [], [[5, 6]]][:number],
                "dicts_in_lists": [[{"a": 1}], [], [{"a": 2}, {"a": 3}]][:number],
                "nested": {"a": {"b": {"c": number, "d": "x"}, "e": [1, 2, 3][:number]}, "f": number / 4},
                "a/b": -number,
                "rows": dicts,
                "plain_rows": list(range(number)),
                "rows_of_lists": [{"image": noise((2, 2, 1)), "list": [1] * place} for place in range(number)],
                "rows_of_rows": [{"inner": [{"x": place}] * place} for place in range(number)],
                "sound": np.arange(number * 3) - 4,
                "stereo": np.ones((number, 2), np.float32),
            }
        )
    return features, rows


def numbers(count: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Rows that are told apart by a number."""
    return {"n": F.Scalar(np.int64), "name": F.Text()}, [{"n": number, "name": f"row {number}"} for number in range(count)]


def optionals() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Values that rows lack."""
    features = {
        "number": F.Scalar(np.int64, optional=True),
        "array": F.Tensor(shape=(2,), dtype=np.float32, optional=True),
        "text": F.Text(optional=True),
        "there": np.int64,
    }
    rows: list[dict[str, Any]] = [{"number": 5, "array": [1, 2], "text": "x", "there": 1}]
    return features, [*rows, {"number": None, "array": None, "text": None, "there": 2}]


def prepared(name: str, made: dict[str, Any], *, version: str = "1.0.0", config: str | None = None, **told: Any) -> Any:
    """Have TensorFlow Datasets prepare rows by split."""
    shards = told.pop("num_shards", None)
    file_format = told.pop("file_format", None)
    features = next(iter(made.values()))[0]

    configs = [] if config is None else [tfds.core.BuilderConfig(name=config, description=f"the {config} one")]

    class Made(tfds.core.GeneratorBasedBuilder, skip_registration=True):  # type: ignore[call-arg, misc]
        VERSION = tfds.core.Version(version)
        RELEASE_NOTES: ClassVar[dict[str, str]] = {version: "made for tests"}
        BUILDER_CONFIGS: ClassVar[list[Any]] = configs
        pkg_dir_path = None

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(builder=self, features=F.FeaturesDict(features), **told)

        def _split_generators(self, dl_manager: Any) -> Any:
            return {split: self._generate_examples(rows) for split, (_, rows) in made.items()}

        def _generate_examples(self, rows: Any) -> Any:
            yield from enumerate(rows)

    Made.name = name
    builder = Made(data_dir=GOLDEN, config=config, file_format=file_format)
    builder.download_and_prepare(download_config=tfds.download.DownloadConfig(num_shards=shards))
    path = Path(builder.data_dir) / "dataset_info.json"
    text = json.loads(path.read_text())
    text["moduleName"] = "made.for.tests"
    path.write_text(json.dumps(text, indent=2))
    return builder


def stored(value: Any) -> Any:
    """A value of `tfds.as_numpy` as JSON, with its type."""
    if isinstance(value, dict):
        return {"dict": {name: stored(inner) for name, inner in value.items()}}
    if isinstance(value, tf.RaggedTensor):
        flat = str(value.dtype.name)
        return {"ragged": _ragged(value.to_list()), "dtype": flat}
    if isinstance(value, (bytes, str)):
        return {"bytes": base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()}
    if isinstance(value, (np.ndarray, np.generic)):
        array: Any = np.asarray(value)
        if array.dtype == object:
            return {"array": [base64.b64encode(each).decode() for each in array.flat], "shape": array.shape, "dtype": "bytes"}
        listed = array.astype(np.float64) if array.dtype.kind not in "iub" else array
        return {"array": listed.reshape(-1).tolist(), "shape": array.shape, "dtype": array.dtype.name}
    return {"rows": [stored(each) for each in value]}


def _ragged(value: Any) -> Any:
    if isinstance(value, list):
        return [_ragged(each) for each in value]
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def read(builder: Any, *splits: str, **options: Any) -> dict[str, Any]:
    """What comes of each split, with ids."""
    config = tfds.ReadConfig(add_tfds_id=True, try_autocache=False, **options)
    found: dict[str, Any] = {}
    for split in splits:
        rows = [stored(row)["dict"] for row in tfds.as_numpy(builder.as_dataset(split=split, read_config=config))]
        found[split] = rows
    return found


def main() -> None:
    """Make all folders anew."""
    logging.disable(logging.CRITICAL)
    tfds.disable_progress_bar()
    if GOLDEN.exists():
        shutil.rmtree(GOLDEN)
    GOLDEN.mkdir(parents=True)
    expected: dict[str, Any] = {}
    for name, make in {
        "scalars": scalars,
        "tensors": tensors,
        "images": images,
        "labels": labels,
        "sequences": sequences,
    }.items():
        builder = prepared(name, {"train": make()})
        expected[name] = read(tfds.builder_from_directory(builder.data_dir), "train")
    prepared("optionals", {"train": optionals()})
    told = {
        "description": "Rows with numbers.",
        "citation": "@misc{rows}",
        "homepage": "https://rows.example",
    }
    for config in ("en", "fr"):
        made = {"train": numbers(70), "test": numbers(7), "more-1": numbers(3)}
        prepared(
            "parts", made, config=config, num_shards=3, supervised_keys=("n", "name"), version="1.2.0", license="MIT", **told
        )
    parts = tfds.builder_from_directory(GOLDEN / "parts" / "en" / "1.2.0")
    asked = [
        "train",
        "test",
        "train[:25%]",
        "train[10:40]",
        "train[2shard]+test",
        "train+test",
        "all",
        "train[-5:]",
        "test[1:3]+test[0:1]",
    ]
    expected["parts"] = read(parts, *asked)
    expected["parts_2_3"] = read(parts, "train", "train+test", interleave_cycle_length=2, interleave_block_length=3)
    prepared("ordered", {"train": numbers(20)}, num_shards=2, disable_shuffling=True, metadata=tfds.core.MetadataDict(rate=8))
    expected["ordered"] = read(tfds.builder_from_directory(GOLDEN / "ordered" / "1.0.0"), "train", "train[5:15]")
    prepared("of_parquet", {"train": numbers(5)}, file_format="parquet")
    unread = prepared("of_array_record", {"train": numbers(5)}, file_format="array_record")
    for path in Path(unread.data_dir).glob("*-of-*"):
        path.write_bytes(b"")  # most of it is padding
    expected["of_parquet"] = read(tfds.builder_from_directory(GOLDEN / "of_parquet" / "1.0.0"), "train")
    _templated()
    (GOLDEN / "expected.json").write_text(json.dumps(expected, separators=(",", ":")))


def _templated() -> None:
    """A folder whose files have names of their own."""
    builder = prepared("templated", {"train": numbers(4)}, num_shards=2)
    folder = Path(builder.data_dir)
    for number in range(2):
        (folder / f"templated-train.tfrecord-{number:05d}-of-00002").rename(folder / f"train_{number:05d}.tfrecord")
    path = folder / "dataset_info.json"
    text = json.loads(path.read_text())
    text["splits"][0]["filepathTemplate"] = "{SPLIT}_{SHARD_INDEX}.{FILEFORMAT}"
    path.write_text(json.dumps(text, indent=2))


if __name__ == "__main__":
    main()
