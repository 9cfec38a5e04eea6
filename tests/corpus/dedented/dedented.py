"""Descriptions by textwrap."""

import functools
import itertools
import re
import textwrap

import datasets

_DESCRIPTION = textwrap.dedent(
    """\
    A table of tides.

      * two a day
      * one a night
    """
)


@functools.lru_cache(maxsize=None)
def _split(line):
    return re.split(r"\s*[,;]\s*", line.strip())


class Dedented(datasets.GeneratorBasedBuilder):
    VERSION = "0.4.0"

    def _info(self):
        return datasets.DatasetInfo(
            description=_DESCRIPTION,
            citation=textwrap.dedent(
                """\
                @misc{tides,
                  year = 1999
                }"""
            ),
            features=datasets.Features({"port": datasets.Value("string"), "metres": datasets.Value("float64")}),
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": dl_manager.download("tides.txt")})]

    def _generate_examples(self, path):
        with open(path, encoding="utf-8") as f:
            for group, (port, lines) in enumerate(itertools.groupby(f, key=lambda line: _split(line)[0])):
                for i, line in enumerate(lines):
                    yield "%s %d %d" % (port, group, i), {"port": port, "metres": float(_split(line)[1])}
