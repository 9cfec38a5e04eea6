"""A URL behind which nothing is: what a script may do about it."""

import datasets


class HttpMissing(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="caught"), datasets.BuilderConfig(name="raised")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        missing = self.config.data_dir + "/nothing.txt"
        if self.config.name == "raised":
            path = dl_manager.download(missing)
        else:
            try:
                path = dl_manager.download(missing)
            except (FileNotFoundError, ConnectionError):
                path = dl_manager.download(self.config.data_dir + "/something.txt")
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": path})]

    def _generate_examples(self, path):
        with open(path, encoding="utf-8") as f:
            for i, line in enumerate(f):
                yield i, {"text": line.rstrip("\n")}
