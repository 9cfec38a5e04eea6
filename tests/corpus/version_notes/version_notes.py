"""What scripts do with versions."""

import datasets

_DATES = {"1.0.0": "old", "1.2.0": "new"}


class VersionNotes(datasets.GeneratorBasedBuilder):
    VERSION = datasets.Version("1.2.0")
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name="v1", version=datasets.Version("1.0.0", "first")),
        datasets.BuilderConfig(name="v1_2", version=datasets.Version("1.2.0", "")),
        datasets.BuilderConfig(name="text", version="1.2.0"),
        datasets.BuilderConfig(name="none"),
    ]

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"fact": datasets.Value("string"), "value": datasets.Value("string")}),
            version=self.config.version if self.config.name == "v1" else None,
        )

    def _split_generators(self, dl_manager):
        path = dl_manager.download("notes/%s.txt" % _DATES.get(str(self.config.version), "new"))
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"path": path})]

    def _generate_examples(self, path):
        version = datasets.Version(str(self.config.version))
        with open(path) as f:
            facts = {"text": f.read().strip(), "config": str(self.config.version), "class": str(self.VERSION)}
        facts["tuple"] = repr(version.tuple)
        facts["parts"] = "%d.%d.%d" % (version.major, version.minor, version.patch)
        facts["equal"] = str(version == "1.0.0")
        facts["less"] = str(version < datasets.Version("1.1.0"))
        facts["at least"] = str(self.VERSION >= "1.2.0")
        facts["repr"] = repr(version)
        facts["version_str"] = self.VERSION.version_str
        facts["hash"] = str(len({datasets.Version("1.0.0"), datasets.Version("1.0.0")}))
        facts["info"] = str(self.info.version)
        facts["name"] = self.info.builder_name + "/" + self.info.config_name
        for key, value in facts.items():
            yield key, {"fact": key, "value": value}
