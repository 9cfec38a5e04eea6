"""Three builders in a script: one is abstract by its hooks, one stands below another."""

import abc

import datasets


class Base(datasets.GeneratorBasedBuilder, metaclass=abc.ABCMeta):
    @abc.abstractmethod
    def colour(self):
        ...

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"colour": datasets.Value("string"), "class": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"n": 2})]

    def _generate_examples(self, n):
        for i in range(n):
            yield i, {"colour": self.colour() + str(i), "class": type(self).__name__}


class Middle(Base):
    def colour(self):
        return "grey"


class Last(Middle):
    def colour(self):
        return "white"
