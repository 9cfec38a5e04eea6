"""Makes rows whose values lead to files and addresses that are not in it."""

import datasets

from .attacker import WHERE

MODE, KIND = WHERE["mode"].split(" ")
KINDS = {"image": datasets.Image, "audio": datasets.Audio, "pdf": datasets.Pdf, "video": datasets.Video}
PLACES = {
    "path": WHERE["secret"],
    "image_path": WHERE["picture"],
    "file": f"file://{WHERE['picture']}",
    "dots": "../" * 12 + WHERE["picture"].lstrip("/"),
    "url": f"http://127.0.0.1:{WHERE['port']}/picture.png",
    "chain": f"zip://a::{WHERE['picture']}",
    "device": "/dev/zero",
    "pipe": WHERE["fifo"],
}


class Media(datasets.GeneratorBasedBuilder):
    """Makes rows."""

    VERSION = datasets.Version("1.0.0")

    def _info(self):
        kind = KINDS[KIND]() if KIND in KINDS else datasets.Value("string")
        return datasets.DatasetInfo(features=datasets.Features({"a": kind, "many": [kind]}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={})]

    def _generate_examples(self):
        value = {"path": PLACES[MODE], "bytes": None}
        yield 0, {"a": value, "many": [value]}
