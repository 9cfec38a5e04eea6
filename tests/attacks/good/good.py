"""No attack: what must go on working after one."""

import datasets


class Good(datasets.GeneratorBasedBuilder):
    """Three rows."""

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"a": datasets.Value("int32")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"count": 3})]

    def _generate_examples(self, count):
        for number in range(count):
            yield number, {"a": number}
