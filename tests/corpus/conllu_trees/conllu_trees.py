"""Sentences with trees."""

import conllu

import datasets


class ConlluTrees(datasets.GeneratorBasedBuilder):
    def _info(self):
        names = ["ADJ", "DET", "NOUN", "PUNCT", "VERB", "_"]
        return datasets.DatasetInfo(
            features=datasets.Features(
                {
                    "idx": datasets.Value("string"),
                    "text": datasets.Value("string"),
                    "tokens": datasets.Sequence(datasets.Value("string")),
                    "upos": datasets.Sequence(datasets.features.ClassLabel(names=names)),
                    "feats": datasets.Sequence(datasets.Value("string")),
                    "head": datasets.Sequence(datasets.Value("string")),
                }
            )
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"filepath": dl_manager.download("trees.conllu")})]

    def _generate_examples(self, filepath):
        id = 0
        with open(filepath, "r", encoding="utf-8") as data_file:
            for sent in list(conllu.parse_incr(data_file)):
                yield id, {
                    "idx": sent.metadata["sent_id"],
                    "text": sent.metadata.get("text", " ".join(token["form"] for token in sent)),
                    "tokens": [token["form"] for token in sent],
                    "upos": [token["upos"] for token in sent],
                    "feats": [str(token["feats"]) for token in sent],
                    "head": [str(token["head"]) for token in sent],
                }
                id += 1
