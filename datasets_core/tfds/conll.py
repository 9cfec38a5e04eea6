"""`tfds.dataset_builders`: builders of texts with one word per line and annotations in columns."""

from __future__ import annotations

import dataclasses
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from datasets_core.errors import DatasetGenerationError
from datasets_core.optional import needed
from datasets_core.tfds.connectors import FeaturesDict
from datasets_core.tfds.features import ClassLabel, Sequence, Text
from datasets_core.tfds.info import DatasetInfo
from datasets_core.tfds.tfds_builder import BuilderConfig, GeneratorBasedBuilder

Paths = str | os.PathLike[str] | list[Any]


@dataclasses.dataclass(eq=False, kw_only=True)
class ConllBuilderConfig(BuilderConfig):
    """A variant whose lines have these columns.

    Args:
        separator: separator of columns.
        ordered_features: the features of the columns, in their order.

    >>> ConllBuilderConfig(name="a", separator=" ", ordered_features={"tokens": [str]}).features_dict
    {'tokens': List(Value('string'))}
    """

    separator: str
    ordered_features: Mapping[str, Any]

    @property
    def features_dict(self) -> FeaturesDict:
        """The features of a row."""
        return FeaturesDict(self.ordered_features)


@dataclasses.dataclass(eq=False, kw_only=True)
class ConllUBuilderConfig(BuilderConfig):
    """A variant in CoNLL-U form.

    Args:
        features: the features of a row.
        language: of the texts.
    """

    features: Any = None
    language: str = ""

    @property
    def features_dict(self) -> FeaturesDict:
        """The features of a row."""
        return FeaturesDict(self.features)


class _Conll(GeneratorBasedBuilder, skip_registration=True):
    def create_dataset_info(self, **kwargs: Any) -> DatasetInfo:
        """The info of the dataset, with the features of its config.

        Args:
            kwargs: those of `tfds.core.DatasetInfo`.
        """
        told = {name: value for name, value in kwargs.items() if value is not None}
        return self.dataset_info_from_configs(features=self.builder_config.features_dict, **told)


class ConllDatasetBuilder(_Conll, skip_registration=True):
    """A builder of files whose sentences are parted by empty lines."""

    BUILDER_CONFIG_CLASS = ConllBuilderConfig

    def _generate_examples(self, filepaths: Paths) -> Iterator[tuple[int, dict[str, Any]]]:
        """Rows of sentences: each column as a list; the last of a file comes also where it is empty, as TFDS has it."""
        names, separator = list(self.builder_config.ordered_features), self.builder_config.separator
        key = 0
        for path in filepaths if isinstance(filepaths, list) else [filepaths]:
            sentence: dict[str, list[str]] = {name: [] for name in names}
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if line == "\n" or line.startswith("-DOCSTART-"):
                        if sentence[names[0]]:
                            yield key, sentence
                            key, sentence = key + 1, {name: [] for name in names}
                        continue
                    parts = line.split(separator)
                    if len(parts) != len(names):
                        raise DatasetGenerationError(
                            f"Line {number} of {os.fspath(path)} has {len(parts)} columns, and not the {len(names)} of the "
                            "config. Mend the line, or the ordered_features."
                        ).placed(file=os.fspath(path), line=number)
                    for name, part in zip(names, parts, strict=True):
                        sentence[name].append(part.rstrip())
            yield key, sentence
            key += 1


