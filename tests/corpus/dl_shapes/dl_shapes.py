"""Paths in every shape that a download takes."""

import os

import datasets

_ONE = "parts/one.txt"
_TWO = "./parts/two.txt"
_THREE = os.path.join("parts", "three.txt.gz")


class DlShapes(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in ("text", "list", "tuple", "dict", "nested", "empty", "extract")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"where": datasets.Value("string"), "text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        shapes = {
            "text": _ONE,
            "list": [_ONE, _TWO],
            "tuple": (_TWO, _ONE),
            "dict": {"one": _ONE, "two": _TWO},
            "nested": {"a": {"x": [_ONE, _TWO], "y": _TWO}, "b": [_ONE], "c": [[_ONE], [_TWO, _ONE]]},
            "empty": {"a": [], "b": {}},
            "extract": {"packed": [_THREE], "plain": _ONE},
        }
        shape = shapes[self.config.name]
        if self.config.name == "extract":
            found = dl_manager.extract(dl_manager.download(shape))
            both = dl_manager.download_and_extract(shape)
            found = {"apart": found, "at once": both}
        else:
            found = dl_manager.download(shape)
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"found": found})]

    def _generate_examples(self, found):
        yield from self._texts("", found)

    def _texts(self, where, found):
        if isinstance(found, dict):
            for key, inner in found.items():
                yield from self._texts(where + "." + key, inner)
        elif isinstance(found, (list, tuple)):
            for index, inner in enumerate(found):
                yield from self._texts(where + "[%d]" % index, inner)
        else:
            with open(found, encoding="utf-8") as f:
                yield where, {"where": where, "text": f.read()}
