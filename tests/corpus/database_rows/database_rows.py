"""Rows of a database."""

import contextlib
import sqlite3

import datasets


class DatabaseRows(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"id": datasets.Value("int64"), "name": datasets.Value("string"), "weight": datasets.Value("float64"), "blob": datasets.Value("binary")})
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": dl_manager.download("stones.sqlite")})]

    def _generate_examples(self, path):
        with contextlib.closing(sqlite3.connect("file:%s?mode=ro&immutable=1" % path, uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            for row in connection.execute("select * from stones order by id"):
                yield row["id"], dict(row)
