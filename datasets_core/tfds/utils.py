"""`tfds.core.utils` and `tfds.dataset_builders`: helper functions for TFDS builders, and builders of CoNLL files."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import io
import os
import shutil
import subprocess
import textwrap
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, TypeVar

import numpy as np

from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, DatasetGenerationError, MissingDependencyError
from datasets_core.features.media.types import fast_jpeg
from datasets_core.optional import needed
from datasets_core.progress import disable_progress_bar, enable_progress_bar
from datasets_core.scripting.compat.packages import Path
from datasets_core.scripting.compat.tensorflow import EagerSession
from datasets_core.scripting.modules import script_folder, script_place
from datasets_core.tfds.connectors import FeaturesDict
from datasets_core.tfds.features import ClassLabel, Sequence, Text
from datasets_core.tfds.info import DatasetInfo, MetadataDict
from datasets_core.tfds.tfds_builder import BuilderConfig, GeneratorBasedBuilder

# Paths in TFDS scripts below the folders of TFDS: they refer to files next to the script, or in its dataset
# collection.


_COLLECTION = "tensorflow_datasets"


def tfds_path(*relative: str | os.PathLike[str]) -> Path:
    """Return the path of a file in the dataset collection of the calling script, or else next to the script.

    Args:
        relative: its path in the collection, for example `image_classification/food101_classes.txt`.

    >>> tfds_path("a/b.txt").name
    'b.txt'
    """
    folder = Path(script_folder() or os.curdir)
    wanted = Path(*relative) if relative else Path()
    places: list[Path] = [above / wanted for above in (folder, *folder.parents) if above.name == _COLLECTION]
    places += [folder.joinpath(*wanted.parts[first:]) for first in range(len(wanted.parts))]
    return next((place for place in places if place.exists()), Path(folder, wanted))


def tfds_write_path(*relative: str | os.PathLike[str]) -> Path:
    """See `tfds_path`: written files go to the same place."""
    return tfds_path(*relative)


def to_write_path(path: str | os.PathLike[str]) -> Path:
    """Return the same path: written files go to the same place.

    >>> to_write_path("a").name
    'a'
    """
    return Path(path)


def gcs_path(*relative: str | os.PathLike[str]) -> Path:
    """Return a path in the cloud folder of TFDS, which this library does not read.

    >>> str(gcs_path("datasets"))
    'gs://tfds-data/datasets'
    """
    return Path("gs://tfds-data", *relative)


# `tfds.testing` and `tfds.visualization`: names that can be imported, without an implementation.


class NotHere:
    """A TFDS name for tests or visualization, which can be subclassed and inspected, but not called.

    >>> class MyTest(NotHere("DatasetBuilderTestCase")):
    ...     SPLITS = {"train": 3}
    >>> NotHere("test_main")()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    datasets_core.errors.ConfigurationError: 'test_main' of tfds.testing is not supported. Load the dataset, ...
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> NotHere:
        if name.startswith("_"):
            raise AttributeError(f"{self._name} has no {name!r}", name=name)
        return NotHere(f"{self._name}.{name}")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (object,)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ConfigurationError(
            f"{self._name!r} of tfds.testing is not supported",
            advice="Load the dataset, and compare its rows",
            value=self._name,
        )


class GraphVisualizerMetadataDict(MetadataDict):
    """Metadata of the edges of a graph, for visualization.

    Args:
        edgelist_feature_name: name of the feature with the edges.
        graph_feature_name: old name of the same argument.
    """

    def __init__(self, edgelist_feature_name: str = "", graph_feature_name: str = "", **more: Any) -> None:
        super().__init__(edgelist_feature_name=edgelist_feature_name, graph_feature_name=graph_feature_name, **more)


class Names:
    """A TFDS module with some names, and `NotHere` for all others.

    Args:
        known: the implemented names.
    """

    def __init__(self, **known: Any) -> None:
        vars(self).update(known)

    def __getattr__(self, name: str) -> NotHere:
        if name.startswith("_"):
            raise AttributeError(f"tfds.testing has no {name!r}", name=name)
        return NotHere(name)


