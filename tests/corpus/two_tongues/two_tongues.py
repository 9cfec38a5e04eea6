"""Pairs of sentences; the name of a config is made of its languages."""

import datasets


class TwoTonguesConfig(datasets.BuilderConfig):
    """BuilderConfig for a pair of languages."""

    def __init__(self, language_pair=(None, None), **kwargs):
        language_pair = tuple(language_pair)
        description = "Sentences in %s and %s" % language_pair
        super(TwoTonguesConfig, self).__init__(
            name="%s-%s" % language_pair, description=description, version=datasets.Version("2.0.1", ""), **kwargs
        )
        assert "xx" not in language_pair, "no such language"
        self.language_pair = language_pair


class TwoTongues(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [TwoTonguesConfig(language_pair=pair) for pair in (("da", "nl"), ("da", "cy"))]
    BUILDER_CONFIG_CLASS = TwoTonguesConfig

    def _info(self):
        source, target = self.config.language_pair
        return datasets.DatasetInfo(
            description=self.config.description,
            features=datasets.Features({"translation": datasets.features.Translation(languages=self.config.language_pair)}),
            supervised_keys=(source, target),
        )

    def _split_generators(self, dl_manager):
        source, target = self.config.language_pair
        files = dl_manager.download_and_extract(
            {"source": "text/sea.%s-%s.%s" % (source, target, source), "target": "text/sea.%s-%s.%s" % (source, target, target)}
        )
        return [
            datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs=dict(source_file=files["source"], target_file=files["target"]))
        ]

    def _generate_examples(self, source_file, target_file):
        with open(source_file, encoding="utf-8") as f:
            sources = f.read().split("\n")
        with open(target_file, encoding="utf-8") as f:
            targets = f.read().split("\n")
        assert len(sources) == len(targets), "%d vs %d" % (len(sources), len(targets))
        source, target = self.config.language_pair
        for idx, (s, t) in enumerate(zip(sources, targets)):
            if s.strip() == "" or t.strip() == "":
                continue
            yield idx, {"translation": {source: s, target: t}}
