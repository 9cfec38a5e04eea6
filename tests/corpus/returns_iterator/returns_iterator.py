"""Hooks that return iterators instead of yielding."""

import itertools

import datasets


class ReturnsIterator(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in ("generator", "map", "zip", "list", "chain", "dict_items", "enumerate")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"n": datasets.Value("int32")}))

    def _split_generators(self, dl_manager):
        return (datasets.SplitGenerator(name=name, gen_kwargs={"n": n}) for name, n in (("train", 3), ("test", 1)))

    def _generate_examples(self, n):
        rows = [{"n": i} for i in range(n)]
        if self.config.name == "generator":
            return ((i, row) for i, row in enumerate(rows))
        if self.config.name == "map":
            return map(lambda row: (row["n"], row), rows)
        if self.config.name == "zip":
            return zip("abc", rows)
        if self.config.name == "list":
            return list(enumerate(rows))
        if self.config.name == "chain":
            return itertools.chain(enumerate(rows), [("last", {"n": -1})])
        if self.config.name == "dict_items":
            return {"k%d" % i: row for i, row in enumerate(rows)}.items()
        return enumerate(rows)
