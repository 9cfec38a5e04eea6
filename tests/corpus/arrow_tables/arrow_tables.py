"""Tables instead of rows."""

import pyarrow as pa
import pyarrow.csv as pac

import datasets


class ArrowTables(datasets.ArrowBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="table"), datasets.BuilderConfig(name="no_features"), datasets.BuilderConfig(name="other_types")]

    def _info(self):
        if self.config.name == "no_features":
            return datasets.DatasetInfo(description="Features follow from the tables.")
        return datasets.DatasetInfo(
            features=datasets.Features({"x": datasets.Value("int32"), "y": datasets.Value("string"), "z": [datasets.Value("float32")]})
        )

    def _split_generators(self, dl_manager):
        paths = dl_manager.download(["a.csv", "b.csv"])
        return [
            datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"paths": paths}),
            datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"paths": paths[1:]}),
        ]

    def _generate_tables(self, paths):
        schema = self.info.features.arrow_schema if self.info.features is not None else None
        for index, path in enumerate(paths):
            table = pac.read_csv(path)
            table = table.append_column("z", pa.array([[float(index), None]] * len(table)))
            if self.config.name == "table":
                table = table.cast(schema)
            elif self.config.name == "other_types":
                table = pa.table({"x": table["x"].cast("int64"), "y": table["y"].cast("string"), "z": table["z"].cast(pa.list_(pa.float32()))})
            yield index, table
