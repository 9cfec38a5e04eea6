"""Old names of Hugging Face `datasets` for scripts: helpers, `config`, lenient versions, task templates."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
import itertools
import os
import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import IO, Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from datasets_core import config, files
from datasets_core._version import __version__
from datasets_core.config import parse_size
from datasets_core.errors import ConfigurationError
from datasets_core.features.base import Feature, FieldLists, LargeList, List, Sequence, Value, as_feature
from datasets_core.features.cast import cast_table
from datasets_core.features.media.audio import Audio
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.serialization import feature_to_json
from datasets_core.features.types import ClassLabel
from datasets_core.features.values import is_tensor, tensor_array
from datasets_core.files import is_url
from datasets_core.meta import version
from datasets_core.meta.reference import camelcase_to_snakecase
from datasets_core.meta.split_info import SplitInfo
from datasets_core.optional import is_installed
from datasets_core.store.fingerprint import Hasher

# A `Sequence` of a dict is an instance of `Sequence`, as it was when `datasets` ran scripts.


class _ScriptSequenceType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, (List, FieldLists))


class ScriptSequence(metaclass=_ScriptSequenceType):
    """A list in each row. A list of dicts is stored as one dict of lists, which is also a `Sequence` with its `feature`.

    >>> sequence = ScriptSequence({"text": Value("string")})
    >>> sequence, sequence.feature, isinstance(sequence, ScriptSequence), isinstance({}, ScriptSequence)
    ({'text': List(Value('string'))}, {'text': Value('string')}, True, False)
    """

    def __new__(cls, feature: Any = None, length: int = -1, id: str | None = None) -> Any:
        """Return the `List`, or the dict of lists.

        Raises:
            ConfigurationError: `feature` is missing, or not a feature.
        """
        made = Sequence(feature, length, id)
        if isinstance(made, dict):
            made = FieldLists(made)
            made.feature, made.length, made.id = as_feature(feature), length, id
        return made


# Small helpers that scripts take from inside `datasets`; only scripts use them.


@dataclass
class PostProcessedInfo:
    """Record of a post-processed dataset; it is ignored."""

    features: Features | None = None
    resources_checksums: dict[str, Any] | None = None


class NestedDataStructure:
    """Values in any nesting.

    >>> NestedDataStructure({"a": [1, 2], "b": 3}).flatten()
    [1, 2, 3]
    """

    def __init__(self, data: Any = None) -> None:
        self.data = [] if data is None else data

    def flatten(self, data: Any = None) -> list[Any]:
        """Return the values without their nesting, in order."""
        found: list[Any] = []
        waiting = [self.data if data is None else data]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                waiting += reversed(value.values())
            elif isinstance(value, (list, tuple)):
                waiting += reversed(value)
            else:
                found.append(value)
        return found


def cast_to_python_objects(obj: Any, only_1d_for_numpy: bool = False, optimize_list_casting: bool = True) -> Any:
    """Return a value with tensors as arrays, and pandas objects as Python lists, dicts and times.

    Args:
        obj: the value.
        only_1d_for_numpy: True to return arrays of more dimensions as lists of one-dimensional arrays.
        optimize_list_casting: ignored.

    >>> cast_to_python_objects({"a": np.ones((1, 2), "int8"), "b": (np.float64(1),)}, only_1d_for_numpy=True)
    {'a': [array([1, 1], dtype=int8)], 'b': (np.float64(1.0),)}
    """
    if isinstance(obj, Mapping):
        return {name: cast_to_python_objects(value, only_1d_for_numpy) for name, value in obj.items()}
    if isinstance(obj, (list, tuple)):
        found = [cast_to_python_objects(value, only_1d_for_numpy) for value in obj]
        return tuple(found) if type(obj) is tuple else found
    if is_tensor(type(obj)):
        obj = tensor_array(obj)
    if isinstance(obj, np.ndarray) and not obj.ndim:
        return obj[()]
    if isinstance(obj, np.ndarray) and only_1d_for_numpy and obj.ndim > 1:
        return [cast_to_python_objects(value, only_1d_for_numpy) for value in obj]
    if type(obj).__module__.partition(".")[0] == "pandas":
        for convert, is_nested in {"to_pydatetime": False, "to_pytimedelta": False, "tolist": True, "to_dict": True}.items():
            if hasattr(obj, convert):
                value = getattr(obj, convert)(*(["list"] if convert == "to_dict" else []))
                return cast_to_python_objects(value, only_1d_for_numpy) if is_nested else value
    return obj


def set_caching_enabled(boolean: bool) -> None:
    """Choose whether results of transforms are cached from now on."""
    (config.enable_caching if boolean else config.disable_caching)()


def filename_prefix_for_split(name: str, split: str) -> str:
    """Return the prefix of the names of the files of a split.

    >>> filename_prefix_for_split("MyData", "train")
    'my_data-train'
    """
    if os.path.basename(name) != name or not re.fullmatch(r"\w+(\.\w+)*", split):
        raise ConfigurationError(
            f"{name!r} and {split!r} are not valid names of a dataset and a split", advice="Pass names without slashes"
        )
    return f"{camelcase_to_snakecase(name)}-{split}"


def filenames_for_dataset_split(
    path: str, dataset_name: str, split: str, filetype_suffix: str | None = None, shard_lengths: Collection[int] | None = None
) -> list[str]:
    """Return the paths of the files of a split.

    >>> filenames_for_dataset_split("d", "reviews", "train", "arrow", [3, 4])
    ['d/reviews-train-00000-of-00002.arrow', 'd/reviews-train-00001-of-00002.arrow']
    """
    prefix = os.path.join(path, filename_prefix_for_split(dataset_name, split))
    suffix = f".{filetype_suffix}" if filetype_suffix else ""
    count = len(shard_lengths or ())
    return [f"{prefix}-{number:05d}-of-{count:05d}{suffix}" for number in range(count)] or [f"{prefix}{suffix}"]


def extract_path_from_uri(dataset_path: str) -> str:
    """Return a URL of a store without its scheme.

    >>> extract_path_from_uri("s3://bucket/a"), extract_path_from_uri("a/b")
    ('bucket/a', 'a/b')
    """
    return dataset_path.partition("://")[2] if is_url(dataset_path) else dataset_path


def is_remote_filesystem(fs: Any) -> bool:
    """Return True if a file system of fsspec is not the local one."""
    protocol = getattr(fs, "protocol", "file")
    return "file" not in ((protocol,) if isinstance(protocol, str) else tuple(protocol))


# Names inside `datasets` without a public counterpart here: lenient versions, and small helpers.


Key = int | str | tuple[int, int]


@dataclass(frozen=True, eq=False, repr=False)
class Version(version.Version):
    """A version whose numbers may have leading zeros, as dates do.

    >>> Version("2018.04.18", "the first") == "2018.4.18", Version("1.0.0") == "new"
    (True, False)
    """

    def __eq__(self, other: object) -> bool:
        """Return True for the same version, and for its text; other values are not an error."""
        return self.is_valid(other) and super().__eq__(other)

    __hash__ = version.Version.__hash__

    def __post_init__(self) -> None:
        text: object = self.version_str
        if isinstance(text, str) and not self.is_valid(text):
            self._set(version_str=str(version.as_version(text)))
        super().__post_init__()


# -- files -------------------------------------------------------------------------------------------------------------


def xopen(file: str | os.PathLike[str], mode: str = "r", *arguments: Any, **options: Any) -> IO[Any]:
    """Open a local file or a URL like `open`.

    Args:
        file: its path or URL.
        mode: "r" or "rb" for a URL.
        arguments, options: those of `open`; `download_config` is ignored.
    """
    options.pop("download_config", None)
    if not isinstance(file, str) or not files.is_url(file):
        return open(file, mode, *arguments, **options)
    handle = files.open_binary(file)
    options.pop("buffering", None)
    return handle if "b" in mode else io.TextIOWrapper(handle, **options)


def is_remote_url(url_or_filename: str | os.PathLike[str]) -> bool:
    """Return True if a text names something behind a network.

    >>> is_remote_url("https://example.com/a"), is_remote_url("a/b.txt")
    (True, False)
    """
    text = os.fspath(url_or_filename)
    return files.is_url(text) and not text.startswith("file://")


def is_local_path(url_or_filename: str | os.PathLike[str]) -> bool:
    """Return True if a text names a file of this machine.

    >>> is_local_path("a/b.txt"), is_local_path("s3://a/b")
    (True, False)
    """
    return not is_remote_url(url_or_filename)


def is_relative_path(url_or_filename: str | os.PathLike[str]) -> bool:
    """Return True if a text is a relative path.

    >>> is_relative_path("a/b.txt"), is_relative_path("/a"), is_relative_path("https://a/b")
    (True, False, False)
    """
    return not files.is_url(os.fspath(url_or_filename)) and not os.path.isabs(url_or_filename)


def url_or_path_join(base_name: str, *pathnames: str) -> str:
    """Return a path or URL with parts appended.

    >>> url_or_path_join("https://example.com/a/", "b.txt")
    'https://example.com/a/b.txt'
    """
    return files.join(base_name, *pathnames)


def url_or_path_parent(url_or_path: str) -> str:
    """Return the folder of a path or URL.

    >>> url_or_path_parent("https://example.com/a/b.txt")
    'https://example.com/a'
    """
    return url_or_path.rpartition("/")[0] if is_remote_url(url_or_path) else os.path.dirname(url_or_path)


def hash_url_to_filename(url: str, etag: str | None = None) -> str:
    """Return a unique name for the file of a URL.

    >>> hash_url_to_filename("https://example.com/a.zip") != hash_url_to_filename("https://example.com/a.zip", "v2")
    True
    """
    return Hasher.hash([url, etag])


def get_datasets_user_agent(user_agent: str | Mapping[str, str] | None = None) -> str:
    """Return the user agent of scripts that fetch files on their own.

    >>> get_datasets_user_agent({"purpose": "test"}).partition("; ")[2]
    'purpose/test'
    """
    own = f"datasets_core/{__version__}"
    more = "; ".join(f"{name}/{value}" for name, value in user_agent.items()) if isinstance(user_agent, Mapping) else user_agent
    return f"{own}; {more}" if more else own


def readline(f: Any) -> Any:
    """Return the next line of an open file, with its end."""
    return f.readline()


# -- values ------------------------------------------------------------------------------------------------------------


def map_nested(
    function: Callable[[Any], Any],
    data_struct: Any,
    dict_only: bool = False,
    map_list: bool = True,
    map_tuple: bool = False,
    map_numpy: bool = False,
    num_proc: int | None = None,
    parallel_min_length: int = 2,
    batched: bool = False,
    batch_size: int | None = 1000,
    **options: Any,
) -> Any:
    """Return the result of a function for each value in nested dicts and lists, with the same nesting.

    Args:
        function: the function, of one value, or of a list of values.
        data_struct: the nested values.
        dict_only: True to pass lists, tuples and arrays to the function as values.
        map_list, map_tuple, map_numpy: True to pass the items of lists, tuples or arrays instead of these.
        num_proc, parallel_min_length: ignored: the function is called in this process.
        batched: True to call the function on lists of values, for the list of their results.
        batch_size: maximum number of values in such a list; None for all.
        options: ignored.

    >>> map_nested(len, {"a": ["x", "yy"]}), map_nested(len, {"a": ["x", "yy"]}, dict_only=True)
    ({'a': [1, 2]}, {'a': 2})
    """
    kinds: tuple[type, ...] = ()
    if not dict_only:
        kinds = tuple(kind for kind, is_mapped in ((list, map_list), (tuple, map_tuple), (np.ndarray, map_numpy)) if is_mapped)

    def leaves(value: Any) -> Iterator[Any]:
        if not isinstance(value, (Mapping, *kinds)):
            yield value
            return
        items: Any = value.values() if isinstance(value, Mapping) else value
        for item in items:
            yield from leaves(item)

    def filled(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: filled(item) for name, item in value.items()}
        if not isinstance(value, kinds):
            return next(results)
        several: Any = value
        items = [filled(item) for item in several]
        return items if isinstance(value, list) else tuple(items) if isinstance(value, tuple) else np.array(items)

    found = list(leaves(data_struct))
    step = batch_size or len(found) or 1
    calls = (function(found[start : start + step]) for start in range(0, len(found), step))
    results = itertools.chain.from_iterable(calls) if batched else map(function, found)
    return filled(data_struct)


def asdict(obj: Any) -> Any:
    """Return a dataclass, or a dict with dataclasses, as dicts; fields that are None by default and still None are left out.

    Raises:
        TypeError: it is neither.

    >>> asdict({"train": SplitInfo("train", num_examples=2)})["train"]["num_examples"]
    2
    """
    if not isinstance(obj, dict) and (isinstance(obj, type) or not dataclasses.is_dataclass(obj)):
        raise TypeError(f"{obj!r} is not a dict or dataclass instance")
    return _as_plain(obj)


def _as_plain(value: Any) -> Any:
    if isinstance(value, Feature):
        return feature_to_json(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kept = {"dataset_name"} if isinstance(value, SplitInfo) else set()  # as `datasets` keeps it
        unset = {item.name for item in dataclasses.fields(value) if item.default is None} - kept
        return {name: item for name, item in dataclasses.asdict(value).items() if item is not None or name not in unset}
    if isinstance(value, dict):
        return {name: _as_plain(item) for name, item in value.items()}
    return [_as_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def unique_values(values: Any) -> Iterator[Any]:
    """Return each value once, in the order of first occurrence.

    >>> list(unique_values("abca"))
    ['a', 'b', 'c']
    """
    return iter(dict.fromkeys(values))


def zip_dict(*dicts: Mapping[Any, Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield the keys of dicts, each with its values in all dicts.

    >>> list(zip_dict({"a": 1}, {"a": 2}))
    [('a', (1, 2))]
    """
    for key in unique_values(key for each in dicts for key in each):
        yield key, tuple(each[key] for each in dicts)


