"""`DatasetInfo`: metadata of a dataset, and its stored forms; `Card`, `ConfigEntry`: content of a card."""

from __future__ import annotations

import abc
import copy
import dataclasses
import json
import os
import re
from collections import ChainMap, Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from datasets_core import files
from datasets_core.config import FEW_COLUMNS, check_columns
from datasets_core.errors import (
    ConfigurationError,
    DatasetsCoreError,
    FileNotFoundDatasetsError,
    ManifestError,
    UnknownSplitError,
    bounded_json,
)
from datasets_core.errors.fetching import restated
from datasets_core.features.base import Value
from datasets_core.features.schema import PLAIN_DTYPES, Features
from datasets_core.features.serialization import check_forms
from datasets_core.meta.split_info import SplitDict
from datasets_core.meta.version import Version, as_version

if TYPE_CHECKING:
    from datasets_core.meta.listings import FilesOrigin

INFO_FILE = "dataset_info.json"
LICENSE_FILE = "LICENSE"
_TEXTS = ("description", "citation", "homepage", "license")
_SIZES = ("download_size", "post_processing_size", "dataset_size", "size_in_bytes")
_CARD_SIZES = ("download_size", "dataset_size")


@dataclass(frozen=True)
class SupervisedKeysData:
    """The `input` and `output` columns of a supervised task.

    >>> from datasets_core import DatasetInfo
    >>> DatasetInfo(supervised_keys={"input": "text", "output": "label"}).supervised_keys.output
    'label'
    """

    input: str = ""
    output: str = ""


_KINDS: dict[str, tuple[type, ...]] = {
    "features": (Mapping,),
    "supervised_keys": (Mapping, list, tuple, SupervisedKeysData),
    "builder_name": (str,),
    "dataset_name": (str,),
    "config_name": (str,),
    "version": (str, Mapping, Version),
    "download_checksums": (Mapping,),
    "task_templates": (list, Mapping),
    "disable_shuffling": (bool,),
    "release_notes": (Mapping,),
}


class Deferred:
    """A value made on first use.

    Args:
        make: returns the value.

    >>> deferred = Deferred(lambda: 6 * 7)
    >>> deferred.value
    42
    """

    __slots__ = ("_make", "_value")

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make: Callable[[], Any] | None = make
        self._value: Any = None

    @property
    def value(self) -> Any:
        """The value."""
        make = self._make
        if make is not None:
            self._value = make()
            self._make = None
        return self._value

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(self.value, memo)

    def __reduce__(self) -> tuple[Any, ...]:
        return _same, (self.value,)


def _same(value: Any) -> Any:
    return value


class _FeaturesField:
    """`DatasetInfo.features`: plain columns of a stored form become `Features` on first access."""

    def __get__(self, info: Any, owner: type | None = None) -> Any:
        if info is None:
            return None  # the default of the field
        found = info.__dict__["features"]
        if type(found) is Deferred:
            found = info.__dict__["features"] = found.value
        return found

    def __set__(self, info: Any, features: Any) -> None:
        info.__dict__["features"] = features


class _OfFiles:
    """Origin of the files of a dataset, in addition to the fields of its info. It is neither compared nor stored."""

    files_origin: FilesOrigin | None = None


