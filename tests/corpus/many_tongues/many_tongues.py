"""One saying in as many languages as know it."""

import collections
import csv

import datasets

_LANGUAGES = ["de", "en", "fr", "tlh"]


class ManyTongues(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name="variable", version="1.0.0"),
        datasets.BuilderConfig(name="free", version=datasets.Version("1.0.0")),
    ]

    def _info(self):
        if self.config.name == "variable":
            kind = datasets.TranslationVariableLanguages(languages=_LANGUAGES)
        else:
            kind = datasets.features.TranslationVariableLanguages()
        return datasets.DatasetInfo(
            features=datasets.Features({"translations": kind, "plain": datasets.Translation(languages=["en", "fr"])})
        )

    def _split_generators(self, dl_manager):
        path = dl_manager.download_and_extract("sayings.csv")
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"path": path})]

    def _generate_examples(self, path):
        sayings = collections.OrderedDict()
        with open(path, encoding="utf-8") as f:
            for row in csv.DictReader(f):
                sayings.setdefault(row["saying"], collections.defaultdict(list))[row["lang"]].append(row["text"])
        for key, texts in sayings.items():
            variable = {lang: found[0] if len(found) == 1 else found for lang, found in texts.items()}
            plain = {lang: texts[lang][0] if texts[lang] else None for lang in ("en", "fr")}
            yield key, {"translations": variable, "plain": plain}
