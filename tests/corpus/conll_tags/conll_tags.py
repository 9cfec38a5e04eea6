"""Words and their tags, a line each, an empty line behind each sentence."""

import datasets

logger = datasets.logging.get_logger(__name__)


class ConllTagsConfig(datasets.BuilderConfig):
    def __init__(self, **kwargs):
        super(ConllTagsConfig, self).__init__(**kwargs)


class ConllTags(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [ConllTagsConfig(name="conll_tags", version=datasets.Version("1.0.0"), description="Tagged words")]

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {
                    "id": datasets.Value("string"),
                    "tokens": datasets.Sequence(datasets.Value("string")),
                    "ner_tags": datasets.Sequence(datasets.features.ClassLabel(names=["O", "B-ISLE", "I-ISLE", "B-SHIP"])),
                    "pos_tags": datasets.Sequence(datasets.ClassLabel(names=['"', "''", "#", "NN", "VB", "DT", "."])),
                }
            ),
            supervised_keys=None,
        )

    def _split_generators(self, dl_manager):
        urls = {"train": "train.conll", "dev": "dev.conll"}
        files = dl_manager.download_and_extract(urls)
        return [
            datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"filepath": files["train"]}),
            datasets.SplitGenerator(name=datasets.Split.VALIDATION, gen_kwargs={"filepath": files["dev"]}),
        ]

    def _generate_examples(self, filepath):
        logger.info("generating from %s", filepath)
        with open(filepath, encoding="utf-8") as f:
            guid = 0
            tokens, pos_tags, ner_tags = [], [], []
            for line in f:
                if line.startswith("-DOCSTART-") or line == "" or line == "\n":
                    if tokens:
                        yield guid, {"id": str(guid), "tokens": tokens, "pos_tags": pos_tags, "ner_tags": ner_tags}
                        guid += 1
                        tokens, pos_tags, ner_tags = [], [], []
                else:
                    splits = line.split(" ")
                    tokens.append(splits[0])
                    pos_tags.append(splits[1])
                    ner_tags.append(splits[-1].rstrip())
            if tokens:
                yield guid, {"id": str(guid), "tokens": tokens, "pos_tags": pos_tags, "ner_tags": ner_tags}