@dataclass(repr=False)
class DatasetInfo(_OfFiles):
    """The metadata of a dataset. None means unknown.

    Stored forms are accepted: features, version, splits and supervised keys may be dicts, lists or texts.

    Args:
        description, citation, homepage, license: texts.
        features: types of the columns.
        post_processed, task_templates: kept for files of older libraries.
        supervised_keys: input and output columns.
        builder_name, dataset_name, config_name, version: what identifies the dataset.
        splits: the splits, with their sizes and rows.
        download_checksums: size and sha256 of each download, by URL.
        download_size, post_processing_size, dataset_size, size_in_bytes: sizes in bytes.
        disable_shuffling: True to order rows by their keys or as in the source, not by the hash of their keys.
        release_notes: changes by version.
        further: JSON that the library stores and does not read.

    >>> DatasetInfo(description="Reviews", version="1.0.0", splits=[{"name": "train", "num_examples": 3}]).splits["train"]
    SplitInfo(name='train', num_bytes=0, num_examples=3)
    """

    description: str = field(default_factory=str)
    citation: str = field(default_factory=str)
    homepage: str = field(default_factory=str)
    license: str = field(default_factory=str)
    features: Features | None = None
    post_processed: Any = None
    supervised_keys: SupervisedKeysData | None = None
    builder_name: str | None = None
    dataset_name: str | None = None
    config_name: str | None = None
    version: Version | None = None
    splits: SplitDict | None = None
    download_checksums: dict[str, Any] | None = None
    download_size: int | None = None
    post_processing_size: int | None = None
    dataset_size: int | None = None
    size_in_bytes: int | None = None
    task_templates: Any = None
    disable_shuffling: bool = False
    release_notes: dict[str, str] | None = None
    further: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        # What a script or a stored form gives may be of a different type than what is kept.
        self.disable_shuffling = bool(self.disable_shuffling)
        features: Any = vars(self)["features"]
        is_known = features is None or isinstance(features, (Features, Deferred))
        if not (is_known or hasattr(features, "__iter__")):
            raise ConfigurationError(f"features of the info is {features!r}. Give Features, or a dict of column to feature.")
        if not is_known:
            given: Any = features
            self.features = Features.from_dict(check_forms(given)) if _is_stored(given) else Features(given)
        version: Any = self.version
        if isinstance(version, str):
            self.version = as_version(version)
        elif isinstance(version, Mapping):
            self.version = Version.from_dict(version)
        splits: Any = self.splits
        if splits is not None and not isinstance(splits, SplitDict):
            self.splits = SplitDict.from_split_dict(splits)
        keys: Any = self.supervised_keys
        if isinstance(keys, Mapping):
            self.supervised_keys = SupervisedKeysData(keys.get("input", ""), keys.get("output", ""))
        elif keys is not None and not isinstance(keys, SupervisedKeysData):
            self.supervised_keys = SupervisedKeysData(*keys)

    def __repr__(self) -> str:
        known = [(item.name, getattr(self, item.name)) for item in dataclasses.fields(self)]
        shown = [(name, value) for name, value in known if not _is_unknown(value) and value is not False]
        return f"DatasetInfo({', '.join(f'{name}={value!r}' for name, value in shown)})"

    @property
    def full_name(self) -> str:
        """Return `name/config/version`, as papers cite a dataset; without an unnamed config, and without unknown parts.

        >>> from datasets_core import DatasetInfo
        >>> DatasetInfo(dataset_name="reviews", config_name="en", version="1.2.0").full_name
        'reviews/en/1.2.0'
        """
        config = None if self.config_name == "default" else self.config_name
        return "/".join(str(part) for part in (self.dataset_name or self.builder_name, config, self.version) if part)

    def copy(self) -> DatasetInfo:
        """Return a deep copy."""
        made = copy.copy(self)
        for name, value in vars(self).items():
            setattr(made, name, _copied(value))
        return made

    def update(self, other_dataset_info: DatasetInfo, ignore_none: bool = True) -> DatasetInfo:
        """Set the values that another info has.

        Args:
            other_dataset_info: the info whose values are taken.
            ignore_none: True keeps the present value where the other one is None or an empty text.

        Returns:
            This info.
        """
        for name, value in vars(other_dataset_info).items():
            if not ignore_none or not _is_unknown(value):
                setattr(self, name, _copied(value))
        return self

    # -- stored forms --------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the form of `dataset_info.json`, as Hugging Face `datasets` writes it. Unknown values are left out."""
        form: dict[str, Any] = {}
        for item in dataclasses.fields(self):
            value = getattr(self, item.name)
            if value is not None and not (item.name == "disable_shuffling" and not value):  # other tools do not know it
                form[item.name] = _stored(value)
        return form

    @classmethod
    def from_dict(cls, dataset_info_dict: Mapping[str, Any]) -> DatasetInfo:
        """Return the info of the stored form `dataset_info_dict`, of this or an older library. Unknown keys are ignored.

        Raises:
            ConfigurationError: a value has the wrong type.
        """
        names = {item.name for item in dataclasses.fields(cls)}
        values = {name: value for name, value in dataset_info_dict.items() if name in names}
        for name in _TEXTS:
            values[name] = _text(name, values.get(name))
        for name in _SIZES:
            _check_size(name, values.get(name))
        for name, kinds in _KINDS.items():
            if not isinstance(values.get(name), (*kinds, type(None))):
                raise ConfigurationError(f"{name} is {values[name]!r}. Record {_kind_names(kinds)}, or null for unknown.")
        if (dtypes := _plain_dtypes(values.get("features"))) is not None:
            if len(dtypes) > FEW_COLUMNS:
                check_columns(len(dtypes), "The features")
            values["features"] = Deferred(partial(_plain_features, dtypes))
        return cls(**values)

    def to_yaml_dict(self) -> dict[str, Any]:
        """Return the form of `dataset_info:` in a dataset card. Unknown values are left out."""
        form: dict[str, Any] = {}
        if self.config_name is not None:
            form["config_name"] = self.config_name
        if self.features is not None:
            form["features"] = self.features.to_yaml_list()
        if self.splits is not None:
            form["splits"] = self.splits.to_yaml_list()
        return form | {name: getattr(self, name) for name in _CARD_SIZES if getattr(self, name) is not None}

    @classmethod
    def from_yaml_dict(cls, yaml_data: Mapping[str, Any]) -> DatasetInfo:
        """Return the info `yaml_data` under `dataset_info:` of a dataset card.

        Raises:
            ConfigurationError: a value has the wrong type.
        """
        values = dict(yaml_data)
        if values.get("features") is not None:
            values["features"] = Features.from_yaml_list(values["features"])
        if values.get("splits") is not None:
            values["splits"] = SplitDict.from_yaml_list(values["splits"])
        return cls.from_dict(values)

    _to_yaml_dict, _from_yaml_dict = to_yaml_dict, from_yaml_dict  # their names in `datasets`

    def to_croissant(self, folder: str | os.PathLike[str] | None = None, splits: Iterable[str] | None = None) -> dict[str, Any]:
        """Return a Croissant 1.1 description of the dataset, as JSON-LD: its files with their sha256, and their columns.

        The rows are those of the data files if their columns are those of the dataset (csv, JSON, Parquet, Arrow), else
        those of the built shards.  A dataset without files is described as Parquet files still to be written.
        Changes of rows after reading (`map`, `filter`) are in no file, and not described.

        Args:
            folder: folder of the description, the base of paths of local files below it; default:
                the loaded folder, or the innermost one that contains all files.
            splits: the splits to describe; default all.

        Raises:
            UnknownSplitError: a split does not exist.

        >>> info = DatasetInfo(dataset_name="birds", license="cc0-1.0", features=Features({"name": Value("string")}))
        >>> info.to_croissant()["recordSet"][0]["field"][0]["dataType"]
        'sc:Text'
        """
        return infos_to_croissant([self], folder, splits)

    # -- files ---------------------------------------------------------------------------------------------------------

    @classmethod
    def from_directory(
        cls, dataset_info_dir: str | os.PathLike[str], storage_options: dict[str, Any] | None = None
    ) -> DatasetInfo:
        """Return the info in the file `dataset_info.json` of a folder.

        Args:
            dataset_info_dir: local folder or URL.
            storage_options: options of the file system of a URL.

        Raises:
            FileNotFoundDatasetsError: the file does not exist.
            ManifestError: the file is invalid.
        """
        folder = os.fspath(dataset_info_dir or "")
        if not folder:
            raise ConfigurationError("The folder is an empty string", advice="Give the folder that holds dataset_info.json")
        path = files.join(folder, INFO_FILE)
        try:
            with files.open_binary(path, storage_options) as handle:
                data = handle.read()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise FileNotFoundDatasetsError(
                f"{path} does not exist. Give a folder that holds a built dataset.", file=path
            ) from error
        return info_of(parse_json(data, path=path), path=path)

    def write_to_directory(
        self,
        dataset_info_dir: str | os.PathLike[str],
        pretty_print: bool = False,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        """Write `dataset_info.json` and, if a license is recorded, `LICENSE` into a folder.

        Args:
            dataset_info_dir: local folder or URL.
            pretty_print: True indents the JSON.
            storage_options: options of the file system of a URL.

        Raises:
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        folder = os.fspath(dataset_info_dir)
        contents = {INFO_FILE: json.dumps(self.to_dict(), indent=4 if pretty_print else None)}
        if self.license:
            contents[LICENSE_FILE] = self.license
        if files.is_url(folder):
            store, inner = files.filesystem(folder, storage_options)
            store.makedirs(inner, exist_ok=True)
            for name, text in contents.items():
                store.pipe_file(files.join(inner, name), text.encode("utf-8", "surrogatepass"))
            return
        with files.disk_errors(folder):
            os.makedirs(files.local_path(folder), exist_ok=True)
        for name, text in contents.items():
            files.write_atomically(files.join(files.local_path(folder), name), text.encode("utf-8", "surrogatepass"))

    # -- several datasets ----------------------------------------------------------------------------------------------

    @classmethod
    def from_merge(cls, dataset_infos: Iterable[DatasetInfo | None]) -> DatasetInfo:
        """Return the combined info of several datasets.

        Equal infos give a copy. Otherwise the distinct texts are joined; the features are those of all columns, with the
        type of the first dataset that has the column; what describes a single dataset (version, splits, sizes) is left out.

        Args:
            dataset_infos: the infos; None is ignored.
        """
        infos = [info for info in dataset_infos if info is not None]
        if not infos:
            return cls()
        if all(info == infos[0] for info in infos):
            return infos[0].copy()
        merged = cls()
        for name in _TEXTS:
            texts = dict.fromkeys(getattr(info, name).strip() for info in infos)
            setattr(merged, name, "\n\n".join(filter(None, texts)))
        known = [info.features for info in infos if info.features is not None]
        if known:
            columns = {name: feature for features in reversed(known) for name, feature in features.items()}
            order = dict.fromkeys(name for features in known for name in features)
            merged.features = Features({name: copy.deepcopy(columns[name]) for name in order})
        return merged


DatasetInfo.features = _FeaturesField()  # type: ignore[assignment]


def _plain_dtypes(form: Any) -> dict[str, str] | None:
    """Return the dtypes by column of a stored form whose columns are all plain values; None for others."""
    if type(form) is not dict or not form:
        return None
    found: dict[str, str] = {}
    for name, column in form.items():
        if type(name) is not str or type(column) is not dict or len(column) != 2 or column.get("_type") != "Value":
            return None
        dtype = column.get("dtype")
        if type(dtype) is not str or dtype not in PLAIN_DTYPES:
            return None
        found[name] = dtype
    return found


def _plain_features(dtypes: Mapping[str, str]) -> Features:
    return Features({name: Value(dtype) for name, dtype in dtypes.items()})


def infos_to_croissant(
    infos: Sequence[DatasetInfo], folder: str | os.PathLike[str] | None = None, splits: Iterable[str] | None = None
) -> dict[str, Any]:
    """Return one description of all configs of a dataset; see `DatasetInfo.to_croissant`.

    Args:
        infos: infos of the configs, at least one.
        folder: folder of the description.
        splits: the splits to describe.

    Raises:
        UnknownSplitError: a config does not have the split.
    """
    from datasets_core.meta.croissant_description import CroissantFacts, described  # 3 ms that reading does without

    place = None if folder is None else os.fspath(folder)
    wanted = None if splits is None else list(splits)
    configs = []
    for info in infos:
        known = list(info.splits or ())
        if unknown := [split for split in wanted or () if known and split not in known]:
            raise UnknownSplitError(unknown[0], known=known, dataset=info.full_name or None)
        said = CroissantFacts(
            info.dataset_name or info.builder_name or "dataset",
            info.config_name or "default",
            description=info.description,
            citation=info.citation,
            license=info.license,
            homepage=info.homepage,
            version="" if info.version is None else str(info.version),
            features=info.features,
            splits=known if wanted is None else wanted,
        )
        configs.append((said, None if info.files_origin is None else info.files_origin.dataset_files(place)))
    return described(*configs)


def _is_unknown(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value)


def _is_stored(form: Any) -> bool:
    """Return True if `form` is the JSON form of features and not a mapping of feature objects."""
    if isinstance(form, Mapping):
        return isinstance(form.get("_type"), str) or any(map(_is_stored, form.values()))
    return isinstance(form, list) and any(map(_is_stored, form))


def _copied(value: Any) -> Any:
    """Like `copy.deepcopy`, which takes ten times as long for the records of thousands of downloads."""
    kind = type(value)
    if kind is dict:
        return {key: item if type(item) in _UNCHANGING else _copied(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) in _UNCHANGING else _copied(item) for item in value]
    if kind is Deferred:
        return Deferred(partial(_copy_of, value))
    return value if kind in _UNCHANGING else copy.deepcopy(value)


def _copy_of(deferred: Deferred) -> Any:
    return copy.deepcopy(deferred.value)


_UNCHANGING = frozenset((str, int, float, bool, bytes, type(None), Version))


def _stored(value: Any) -> Any:
    kind = type(value)
    if kind is str or kind is int or value is None:
        return value
    if kind is dict:
        return {key if type(key) is str else str(key): _stored(inner) for key, inner in value.items()}
    if isinstance(value, (Features, SplitDict, Version)):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: _stored(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _stored(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_stored, value))
    return value


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)  # a card may name several licenses
    if not isinstance(value, str):
        raise ConfigurationError(f"{name} is {value!r}", advice="Record a string")
    return value


def _check_size(name: str, value: Any) -> None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise ConfigurationError(f"{name} is {value!r}", advice="Record a number of bytes, or null for unknown")


def _kind_names(kinds: tuple[type, ...]) -> str:
    words = {str: "a text", Mapping: "an object", list: "a list"}
    return " or ".join(words[kind] for kind in kinds if kind in words)


def parse_json(text: str | bytes, *, path: str, is_strict: bool = True, most_values: int = 1 << 22) -> Any:
    """Return the content of a JSON file.

    Args:
        text, most_values: the JSON; see `bounded_json`.
        path: the file, for messages.
        is_strict: True to refuse duplicate keys in an object; the check takes ten times as long.

    Raises:
        ManifestError: not JSON in UTF-8, or a duplicate key.
    """
    try:
        return json.loads(bounded_json(text, most_values), object_pairs_hook=_once if is_strict else None)
    except json.JSONDecodeError as error:
        raise ManifestError(path, f"line {error.lineno}, column {error.colno}: the JSON is invalid: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise ManifestError(path, f"the JSON is not UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise ManifestError(path, "the JSON is nested too deeply") from error
    except ValueError as error:
        raise ManifestError(path, f"the JSON is invalid: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {twice!r} appears twice in one object")
    return made


def info_of(form: Any, *, path: str, place: str = "") -> DatasetInfo:
    """Return the info for `form`, found in a file.

    Args:
        form: parsed JSON.
        path: the file, for messages.
        place: place in the file, for messages.

    Raises:
        ManifestError: the form is invalid.
    """
    where = f"{place}: " if place else ""
    if not isinstance(form, Mapping):
        raise ManifestError(path, f"{where}the info of a dataset must be an object, found {_kind(form)}")
    try:
        return DatasetInfo.from_dict(form)
    except DatasetsCoreError as error:
        raise restated(error, path=path, where=where) from error
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        # A stored form that no library wrote: whatever it breaks, the file is what the user has to mend.
        raise ManifestError(path, f"{where}the info is invalid ({type(error).__name__}: {error})") from error


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")


# The content of a card as values: its configs, and the records of each.


_CONFIG_NAME = r"(?!\.{1,2}$)[^<>:/\\|?*\x00-\x1f\x7f]{1,255}"


_OPTIONS = (
    "batch_size block_size chunksize coerce_float column column_names columns comment comment_prefix compression "
    "compression_type con converters date_format decimal decode_num_threads delimiter dialect doublequote drop_labels dtype "
    "drop_metadata embed_files encoding encoding_errors engine error_bad_lines escapechar false_values features field "
    "filters float_precision fragment_scan_options header index_col keep_default_na keep_linebreaks lineterminator "
    "low_memory mangle_dupe_cols max_batch_bytes memory_map message metadata_filenames na_filter na_values names "
    "newlines_in_values nrows on_bad_files on_bad_lines on_mixed_types on_short_lines params parse_agent_traces "
    "parse_dates prefix quotechar quoting sample_by sep sequence_spec sheet_name skip_blank_lines skip_docstart "
    "skipfooter skipinitialspace skiprows spec sql table thousands true_values use_threads usecols verbose verify "
    "warn_bad_lines"
)
BUILDER_OPTIONS = frozenset(_OPTIONS.split())
"""Reader options of builders of this library; for other files they would have another meaning."""


class ConfigEntry(NamedTuple):
    """One item of `configs:`.

    Attributes:
        name: the config's name.
        data_files: patterns by split, relative to the repository; None if the card names none.
        data_dir: folder inside the repository, if one is named.
        default: True if the card marks it as the default.
        version: version, if one is named.
        options: all other keys, for the builder's config; `features` as a `Features`.
    """

    name: str
    data_files: dict[str, list[str]] | None = None
    data_dir: str | None = None
    default: bool = False
    version: str | None = None
    options: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Card:
    """A card: its configs in order, and its records by config name."""

    configs: list[ConfigEntry] = field(default_factory=list)
    infos: Mapping[str, DatasetInfo] = field(default_factory=dict)

    @property
    def default_config(self) -> str | None:
        """The default config: the one marked as default, one called `default`, or the only one."""
        marked = [entry.name for entry in self.configs if entry.default]
        named = [entry.name for entry in self.configs if entry.name == "default"]
        only = [entry.name for entry in self.configs] if len(self.configs) == 1 else []
        return next(iter(marked + named + only), None)

    def merge(self, other: Card) -> Card:
        """Return both cards as one; for a config of both, `other` has priority."""
        configs = {entry.name: entry for entry in [*self.configs, *other.configs]}
        return Card(list(configs.values()), joined(self.infos, other.infos))


class LazyInfos(Mapping[str, DatasetInfo]):
    """Infos by config, each made on first use."""

    def __init__(self) -> None:
        self._made: dict[str, DatasetInfo | None] = {}

    @abc.abstractmethod
    def one(self, name: str) -> DatasetInfo | None:
        """Return the info of one config; None if there is none."""

    @abc.abstractmethod
    def every(self) -> dict[str, DatasetInfo]:
        """Return the infos of all configs."""

    def __getitem__(self, name: str) -> DatasetInfo:
        if name not in self._made:
            self._made[name] = self.one(name)
        found = self._made[name]
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.every())

    def __len__(self) -> int:
        return len(self.every())


def is_config_name(name: object) -> bool:
    """Return True if a card may use a name for a config: it becomes the name of a folder.

    >>> is_config_name("en-1.0"), is_config_name("a/b"), is_config_name(".."), is_config_name("a\\nb")
    (True, False, False, False)
    """
    return isinstance(name, str) and re.fullmatch(_CONFIG_NAME, name) is not None


def joined(*infos: Mapping[str, DatasetInfo]) -> Mapping[str, DatasetInfo]:
    """Return several mappings of configs to infos as one; for a config in several of them, the last one is used.

    >>> from datasets_core import DatasetInfo
    >>> joined({"a": DatasetInfo("x"), "b": DatasetInfo("y")}, {"a": DatasetInfo("z")})["a"].description
    'z'
    """
    if all(isinstance(each, dict) for each in infos):
        return {name: info for each in infos for name, info in each.items()}
    return ChainMap(*(each for each in reversed(infos)))  # type: ignore[arg-type]  # nothing is written into it
