"""Labels as names, as numbers, as digits, without a name, and missing."""

import os

import datasets

_HERE = os.path.dirname(os.path.abspath(__file__))


class LabelKinds(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in ("names", "wrong_case", "too_big")]

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {
                    "by_names": datasets.ClassLabel(names=["no", "yes"]),
                    "by_number": datasets.ClassLabel(num_classes=3),
                    "both": datasets.ClassLabel(num_classes=2, names=["lo", "hi"]),
                    "with_id": datasets.features.ClassLabel(names=["left", "right"], id="side"),
                    "many": datasets.Sequence(datasets.ClassLabel(names=("x", "y"))),
                    "inner": {"deep": [datasets.ClassLabel(names=["up", "down"])]},
                }
            )
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={})]

    def _generate_examples(self):
        if self.config.name == "wrong_case":
            yield 0, self._row(by_names="Yes")
        elif self.config.name == "too_big":
            yield 0, self._row(by_number=3)
        else:
            yield "names", self._row()
            yield "numbers", self._row(by_names=1, by_number=2, both=0, with_id=1, many=[1, 0, 1], inner={"deep": [0]})
            yield "none", self._row(by_names=None, by_number=None, both=None, with_id=None, many=None, inner=None)
            yield "hidden", self._row(by_names=-1, by_number=-1, both=-1, with_id=-1, many=[-1], inner={"deep": [-1, 1]})
            yield "digits", self._row(by_number="2", many=[], inner={"deep": []})
            yield "hidden digits", self._row(by_number="-1", by_names="-1")
            yield "digits of names", self._row(by_names="1", both="0")
            yield "holes", self._row(many=["x", None], inner={"deep": None})
            yield "spaces", self._row(by_names=" yes ")

    def _row(self, **changes):
        row = {"by_names": "no", "by_number": 0, "both": "hi", "with_id": "left", "many": ["y", "x"], "inner": {"deep": ["down"]}}
        row.update(changes)
        return row
