"""Sentence pairs by tabs, the columns of which differ from split to split."""

import csv
from typing import Generator, Iterable, List, Tuple, Union

import datasets


class TablesOfText(datasets.GeneratorBasedBuilder):
    VERSION = datasets.Version("1.0.0")
    SPLITS: List[Tuple[str, Union[str, None]]] = [("train", "gold"), ("unlabelled", None)]

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            features=datasets.Features(
                {"premise": datasets.Value("string"), "hypothesis": datasets.Value("string"), "label": datasets.ClassLabel(num_classes=3, names=["entailment", "neutral", "contradiction"])}
            ),
        )

    def _split_generators(self, dl_manager: datasets.DownloadManager) -> Iterable[datasets.SplitGenerator]:
        files = dl_manager.download_and_extract({name: f"pairs/{name}.tsv" for name, _ in self.SPLITS})
        for name, column in self.SPLITS:
            yield datasets.SplitGenerator(name=datasets.Split(name), gen_kwargs=dict(path=files[name], column=column))

    def _generate_examples(self, path: str, column: Union[str, None]) -> Generator[Tuple[int, dict], None, None]:
        with open(path, encoding="utf-8") as f:
            for i, row in enumerate(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE)):
                label = -1 if column is None or row[column] == "-" else row[column]
                yield i, {"premise": row["s1"], "hypothesis": row["s2"], "label": label}
