"""Tables by pandas, in chunks and whole."""

import pandas as pd

import datasets


class PandasChunks(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in ("chunks", "whole", "iterrows", "records", "itertuples")]

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {
                    "plant": datasets.Value("string"),
                    "height": datasets.Value("float64"),
                    "count": datasets.Value("int32"),
                    "seen": datasets.Value("bool"),
                }
            )
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"path": dl_manager.download("plants.csv")})]

    def _generate_examples(self, path):
        if self.config.name == "chunks":
            for number, chunk in enumerate(pd.read_csv(path, chunksize=2)):
                for i, row in chunk.iterrows():
                    yield f"{number}-{i}", {name: row[name] for name in ("plant", "height", "count", "seen")}
            return
        frame = pd.read_csv(path, keep_default_na=False, na_values=["?"])
        if self.config.name == "whole":
            for i in range(len(frame)):
                yield i, frame.iloc[i].to_dict()
        elif self.config.name == "iterrows":
            for i, row in frame.iterrows():
                yield i, dict(row)
        elif self.config.name == "records":
            for i, row in enumerate(frame.to_dict("records")):
                yield i, row
        else:
            for row in frame.itertuples():
                yield row.Index, {"plant": row.plant, "height": row.height, "count": row.count_, "seen": row.seen} if hasattr(
                    row, "count_"
                ) else {"plant": row[1], "height": row[2], "count": row[3], "seen": row[4]}
