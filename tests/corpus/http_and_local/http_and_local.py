"""One part behind a URL, one beside the script."""

import json

import datasets


class HttpAndLocal(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"id": datasets.Value("string"), "text": datasets.Value("string"), "label": datasets.ClassLabel(names=["bad", "good"])}))

    def _split_generators(self, dl_manager):
        files = dl_manager.download_and_extract({"texts": self.config.data_dir + "/texts.json", "labels": "labels.json"})
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs=files)]

    def _generate_examples(self, texts, labels):
        with open(texts, encoding="utf-8") as f:
            texts = json.load(f)
        with open(labels, encoding="utf-8") as f:
            labels = json.load(f)
        for id_ in sorted(texts):
            yield id_, {"id": id_, "text": texts[id_], "label": labels.get(id_)}
