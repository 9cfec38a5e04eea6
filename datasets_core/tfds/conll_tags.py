"""The tags of the shared tasks of CoNLL and of Universal Dependencies, as features and as configs."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from datasets_core.tfds.conll import ConllBuilderConfig, ConllUBuilderConfig
from datasets_core.tfds.features import ClassLabel, Sequence, Text

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