def copyfunc(func: Any) -> FunctionType:
    """Return a copy of a function, or of the function of a method; attributes set on it do not change the original."""
    function = getattr(func, "__func__", func)
    made = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__, made.__doc__ = function.__kwdefaults__, function.__doc__
    return made


def convert_file_size_to_int(size: int | str) -> int:
    """Return a size in bytes.

    >>> convert_file_size_to_int("1MB")
    1000000
    """
    return parse_size(size) or 0


def size_str(size_in_bytes: int | None) -> str:
    """Return a size for users.

    >>> size_str(1536)
    '1.50 KiB'
    """
    if not size_in_bytes:
        return "Unknown size"
    for power, name in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if size_in_bytes >= 1024**power:
            return f"{size_in_bytes / 1024**power:.2f} {name}"
    return f"{int(size_in_bytes)} bytes"


@contextlib.contextmanager
def temp_seed(seed: int, set_pytorch: bool = False, set_tensorflow: bool = False) -> Iterator[None]:
    """Seed `numpy.random` and `random` within the block, and restore their states afterwards.

    Args:
        seed: the seed.
        set_pytorch: True to seed torch and its devices too, if it is installed.
        set_tensorflow: ignored.
    """
    numpy_state, state = np.random.get_state(), random.getstate()
    np.random.seed(seed)
    with contextlib.ExitStack() as opened:
        if set_pytorch and is_installed("torch"):
            import torch

            opened.enter_context(torch.random.fork_rng())
            torch.manual_seed(seed)
        try:
            yield
        finally:
            np.random.set_state(numpy_state)
            random.setstate(state)