testing = Names()
visualization = Names(GraphVisualizerMetadataDict=GraphVisualizerMetadataDict)


# `tfds.typing`: type names for annotations of TFDS builders, without effect.


T = TypeVar("T")
Dim = int | None
Json = JsonValue = dict[str, Any] | list[Any] | str | int | float | bool | None
Key = int | str | bytes
KeySerializedExample = tuple[Key, bytes]
NpArrayOrScalar = np.ndarray | np.generic | Any
NpArrayOrScalarDict = dict[str, Any]
PathLike = str | os.PathLike[str]
Shape = tuple[Dim, ...]
Tensor = TensorDict = TfdsDType = FeatureConnectorArg = FeatureSpecs = SplitArg = DecoderArg = Any


class _Generic:
    """A type of other types."""

    def __class_getitem__(cls, item: Any) -> Any:
        return Any


class ListOrElem(_Generic):
    """A value, or a list of values."""


class ListOrTreeOrElem(_Generic):
    """A value, or a nesting of values."""


class Tree(_Generic):
    """A nesting."""


class TreeDict(_Generic):
    """A nesting of dicts."""


class TupleOrList(_Generic):
    """Several values."""


KeyExample = tuple[Key, Any]
KeyExamples = Iterator[KeyExample]


TFDS_VERSION = "4.9.10"  # names used by TFDS
KiB, MiB, GiB, TiB, PiB = (1024**power for power in range(1, 6))
memoize = functools.lru_cache
nullcontext = contextlib.nullcontext


class FileFormat(enum.Enum):
    """The file formats of TFDS; in this library they all mean Arrow files."""

    TFRECORD = "tfrecord"
    RIEGELI = "riegeli"
    ARRAY_RECORD = "array_record"
    PARQUET = "parquet"


class Size(int):
    """A number of bytes that prints with its unit.

    >>> Size(3 * MiB)
    3.00 MiB
    """

    def __repr__(self) -> str:
        for name, unit in (("PiB", PiB), ("TiB", TiB), ("GiB", GiB), ("MiB", MiB), ("KiB", KiB)):
            if self >= unit:
                return f"{self / unit:.2f} {name}"
        return f"{int(self)} bytes"

    __str__ = __repr__


class TextEncoderConfig:
    """Word encoding of old TFDS versions; this library only builds plain text.

    Args:
        encoder: an encoder.
        encoder_cls: class of the encoder.
        vocab_size: number of words.
        name: name of the encoder.
    """

    def __init__(
        self, encoder: Any = None, encoder_cls: Any = None, vocab_size: int | None = None, name: str | None = None
    ) -> None:
        self.encoder, self.encoder_cls, self.vocab_size = encoder, encoder_cls or (encoder and type(encoder)), vocab_size
        self.name = name or ("plain_text" if self.encoder_cls is None else self.encoder_cls.__name__)


class classproperty(property):  # noqa: N801 - its name in TFDS
    """Decorator for a class property.

    >>> class A:
    ...     @classproperty
    ...     @classmethod
    ...     def size(cls):
    ...         return 3
    >>> A.size
    3
    """

    def __get__(self, instance: Any, owner: Any = None, /) -> Any:
        assert self.fget is not None
        return self.fget.__get__(None, owner)()


def display_progress_bar(enabled: bool) -> None:
    """Switch progress bars on or off."""
    (enable_progress_bar if enabled else disable_progress_bar)()


def parse_bool(value: Any) -> bool:
    """Convert a string, a number or a bool to a bool.

    >>> parse_bool("True"), parse_bool("0"), parse_bool(1)
    (True, False, True)

    Raises:
        ValueError: the word is unknown.
    """
    if not isinstance(value, str):
        return bool(value)
    word = value.strip().lower()
    if word in ("true", "1", "false", "0"):
        return word in ("true", "1")
    raise ValueError(f"{value!r} is not a boolean. Pass 'true' or 'false'.")


