"""Folders of many files."""

import glob
import os
from collections.abc import Callable
from importlib import import_module

from context import Context, Timed, Workload


def _folder(kind: str) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        cache, folder = str(context.scratch / "cache"), str(context.data / kind)
        return lambda: len(context.library.load_dataset(folder, split="train", cache_dir=cache))

    return cell


def _read_by_hand(kind: str) -> Callable[[Context], Timed]:
    """The files opened and read, no more: the rows of a file of lines are its lines."""

    def cell(context: Context) -> Timed:
        def run() -> int:
            rows = 0
            for place, _, names in sorted(os.walk(context.data / kind)):
                for name in sorted(names):
                    with open(os.path.join(place, name), "rb") as handle:
                        data = handle.read()
                    rows += data.count(b"\n") if kind == "small" else 1
            return rows

        return run

    return cell


def _prepare_images(context: Context) -> None:
    if context.module:
        context.library.load_dataset(str(context.data / "images"), split="train", cache_dir=str(context.warm))


def _decoded(context: Context) -> Timed:
    rows = context.library.load_dataset(str(context.data / "images"), split="train", cache_dir=str(context.warm))
    import_module("PIL.Image").init()
    return lambda: sum(row["image"].getpixel((0, 0))[0] for row in rows)


def _decoded_by_hand(context: Context) -> Timed:
    pillow = import_module("PIL.Image")
    pillow.init()

    def run() -> int:
        total = 0
        for path in sorted(glob.glob(str(context.data / "images" / "*" / "*"))):
            with pillow.open(path) as image:
                total += image.getpixel((0, 0))[0]
        return total

    return run


ROWS = {
    "small_json": Workload(
        "load a folder of 2,000 JSON files, compared with reading them", _folder("small"), _read_by_hand("small"), ("small",)
    ),
    "imagefolder_build": Workload(
        "load a folder of 2,000 images, compared with reading them", _folder("images"), _read_by_hand("images"), ("images",)
    ),
    "imagefolder_iter": Workload("decode 2,000 images", _decoded, _decoded_by_hand, ("images",), _prepare_images),
}