# -- tables ------------------------------------------------------------------------------------------------------------


def table_cast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with the columns and types of a schema.

    Raises:
        CastError: the columns differ, or a value does not fit.

    >>> table_cast(pa.table({"a": [1]}), pa.schema({"a": pa.string()})).to_pylist()
    [{'a': '1'}]
    """
    return cast_table(table, Features.from_arrow_schema(schema), fill_missing=False)


def require_storage_cast(feature: Any) -> bool:
    """Return True if a table of plain types must be cast by `table_cast`, as media and labels must, also in lists and dicts."""
    return _some(feature, "cast_storage")


def require_storage_embed(feature: Any) -> bool:
    """Return True for features that store the content of files, also in lists and dicts."""
    return _some(feature, "embed_storage")


def _some(feature: Any, method: str) -> bool:
    if isinstance(feature, dict):
        return any(_some(each, method) for each in feature.values())
    return _some(feature.feature, method) if isinstance(feature, (List, LargeList)) else hasattr(feature, method)


# Settings of the library by their names in `datasets.config`: read on use, and read-only.


def __getattr__(name: str) -> Any:
    """Return a setting by its old name."""
    if name in config.old_names():
        return getattr(config, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return config.old_names()


@dataclass(frozen=True)
class TaskTemplate:
    """A task, and the columns of a dataset that it uses.

    >>> template = TextClassification(text_column="review", label_column="stars")
    >>> template.column_mapping
    {'review': 'text', 'stars': 'labels'}
    >>> TaskTemplate.from_dict({**template.to_dict(), "task": "text-classification"}) == template
    True
    """

    task: str = ""
    input_schema: ClassVar[Features] = Features({})
    label_schema: ClassVar[Features] = Features({})

    @property
    def features(self) -> Features:
        """The columns of the task, under the task's names."""
        return Features({**self.input_schema, **self.label_schema})

    @property
    def column_mapping(self) -> dict[str, str]:
        """Name of each column in the dataset → name in the task: from the fields that end in `_column`, in the order of the
        schemas.
        """
        columns = [getattr(self, field.name) for field in dataclasses.fields(self) if field.name.endswith("_column")]
        return dict(zip(columns, [*self.input_schema, *self.label_schema], strict=False))

    def align_with_features(self, features: Mapping[str, Any]) -> Self:
        """Return the template with the labels of these features, if the task has labels.

        Raises:
            ConfigurationError: the column of labels is missing, or does not contain labels.
        """
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the stored form."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def from_dict(cls, template_dict: Mapping[str, Any]) -> Self:
        """Return the template of a stored form; fields unknown to the template are ignored."""
        made: Any = _TASKS.get(str(template_dict.get("task")), cls) if cls is TaskTemplate else cls
        fields = {field.name for field in dataclasses.fields(made) if field.init}
        found: Self = made(**{name: value for name, value in template_dict.items() if name in fields})
        return found


