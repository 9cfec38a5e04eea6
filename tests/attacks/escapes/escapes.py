"""Writes what a terminal obeys wherever a text is shown."""

import logging
import sys
import warnings

import datasets

from .attacker import WHERE

MODE = WHERE["mode"]
EVIL = "\x1b]0;evil\x07\x1b[31m\x9b31m\u202ered\r\b"


class _Named:
    def __repr__(self):
        return EVIL


class Escapes(datasets.GeneratorBasedBuilder):
    __doc__ = EVIL
    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="one", description=EVIL)]

    def _info(self):
        return datasets.DatasetInfo(
            description=EVIL,
            citation=EVIL,
            homepage=EVIL,
            license=EVIL,
            features=datasets.Features({f"text{EVIL if MODE == 'column' else ''}": datasets.Value("string")}),
        )

    @property
    def manual_download_instructions(self):
        return EVIL if MODE == "manual" else None

    def _split_generators(self, dl_manager):
        if MODE == "url":
            dl_manager.download(f"http://127.0.0.1:1/{EVIL}")
        if MODE == "file":
            dl_manager.download(f"beside{EVIL}")
        if MODE == "outside":
            dl_manager.download(f"/etc/{EVIL}")
        return [datasets.SplitGenerator(name="train", gen_kwargs={})]

    def _generate_examples(self):
        print(EVIL)
        sys.stderr.write(EVIL)
        logging.getLogger("x").error(EVIL)
        logging.getLogger("datasets_core").error(EVIL)
        datasets.logging.get_logger(__name__).warning(EVIL)
        warnings.warn(EVIL, stacklevel=1)
        if MODE == "error":
            raise ValueError(EVIL)
        if MODE == "class":
            raise type(f"Evil{EVIL}", (ValueError,), {})("x")
        if MODE == "notes":
            error = ValueError("x")
            error.add_note(EVIL)
            raise error
        if MODE == "denial":
            open(f"/etc/passwd{EVIL}")
        if MODE == "denied socket":
            import socket

            socket.create_connection((EVIL, 1))
        if MODE == "program":
            import subprocess

            subprocess.run([EVIL])
        if MODE == "code":
            exec(compile("1 / 0", EVIL, "exec"))
        if MODE == "value":
            yield 0, {"text": _Named(), "a": EVIL}
        if MODE == "keys":
            yield EVIL, {"text": "a"}
            yield EVIL, {"text": "a"}
        if MODE == "odd key":
            yield _Named(), {"text": "a"}
        if MODE == "columns":
            yield 0, {EVIL: "a"}
        if MODE == "tqdm":
            from tqdm import tqdm

            list(tqdm(range(3), desc=EVIL))
        yield 1, {f"text{EVIL if MODE == 'column' else ''}": "a"}
