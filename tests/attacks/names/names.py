"""Gives names and values that would lead out of the cache, or do something when they are used."""

import os

import datasets

from .attacker import WHERE

MODE = WHERE["mode"]
OUT = "../" * 8 + WHERE["home"].lstrip("/") + "/harm"
TEXT = datasets.Features({"text": datasets.Value("string")})


class EvilVersion(datasets.Version):
    """A version whose text changes."""

    def __init__(self):
        super().__init__("1.0.0")

    def __str__(self):
        return OUT

    __repr__ = __str__


class EvilText(str):
    """A text that is another when it is looked at again."""

    def __str__(self):
        return OUT

    def __fspath__(self):
        return OUT

    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


class EvilValue:
    """A value that does harm when it is copied, hashed, compared or shown."""

    def __reduce__(self):
        return os.system, (f"touch {WHERE['home']}/harm",)

    def __repr__(self):
        open(f"{WHERE['home']}/harm", "w").close()
        return "\x1b[31m"

    __str__ = __repr__

    def __eq__(self, other):
        raise SystemExit(1)

    def __hash__(self):
        return 1

    def __del__(self):
        open(f"{WHERE['home']}/harm", "w").close()


class EvilConfig(datasets.BuilderConfig):
    """A config that names its folder itself."""

    def create_config_id(self, *args, **kwargs):
        return OUT


CONFIGS = {
    "config": lambda: datasets.BuilderConfig(name=OUT),
    "config with dots": lambda: datasets.BuilderConfig(name=".."),
    "config with a null byte": lambda: datasets.BuilderConfig(name="a\0b"),
    "config with escapes": lambda: datasets.BuilderConfig(name="a\x1b[31mb"),
    "config of a text of its own": lambda: datasets.BuilderConfig(name=EvilText("a")),
    "version of a config": lambda: datasets.BuilderConfig(name="a", version="../../1.0.0"),
    "evil version of a config": lambda: datasets.BuilderConfig(name="a", version=EvilVersion()),
    "folder of a config": lambda: datasets.BuilderConfig(name="a", data_dir=WHERE["home"]),
    "files of a config": lambda: datasets.BuilderConfig(name="a", data_files={"train": [WHERE["secret"]]}),
    "config id": lambda: EvilConfig(name="a"),
    "late name": lambda: datasets.BuilderConfig(name="a"),
}
VALUES = {"values", "values of rows", "keys"}


class Names(datasets.GeneratorBasedBuilder):
    """Gives names."""

    VERSION = EvilVersion() if MODE == "version" else datasets.Version("1.0.0")
    if MODE in CONFIGS:
        BUILDER_CONFIGS = [CONFIGS[MODE]()]
    if MODE == "default":
        DEFAULT_CONFIG_NAME = OUT

    @classmethod
    def class_name(cls):
        """The name of builders."""
        return OUT if MODE == "class name" else "names"

    def _info(self):
        if MODE == "late name":
            self.config.name = OUT
        if MODE == "names of classes":
            return datasets.DatasetInfo(features=datasets.Features({"text": datasets.ClassLabel(names_file=WHERE["secret"])}))
        if MODE == "cache":
            self._cache_dir = self.cache_dir = WHERE["home"]
        if MODE == "names of the info":
            return datasets.DatasetInfo(features=TEXT, builder_name=OUT, dataset_name=OUT, config_name=OUT)
        if MODE == "column":
            return datasets.DatasetInfo(features=datasets.Features({"../\x1b[31m": datasets.Value("string")}))
        return datasets.DatasetInfo(features=TEXT)

    def _split_generators(self, dl_manager):
        name = {"split": "../../harm", "split with dots": "..", "long split": "x" * 5000, "split with escapes": "a\x1b[31m"}
        kwargs = {"value": EvilValue()} if MODE == "values" else {}
        return [datasets.SplitGenerator(name=name.get(MODE, "train"), gen_kwargs=kwargs)]

    def _generate_examples(self, **kwargs):
        if MODE == "keys":
            yield EvilValue(), {"text": "a"}
            yield EvilValue(), {"text": "b"}
        elif MODE == "values of rows":
            yield 0, {"text": EvilValue()}
        elif MODE == "same keys":
            yield "\x1b]0;title\x07", {"text": "a"}
            yield "\x1b]0;title\x07", {"text": "a"}
        elif MODE == "column":
            yield 0, {"../\x1b[31m": "a"}
        else:
            yield 0, {"text": "a"}