class _Labelled(TaskTemplate):
    """A task whose labels are those of one `ClassLabel` column."""

    label_column: str

    def align_with_features(self, features: Mapping[str, Any]) -> Self:
        column = self.label_column
        if column not in features:
            known = ", ".join(map(repr, features))
            raise ConfigurationError(
                f"The task {self.task!r} takes its labels from column {column!r}, which is not one of the features",
                advice=f"Name one of {known}",
            )
        if not isinstance(features[column], ClassLabel):
            raise ConfigurationError(
                f"The task {self.task!r} takes its labels from column {column!r}, which is {features[column]!r}",
                advice="Make it a ClassLabel, or leave the task out",
            )
        aligned = copy.copy(self)
        schema = Features({**self.label_schema, "labels": features[column]})
        object.__setattr__(aligned, "label_schema", schema)  # an attribute of this template, over that of its class
        return aligned


@dataclass(frozen=True)
class TextClassification(_Labelled):
    """Texts, each with a label."""

    task: str = "text-classification"
    input_schema: ClassVar[Features] = Features({"text": Value("string")})
    label_schema: ClassVar[Features] = Features({"labels": ClassLabel(names=[])})
    text_column: str = "text"
    label_column: str = "labels"


@dataclass(frozen=True)
class ImageClassification(_Labelled):
    """Images, each with a label."""

    task: str = "image-classification"
    input_schema: ClassVar[Features] = Features({"image": Image()})
    label_schema: ClassVar[Features] = Features({"labels": ClassLabel(names=[])})
    image_column: str = "image"
    label_column: str = "labels"


