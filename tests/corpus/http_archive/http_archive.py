"""An archive behind a URL, walked by two splits without being extracted."""

import datasets


class HttpConfig(datasets.BuilderConfig):
    def __init__(self, base_url="", **kwargs):
        super().__init__(version=datasets.Version("1.0.0"), **kwargs)
        self.base_url = base_url


class HttpArchive(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = HttpConfig
    BUILDER_CONFIGS = [HttpConfig(name="tar"), HttpConfig(name="zip")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"path": datasets.Value("string"), "text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        url = "%s/shells.%s" % (self.config.base_url, {"tar": "tar.gz"}.get(self.config.name, self.config.name))
        archive = dl_manager.download(url)
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"files": dl_manager.iter_archive(archive), "split": split})
            for split in ("train", "test")
        ]

    def _generate_examples(self, files, split):
        for path, f in files:
            if "/%s/" % split in path:
                yield path, {"path": path, "text": f.read().decode("utf-8")}
