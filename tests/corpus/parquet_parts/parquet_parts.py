"""Parquet files, by batches."""

import pyarrow as pa
import pyarrow.parquet as pq

import datasets
from datasets.table import table_cast


class ParquetParts(datasets.ArrowBasedBuilder):
    VERSION = datasets.Version("1.0.0")

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {"id": datasets.Value("int64"), "name": datasets.Value("string"), "when": datasets.Value("timestamp[ms]"), "tags": datasets.Sequence(datasets.Value("string"))}
            )
        )

    def _split_generators(self, dl_manager):
        files = dl_manager.download(["part-0.parquet", "part-1.parquet", "part-2.parquet"])
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"files": files})]

    def _generate_tables(self, files):
        for number, file in enumerate(files):
            with open(file, "rb") as f:
                for i, batch in enumerate(pq.ParquetFile(f).iter_batches(batch_size=2)):
                    yield f"{number}_{i}", table_cast(pa.Table.from_batches([batch]), self.info.features.arrow_schema)