@dataclass(frozen=True)
class AudioClassification(_Labelled):
    """Sounds, each with a label."""

    task: str = "audio-classification"
    input_schema: ClassVar[Features] = Features({"audio": Audio()})
    label_schema: ClassVar[Features] = Features({"labels": ClassLabel(names=[])})
    audio_column: str = "audio"
    label_column: str = "labels"


@dataclass(frozen=True)
class AutomaticSpeechRecognition(TaskTemplate):
    """Sounds, each with its transcription."""

    task: str = "automatic-speech-recognition"
    input_schema: ClassVar[Features] = Features({"audio": Audio()})
    label_schema: ClassVar[Features] = Features({"transcription": Value("string")})
    audio_column: str = "audio"
    transcription_column: str = "transcription"

    def align_with_features(self, features: Mapping[str, Any]) -> Self:
        """Return the template with the rate of the column of audio clips.

        Raises:
            ConfigurationError: that column is missing, or does not contain audio clips.
        """
        if not isinstance(features.get(self.audio_column), Audio):
            raise ConfigurationError(
                f"The task {self.task!r} takes its audio from column {self.audio_column!r}, which is not an Audio feature",
                advice="Name a column of audio clips, or leave the task out",
            )
        aligned = copy.copy(self)
        schema = Features({**self.input_schema, "audio": features[self.audio_column]})
        object.__setattr__(aligned, "input_schema", schema)
        return aligned