class ConllUDatasetBuilder(_Conll, skip_registration=True):
    """A builder of files in CoNLL-U form, which the package `conllu` reads."""

    BUILDER_CONFIG_CLASS = ConllUBuilderConfig

    def _generate_examples(
        self, filepaths: Paths, process_example_fn: Callable[..., dict[str, Any]] | None = None
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Rows of sentences, each as a function makes it."""
        conllu = needed("conllu", "Reading CoNLL-U", "conllu")
        make: Callable[..., dict[str, Any]] = process_example_fn or get_conllu_example
        key = 0
        for path in filepaths if isinstance(filepaths, list) else [filepaths]:
            with open(path, encoding="utf-8") as file:
                sentences: Any = conllu.parse_incr(file)
                for sentence in sentences:
                    yield key, make(sentence=sentence, example_id=key, features=self.builder_config.features)
                    key += 1


def get_conllu_example(sentence: Any, example_id: int, features: Any) -> dict[str, Any]:
    """A row of a sentence: its words, their annotations, its text and its id."""
    words = [word["form"] for word in sentence]
    whole: dict[str, Callable[[], Any]] = {
        "idx": lambda: sentence.metadata.get("sent_id", example_id),
        "tokens": lambda: words,
        "lemmas": lambda: [word["lemma"] for word in sentence],
        "upos": lambda: [word["upos"] for word in sentence],
        "text": lambda: sentence.metadata.get("text", " ".join(words)),
    }
    return {name: whole[name]() if name in whole else [str(word[name]) for word in sentence] for name in features}


def get_xtreme_pos_example(sentence: Any, example_id: int, features: Any) -> dict[str, Any]:
    """A row of the words of a sentence that have a form and a tag."""
    kept = [word for word in sentence if word["form"] != "_" and word["upos"] != "_"]
    row: dict[str, Any] = {name: [] for name in features}
    return row | {"tokens": [word["form"] for word in kept], "upos": [word["upos"] for word in kept]}


# The tags of the shared tasks of CoNLL and of Universal Dependencies, as features and as configs.


_PUNCTUATION = ('"', "''", "#", "$", "(", ")", ",", ".", ":", "``")
_WORDS = (
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNP NNPS NNS NN|SYM PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH "
    "VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB"
)
_PARTS_OF_SPEECH = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X _"
_CHUNKS = "ADJP ADVP CONJP INTJ LST NP PP PRT SBAR UCP VP"


def _begin_and_inside(*kinds: str) -> tuple[str, ...]:
    return ("O", *(f"{part}-{kind}" for kind in kinds for part in "BI"))


POS_TAGS = (*_PUNCTUATION, *_WORDS.split())
CHUNK_TAGS = _begin_and_inside(*_CHUNKS.split())
NER_TAGS = _begin_and_inside("PER", "ORG", "LOC", "MISC")
UPOS: tuple[str, ...] = (*_PARTS_OF_SPEECH.split(),)
CONLL_2002_SEPARATOR = " "
CONLL_2003_ORDERED_FEATURES = OrderedDict(
    tokens=Sequence(Text()),
    pos=Sequence(ClassLabel(names=POS_TAGS)),
    chunks=Sequence(ClassLabel(names=CHUNK_TAGS)),
    ner=Sequence(ClassLabel(names=NER_TAGS)),
)
CONLL_2003_CONFIG = ConllBuilderConfig(
    name="conll2003", separator=CONLL_2002_SEPARATOR, ordered_features=CONLL_2003_ORDERED_FEATURES
)
_TEXTS = ("xpos", "feats", "head", "deprel", "deps", "misc")
UNIVERSAL_DEPENDENCIES_FEATURES = OrderedDict(
    idx=Text(),
    tokens=Sequence(Text()),
    lemmas=Sequence(Text()),
    upos=Sequence(ClassLabel(names=UPOS)),
    **{name: Sequence(Text()) for name in _TEXTS},
    text=Text(),
)
XTREME_POS_FEATURES = OrderedDict(tokens=Sequence(Text()), upos=Sequence(ClassLabel(names=UPOS)))


def get_universal_morphology_config(
    language: str, features: Any, name: str | None = None, description: str | None = None
) -> ConllUBuilderConfig:
    """The config of one language of Universal Dependencies.

    Args:
        language: its name.
        features: of a row.
        name: of the config; the language's by default.
        description: for people.

    >>> get_universal_morphology_config("af", XTREME_POS_FEATURES).name
    'af'
    """
    return ConllUBuilderConfig(name=name or language, description=description, features=features, language=language)
