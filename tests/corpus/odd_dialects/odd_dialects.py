"""csv files that are written in odd ways, and other encodings than UTF-8."""

import codecs
import csv
import io
import sys

import datasets

csv.field_size_limit(int(sys.maxsize // 2**33))


class OddDialects(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name=name)
        for name in ("semicolon", "single_quotes", "escaped", "bom", "latin", "utf16", "no_header", "line_breaks", "spaces", "replaced", "skipped")
    ]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"a": datasets.Value("string"), "b": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        name = {"replaced": "latin"}.get(self.config.name, self.config.name)
        return [datasets.SplitGenerator(name="train", gen_kwargs={"filepath": dl_manager.download(name + ".csv")})]

    def _reader(self, filepath):
        name = self.config.name
        if name == "semicolon":
            return csv.DictReader(open(filepath, encoding="utf-8", newline=""), delimiter=";")
        if name == "single_quotes":
            return csv.DictReader(open(filepath), quotechar="'", skipinitialspace=True)
        if name == "escaped":
            return csv.DictReader(open(filepath, newline=""), doublequote=False, escapechar="\\", quoting=csv.QUOTE_NONE)
        if name == "bom":
            return csv.DictReader(open(filepath, encoding="utf-8-sig"))
        if name == "latin":
            return csv.DictReader(codecs.open(filepath, "r", "latin-1"))
        if name == "replaced":
            return csv.DictReader(open(filepath, encoding="utf-8", errors="replace"))
        if name == "utf16":
            return csv.DictReader(io.open(filepath, encoding="utf-16", newline=""))
        if name == "no_header":
            return csv.DictReader(open(filepath), fieldnames=["a", "b"], restval="-")
        if name == "skipped":
            f = open(filepath, encoding="utf-8")
            next(f)
            return csv.DictReader(line for line in f if not line.startswith("#"))
        if name == "spaces":
            csv.register_dialect("corpus_spaces", delimiter=" ", skipinitialspace=True)
            return csv.DictReader(open(filepath), dialect="corpus_spaces")
        return csv.DictReader(open(filepath, newline="", encoding="utf-8"), dialect="excel")

    def _generate_examples(self, filepath):
        for i, row in enumerate(self._reader(filepath)):
            yield i, {"a": row["a"], "b": row["b"]}
