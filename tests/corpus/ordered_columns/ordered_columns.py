"""The order of columns is that of the features, whatever the rows say."""

from collections import OrderedDict, namedtuple

import datasets

Row = namedtuple("Row", ["beta", "alpha"])


class OrderedColumns(datasets.GeneratorBasedBuilder):
    def _info(self):
        features = datasets.Features(OrderedDict([("zeta", datasets.Value("string")), ("alpha", datasets.Value("int32")), ("beta", datasets.Value("int32"))]))
        features["added"] = datasets.Value("string")
        features.update({"mid": datasets.Features({"y": datasets.Value("string"), "x": datasets.Value("string")})})
        other = datasets.Features({**features})
        del other["zeta"]
        return datasets.DatasetInfo(features=other.copy(), supervised_keys=("alpha", "beta"))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"rows": (Row(1, 2), Row(3, 4))})]

    def _generate_examples(self, rows):
        for i, row in enumerate(rows):
            yield i, OrderedDict(reversed(list({**row._asdict(), "mid": {"x": "ex", "y": "why"}, "added": "%s" % (row,)}.items())))
