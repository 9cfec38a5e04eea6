"""Short reviews of invented kitchen tools."""

import csv

import datasets


logger = datasets.logging.get_logger(__name__)

_CITATION = """\
@misc{spoons,
    title = {Reviews of spoons that nobody sold},
    year = {2021}
}
"""

_DESCRIPTION = """\
Reviews of kitchen tools, each with the number of stars that came with it.
"""

_URLS = {"train": "data/train.csv", "test": "data/test.csv"}


class PlainReviews(datasets.GeneratorBasedBuilder):
    """Short reviews of invented kitchen tools."""

    VERSION = datasets.Version("1.1.0")

    def _info(self):
        return datasets.DatasetInfo(
            description=_DESCRIPTION,
            features=datasets.Features(
                {
                    "id": datasets.Value("string"),
                    "tool": datasets.Value(dtype="string"),
                    "review": datasets.Value("string"),
                    "stars": datasets.Value("int32"),
                    "price": datasets.Value("float32"),
                }
            ),
            supervised_keys=None,
            homepage="https://example.org/spoons",
            license="CC0-1.0",
            citation=_CITATION,
        )

    def _split_generators(self, dl_manager):
        """Returns SplitGenerators."""
        downloaded_files = dl_manager.download_and_extract(_URLS)
        return [
            datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"filepath": downloaded_files["train"]}),
            datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"filepath": downloaded_files["test"]}),
        ]

    def _generate_examples(self, filepath):
        """Yields examples."""
        logger.info("generating examples from = %s", filepath)
        with open(filepath, encoding="utf-8") as f:
            reader = csv.DictReader(f)
            for id_, row in enumerate(reader):
                yield id_, {
                    "id": row["id"],
                    "tool": row["tool"],
                    "review": row["review"],
                    "stars": int(row["stars"]),
                    "price": float(row["price"]) if row["price"] else None,
                }
