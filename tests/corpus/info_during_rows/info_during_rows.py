"""Asks its own info while it makes rows."""

import logging

import datasets

_LOG = logging.getLogger(__name__)


class InfoDuringRows(datasets.GeneratorBasedBuilder):
    VERSION = datasets.Version("0.9.0")
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="x", version=VERSION, description="ecks"), datasets.BuilderConfig(name="y", version=VERSION)]

    def _info(self):
        return datasets.DatasetInfo(
            description="About itself",
            features=datasets.Features({"kind": datasets.ClassLabel(names=["one", "two"]), "said": datasets.Value("string")}),
        )

    def _split_generators(self, dl_manager):
        names = self.info.features["kind"].names
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"names": names[0], "more": names[1]})]

    def _generate_examples(self, names, more):
        kind = self.info.features["kind"]
        said = [
            self.info.description,
            self.info.version and str(self.info.version),
            str(self.VERSION),
            self.config.description,
            self.config.name,
            self.name,
            type(self).__name__,
            str(len(self.BUILDER_CONFIGS)),
            str(sorted(self.builder_configs)),
            kind.int2str(1),
            str(kind.str2int("two")),
            str(kind.num_classes),
            str(self.info.features.type if hasattr(self.info.features, "type") else None),
            str(list(self.info.features)),
            str(self.info.supervised_keys),
        ]
        for i, text in enumerate(said):
            _LOG.debug("row %d", i)
            yield i, {"kind": [names, more][i % 2], "said": text}
