"""Compressed lines: opened by gzip as they were downloaded, or extracted."""

import bz2
import gzip
import io
import json
import lzma

import datasets


class GzLines(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in ("gzip_open", "gzip_bytes", "extracted", "bz2", "xz", "auto_bz2", "auto_xz")]

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"id": datasets.Value("int64"), "word": datasets.Value("string"), "when": datasets.Value("timestamp[s]")})
        )

    def _split_generators(self, dl_manager):
        ending = {"bz2": "bz2", "auto_bz2": "bz2", "xz": "xz", "auto_xz": "xz"}.get(self.config.name, "gz")
        name = "words.jsonl." + ending
        if self.config.name.startswith(("auto", "ex")):
            path = dl_manager.download_and_extract(name)
        else:
            path = dl_manager.download(name)
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"path": path})]

    def _open(self, path):
        if self.config.name == "gzip_open":
            return gzip.open(path, "rt", encoding="utf-8")
        if self.config.name == "gzip_bytes":
            return io.TextIOWrapper(gzip.GzipFile(fileobj=open(path, "rb")), encoding="utf-8")
        if self.config.name == "bz2":
            return bz2.open(path, mode="rt", encoding="utf-8")
        if self.config.name == "xz":
            return lzma.open(path, mode="rt", encoding="utf-8")
        return open(path, encoding="utf-8")

    def _generate_examples(self, path):
        with self._open(path) as f:
            for line in f:
                row = json.loads(line)
                yield row["id"], row
