"""Talks: lists of turns that hold lists of acts."""

import json
import os

import datasets


class DialogTurns(datasets.GeneratorBasedBuilder):
    VERSION = datasets.Version("1.0.0")

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {
                    "dialogue_id": datasets.Value("string"),
                    "services": datasets.Sequence(datasets.Value("string")),
                    "turns": datasets.Sequence(
                        {
                            "speaker": datasets.ClassLabel(names=["USER", "SYSTEM"]),
                            "utterance": datasets.Value("string"),
                            "frames": datasets.Sequence(
                                {
                                    "service": datasets.Value("string"),
                                    "slots": datasets.Sequence({"slot": datasets.Value("string"), "start": datasets.Value("int32")}),
                                    "state": {"intent": datasets.Value("string"), "requested": datasets.Sequence(datasets.Value("string"))},
                                }
                            ),
                        }
                    ),
                }
            )
        )

    def _split_generators(self, dl_manager):
        folder = dl_manager.download_and_extract("talks.zip")
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"filepath": os.path.join(folder, "talks", "%s.json" % split)})
            for split in [datasets.Split.TRAIN, datasets.Split.TEST]
        ]

    def _generate_examples(self, filepath):
        with open(filepath, encoding="utf-8") as f:
            for talk in json.load(f):
                yield talk["dialogue_id"], talk
