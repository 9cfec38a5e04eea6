"""The Palmer penguins from their raw table: a dataset script with configs, class labels and two splits by season."""

import csv
import dataclasses
import datetime
from collections.abc import Iterator
from typing import Any

import datasets_core as datasets

_CITATION = """\
@article{gorman2014,
  title   = {Ecological Sexual Dimorphism and Environmental Variability
             within a Community of Antarctic Penguins (Genus Pygoscelis)},
  author  = {Gorman, Kristen B. and Williams, Tony D. and Fraser, William R.},
  journal = {PLoS ONE},
  volume  = {9},
  number  = {3},
  pages   = {e90081},
  year    = {2014},
  doi     = {10.1371/journal.pone.0090081}
}"""

_SEASONS = {datasets.Split.TRAIN: {"PAL0708", "PAL0809"}, datasets.Split.TEST: {"PAL0910"}}


@dataclasses.dataclass
class PenguinsConfig(datasets.BuilderConfig):
    """Penguins of one island, or of all."""

    island: str | None = None


class Penguins(datasets.GeneratorBasedBuilder):
    """344 penguins of three species, measured in three seasons on the islands of the Palmer Archipelago."""

    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIG_CLASS = PenguinsConfig
    BUILDER_CONFIGS = [  # noqa: RUF012 - the public contract's form
        PenguinsConfig(name="all", description="All islands."),
        PenguinsConfig(name="biscoe", description="Biscoe only.", island="Biscoe"),
        PenguinsConfig(name="dream", description="Dream only.", island="Dream"),
        PenguinsConfig(name="torgersen", description="Torgersen only.", island="Torgersen"),
    ]
    DEFAULT_CONFIG_NAME = "all"

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=__doc__ or "",
            homepage="https://doi.org/10.1371/journal.pone.0090081",
            license="CC0-1.0",
            citation=_CITATION,
            features=datasets.Features(
                {
                    "individual": datasets.Value("string"),
                    "species": datasets.ClassLabel(names=["Adelie", "Chinstrap", "Gentoo"]),
                    "island": datasets.ClassLabel(names=["Biscoe", "Dream", "Torgersen"]),
                    "clutch_complete": datasets.Value("bool"),
                    "egg_date": datasets.Value("date32"),
                    "bill_mm": {"length": datasets.Value("float64"), "depth": datasets.Value("float64")},
                    "flipper_length_mm": datasets.Value("int16"),
                    "body_mass_g": datasets.Value("int16"),
                    "sex": datasets.ClassLabel(names=["female", "male"]),
                    "isotopes": datasets.Sequence(datasets.Value("float64"), length=2),
                    "comment": datasets.Value("string"),
                }
            ),
        )

    def _split_generators(self, dl_manager: datasets.DownloadManager) -> list[datasets.SplitGenerator]:
        table = dl_manager.download("penguins-raw.csv")
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"table": table, "seasons": seasons})
            for split, seasons in _SEASONS.items()
        ]

    def _generate_examples(self, table: str, seasons: set[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        with open(table, encoding="utf-8", newline="") as lines:
            for number, raw in enumerate(csv.DictReader(lines)):
                if raw["studyName"] in seasons and self.config.island in (None, raw["Island"]):
                    yield number, _row({name: None if text == "NA" else text for name, text in raw.items()})


def _row(raw: dict[str, str | None]) -> dict[str, Any]:
    """One row of the raw table under the names and types of the features; what was not measured is null."""
    nitrogen, carbon = _number(raw["Delta 15 N (o/oo)"]), _number(raw["Delta 13 C (o/oo)"])
    return {
        "individual": raw["Individual ID"],
        "species": str(raw["Species"]).split()[0],
        "island": raw["Island"],
        "clutch_complete": raw["Clutch Completion"] == "Yes",
        "egg_date": datetime.date.fromisoformat(str(raw["Date Egg"])),
        "bill_mm": {"length": _number(raw["Culmen Length (mm)"]), "depth": _number(raw["Culmen Depth (mm)"])},
        "flipper_length_mm": _whole(raw["Flipper Length (mm)"]),
        "body_mass_g": _whole(raw["Body Mass (g)"]),
        "sex": raw["Sex"] and raw["Sex"].lower(),
        "isotopes": [nitrogen, carbon],
        "comment": raw["Comments"],
    }


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


def _whole(text: str | None) -> int | None:
    return None if text is None else int(text)
