"""A config with options, some of them lists and dicts."""

from dataclasses import dataclass, field
from typing import Dict, List, Optional

import datasets


@dataclass
class OptionsConfig(datasets.BuilderConfig):
    """BuilderConfig with options."""

    words: List[str] = field(default_factory=lambda: ["tea", "milk"])
    times: Dict[str, int] = field(default_factory=dict)
    upper: bool = False
    suffix: Optional[str] = None

    def __post_init__(self):
        super().__post_init__()
        self.first = self.words[0] if self.words else None


class ConfigOptions(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIG_CLASS = OptionsConfig
    BUILDER_CONFIGS = [OptionsConfig(name="plain"), OptionsConfig(name="loud", upper=True, words=["coffee"], version="2.0.0")]
    DEFAULT_CONFIG_NAME = "plain"

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"word": datasets.Value("string"), "first": datasets.Value("bool")})
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"words": tuple(self.config.words)})]

    def _generate_examples(self, words):
        key = 0
        for word in words:
            for _ in range(self.config.times.get(word, 1)):
                text = (word.upper() if self.config.upper else word) + (self.config.suffix or "")
                yield key, {"word": text, "first": word == self.config.first}
                key += 1
