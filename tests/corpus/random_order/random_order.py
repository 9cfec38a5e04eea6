"""Rows in an order that a seed gives."""

import hashlib
import random

import datasets


class RandomOrder(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"n": datasets.Value("int32"), "noise": datasets.Value("float64"), "md5": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        numbers = list(range(10))
        random.Random(5).shuffle(numbers)
        return [
            datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"numbers": tuple(numbers[:7]), "seed": 1}),
            datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"numbers": tuple(numbers[7:]), "seed": 2}),
        ]

    def _generate_examples(self, numbers, seed):
        random.seed(seed)
        for n in numbers:
            yield n, {"n": n, "noise": random.random(), "md5": hashlib.md5(str(n).encode()).hexdigest()}