@dataclass(frozen=True)
class LanguageModeling(TaskTemplate):
    """Texts."""

    task: str = "language-modeling"
    input_schema: ClassVar[Features] = Features({"text": Value("string")})
    text_column: str = "text"


@dataclass(frozen=True)
class Summarization(TaskTemplate):
    """Texts, each with a summary."""

    task: str = "summarization"
    input_schema: ClassVar[Features] = Features({"text": Value("string")})
    label_schema: ClassVar[Features] = Features({"summary": Value("string")})
    text_column: str = "text"
    summary_column: str = "summary"


@dataclass(frozen=True)
class QuestionAnsweringExtractive(TaskTemplate):
    """Questions about a text; the answers are parts of the text."""

    task: str = "question-answering-extractive"
    input_schema: ClassVar[Features] = Features({"question": Value("string"), "context": Value("string")})
    label_schema: ClassVar[Features] = Features(
        {"answers": Sequence({"text": Value("string"), "answer_start": Value("int32")})}
    )
    question_column: str = "question"
    context_column: str = "context"
    answers_column: str = "answers"


_TASKS: dict[str, type[TaskTemplate]] = {
    kind.task: kind
    for kind in (
        TextClassification, ImageClassification, AudioClassification, AutomaticSpeechRecognition, LanguageModeling,
        Summarization, QuestionAnsweringExtractive,
    )
}  # fmt: skip


def task_template_from_dict(task_template_dict: Mapping[str, Any]) -> TaskTemplate | None:
    """Return the template of a stored form; None for an unknown task.

    >>> task_template_from_dict({"task": "language-modeling", "text_column": "line"}).column_mapping
    {'line': 'text'}
    """
    kind = _TASKS.get(str(task_template_dict.get("task")))
    return None if kind is None else kind.from_dict(task_template_dict)