def dedent(text: str | None) -> str:
    """Return a text without its indentation in code.

    >>> dedent('''
    ...     a
    ...     b
    ... ''')
    'a\\nb'
    """
    return textwrap.dedent(text).strip() if text else text or ""


def indent(text: str, indent: str) -> str:
    """Return a text with indented lines.

    >>> indent("a", "> ")
    '> a'
    """
    return textwrap.indent(dedent(text), indent)


def zip_dict(*dicts: Mapping[Any, Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield the values of several dicts for each key.

    >>> list(zip_dict({"a": 1}, {"a": 2}))
    [('a', (1, 2))]

    Raises:
        KeyError: a dict lacks a key.
    """
    for key in dict.fromkeys(key for each in dicts for key in each):
        yield key, tuple(each[key] for each in dicts)


def map_nested(function: Callable[[Any], Any], data_struct: Any, dict_only: bool = False, map_tuple: bool = False) -> Any:
    """Return the result of a function for each leaf of a nesting.

    Args:
        function: function of a leaf.
        data_struct: the nesting.
        dict_only: True to treat lists as leaves.
        map_tuple: False to treat tuples as leaves.

    >>> map_nested(str, {"a": [1, 2]})
    {'a': ['1', '2']}
    """
    if isinstance(data_struct, Mapping):
        return {key: map_nested(function, value, dict_only, map_tuple) for key, value in data_struct.items()}
    nests = () if dict_only else (list, tuple) if map_tuple else (list,)
    if isinstance(data_struct, nests):
        return type(data_struct)(map_nested(function, value, dict_only, map_tuple) for value in data_struct)
    return function(data_struct)


def zip_nested(arg0: Any, *args: Any, dict_only: bool = False) -> Any:
    """Combine nestings of the same structure into one nesting of tuples.

    >>> zip_nested({"a": [1]}, {"a": [2]})
    {'a': [(1, 2)]}
    """
    if isinstance(arg0, Mapping):
        return {key: zip_nested(*values, dict_only=dict_only) for key, values in zip_dict(arg0, *args)}
    if isinstance(arg0, list) and not dict_only:
        return [zip_nested(*values, dict_only=dict_only) for values in zip(arg0, *args, strict=True)]
    return (arg0, *args)


def flatten_nest_dict(d: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten nested dicts into one, with keys joined by slashes.

    >>> flatten_nest_dict({"a": {"b": 1}, "c": 2})
    {'a/b': 1, 'c': 2}
    """
    flat: dict[str, Any] = {}
    for key, value in d.items():
        if isinstance(value, Mapping):
            flat.update({f"{key}/{inner}": leaf for inner, leaf in flatten_nest_dict(value).items()})
        else:
            flat[key] = value
    return flat


def pack_as_nest_dict(flat_d: Mapping[str, Any], nest_d: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a flat dict in the structure of a nested one; the inverse of `flatten_nest_dict`.

    >>> pack_as_nest_dict({"a/b": 1, "c": 2}, {"a": {"b": None}, "c": None})
    {'a': {'b': 1}, 'c': 2}
    """

    def packed(form: Mapping[str, Any], above: str) -> dict[str, Any]:
        return {
            key: packed(value, f"{above}{key}/") if isinstance(value, Mapping) else flat_d[f"{above}{key}"]
            for key, value in form.items()
        }

    return packed(nest_d, "")


def jpeg_cmyk_to_rgb(image: bytes, quality: int = 100) -> bytes:
    """Convert the bytes of a CMYK JPEG to RGB."""
    return _encoded(image, "JPEG", quality=quality, subsampling=2)


def png_to_jpeg(image: bytes, quality: int = 100) -> bytes:
    """Convert the bytes of a PNG to JPEG."""
    return _encoded(image, "JPEG", quality=quality, subsampling=2)


def _encoded(image: bytes, form: str, **options: Any) -> bytes:
    pillow = needed("PIL.Image", "Converting images", "datasets_core[vision]")
    written, pixels = io.BytesIO(), fast_jpeg(image, 3) if settings().jpeg_dct == "fast" else None
    rgb = pillow.open(io.BytesIO(image)).convert("RGB") if pixels is None else pillow.fromarray(pixels)
    rgb.save(written, form, **options)
    return written.getvalue()


def ffmpeg_run(args: list[str], stdin: bytes | None = None, timeout: int | None = None) -> bytes:
    """Run the program ffmpeg, and return its output.

    Args:
        args: arguments of ffmpeg.
        stdin: input of ffmpeg.
        timeout: seconds to wait for it.

    Raises:
        ValueError: ffmpeg failed.
        MissingDependencyError: ffmpeg is not installed.
    """
    program = shutil.which("ffmpeg")
    if program is None:
        raise MissingDependencyError("ffmpeg", needed_for=f"{script_place()}")
    try:
        done = subprocess.run([program, *args], input=stdin, capture_output=True, check=True, timeout=timeout)
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        raise ValueError(f"ffmpeg failed with exit code {error.returncode}: {said[-500:]}") from error
    return done.stdout


@contextlib.contextmanager
def nogpu_session(graph: Any = None) -> Iterator[Any]:
    """Yield an `EagerSession`."""
    yield EagerSession(graph=graph)


# `tfds.dataset_builders`: builders for texts with one word per line and annotations in columns.


Paths = str | os.PathLike[str] | list[Any]


@dataclasses.dataclass(eq=False, kw_only=True)
class ConllBuilderConfig(BuilderConfig):
    """A config with the columns of a line.

    Args:
        separator: column separator.
        ordered_features: features of the columns, in order.

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
    """A config for the CoNLL-U format.

    Args:
        features: the features of a row.
        language: language of the texts.
    """

    features: Any = None
    language: str = ""

    @property
    def features_dict(self) -> FeaturesDict:
        """The features of a row."""
        return FeaturesDict(self.features)


class _Conll(GeneratorBasedBuilder, skip_registration=True):
    def create_dataset_info(self, **kwargs: Any) -> DatasetInfo:
        """Return the info of the dataset, with the features of its config.

        Args:
            kwargs: arguments of `tfds.core.DatasetInfo`.
        """
        told = {name: value for name, value in kwargs.items() if value is not None}
        return self.dataset_info_from_configs(features=self.builder_config.features_dict, **told)


class ConllDatasetBuilder(_Conll, skip_registration=True):
    """A builder for files with sentences separated by empty lines."""

    BUILDER_CONFIG_CLASS = ConllBuilderConfig

    def _generate_examples(self, filepaths: Paths) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield a row for each sentence, with a list per column; the last one of a file may be empty, as in TFDS."""
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
                            f"Line {number} of {os.fspath(path)} has {len(parts)} columns, but the config has {len(names)}. "
                            "Fix the line or the ordered_features."
                        ).placed(file=os.fspath(path), line=number)
                    for name, part in zip(names, parts, strict=True):
                        sentence[name].append(part.rstrip())
            yield key, sentence
            key += 1


class ConllUDatasetBuilder(_Conll, skip_registration=True):
    """A builder for CoNLL-U files, read by the package `conllu`."""

    BUILDER_CONFIG_CLASS = ConllUBuilderConfig

    def _generate_examples(
        self, filepaths: Paths, process_example_fn: Callable[..., dict[str, Any]] | None = None
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the row of each sentence, made by a function."""
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
    """Return the row of a sentence: words, annotations, text and id."""
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
    """Return the row of the words of a sentence that have a form and a tag."""
    kept = [word for word in sentence if word["form"] != "_" and word["upos"] != "_"]
    row: dict[str, Any] = {name: [] for name in features}
    return row | {"tokens": [word["form"] for word in kept], "upos": [word["upos"] for word in kept]}


# The tag sets of the shared tasks of CoNLL and of Universal Dependencies, as features and configs.


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
    """Return the config of a language of Universal Dependencies.

    Args:
        language: name of the language.
        features: features of a row.
        name: name of the config; default: the language.
        description: description for users.

    >>> get_universal_morphology_config("af", XTREME_POS_FEATURES).name
    'af'
    """
    return ConllUBuilderConfig(name=name or language, description=description, features=features, language=language)
