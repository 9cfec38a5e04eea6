"""A list of URLs, each of which is a job."""

import gzip
import json

import datasets


class HttpShardsConfig(datasets.BuilderConfig):
    """BuilderConfig that takes where the files are."""

    def __init__(self, *args, base_url=None, count=3, **kwargs):
        super().__init__(*args, **kwargs)
        self.base_url = base_url
        self.count = count


class HttpShards(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = HttpShardsConfig

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"text": datasets.Value("string"), "url": datasets.Value("string"), "timestamp": datasets.Value("timestamp[s]")}))

    def _split_generators(self, dl_manager):
        template = self.config.base_url + "/part-{index:05d}-of-{n_shards:05d}.json.gz"
        urls = [template.format(index=index, n_shards=3) for index in range(self.config.count)]
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"filepaths": dl_manager.download(urls)})]

    def _generate_examples(self, filepaths):
        id_ = 0
        for filepath in filepaths:
            with gzip.open(open(filepath, "rb"), "rt", encoding="utf-8") as f:
                for line in f:
                    if line:
                        example = json.loads(line)
                        yield "%s %d" % (example["url"], id_), example
                        id_ += 1
