"""`DatasetInfo` of TFDS: metadata of a dataset by its names; read instructions; registered builders."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import json
import os
import textwrap
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar, cast

from datasets_core.building.cache_key import source_file
from datasets_core.errors import ConfigurationError, logger_of
from datasets_core.features.base import Feature
from datasets_core.meta import splits as splits
from datasets_core.meta.info import DatasetInfo as LibraryInfo
from datasets_core.meta.info import SupervisedKeysData
from datasets_core.meta.listings import UnfitFileError, small_bytes
from datasets_core.meta.reference import tfds_name
from datasets_core.meta.split_info import SplitDict
from datasets_core.meta.splits import SplitPart
from datasets_core.scripting.compat.packages import Path
from datasets_core.tfds.connectors import FeaturesDict
from datasets_core.tfds.features import as_tfds

# `tfds.core.ReadInstruction`: the library's own, its arguments in the order that TFDS gives them.


class _IsAnyInstruction(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, splits.ReadInstruction)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, splits.ReadInstruction)


class ReadInstruction(splits.ReadInstruction, metaclass=_IsAnyInstruction):
    """Row selection of a split; creates a `datasets_core.ReadInstruction`, and `isinstance` accepts any of these.

    Only the order of arguments differs: `ReadInstruction("train", None, 20)` is `train[:20]`.

    Args:
        split_name: name of the split; for the union of all splits pass the string `all` instead of an instruction.
        from_, to: bounds as in a Python slice; None is an open end.
        unit: `abs` (rows, the default), `%` or `shard`.
        rounding: with unit `%`, `closest` (default) or `pct1_dropremainder`; other units are not rounded.

    Raises:
        SplitSyntaxError: a name, bound, unit or rounding is invalid.
        ConfigurationError: the name is `all`, which is not a split.

    >>> from datasets_core import tfds
    >>> tfds.core.ReadInstruction("train", None, 20), tfds.core.ReadInstruction("train", 10, 20, "%")
    (ReadInstruction('train[:20]'), ReadInstruction('train[10%:20%]'))
    """

    __slots__ = ()

    def __new__(  # type: ignore[misc]
        cls,
        split_name: str,
        from_: float | None = None,
        to: float | None = None,
        unit: str | None = None,
        rounding: str | None = None,
    ) -> splits.ReadInstruction:
        """See the class."""
        part = splits.slice_part(split_name, from_=from_, to=to, unit=unit, rounding=rounding)
        return splits.ReadInstruction.from_parts((part,))

    def __init__(  # never called: defines the order of the arguments for type checkers
        self,
        split_name: str,
        from_: float | None = None,
        to: float | None = None,
        unit: str | None = None,
        rounding: str | None = None,
    ) -> None:
        raise NotImplementedError

    @classmethod
    def from_parts(cls, parts: Sequence[SplitPart]) -> splits.ReadInstruction:
        return splits.ReadInstruction.from_parts(parts)


# The builder classes defined in code, by name; a class is registered when it is created.


_HOOKS = ("_info", "_split_generators", "_generate_examples", "_shard_iterators_per_split")
_SCRIPTS = "datasets_core_scripts."  # modules of scripts read from a path
_classes: dict[str, type] = {}
_lock = threading.Lock()
_skips: ContextVar[bool] = ContextVar("skips", default=False)


class Split(str):
    """The name of a split: a string. Unlike the splits of the library, `+` joins the texts, as in TFDS.

    Args:
        name: name of the split.

    >>> Split.TRAIN, Split.TRAIN + "_05", Split("dev")
    (Split('train'), 'train_05', Split('dev'))
    """

    __slots__ = ()
    TRAIN: ClassVar[Split]
    TEST: ClassVar[Split]
    VALIDATION: ClassVar[Split]
    ALL: ClassVar[Split]

    def __new__(cls, name: str) -> Split:
        """Return the name."""
        return str.__new__(cls, name)

    def __repr__(self) -> str:
        return f"Split({super().__repr__()})"


Split.TRAIN, Split.TEST, Split.VALIDATION, Split.ALL = map(Split, ("train", "test", "validation", "all"))


@contextlib.contextmanager
def skip_registration() -> Iterator[None]:
    """A context in which new classes are not registered.

    >>> with skip_registration():
    ...     pass
    """
    token = _skips.set(True)
    try:
        yield
    finally:
        _skips.reset(token)


def name_of(cls: type) -> str:
    """Return the name of a builder: the class name in snake case, or the folder name for a class named `Builder`."""
    if cls.__name__ == "Builder":
        path = source_file(cls)
        package = cls.__module__.split(".")
        if path is not None:
            return tfds_name(os.path.basename(os.path.dirname(os.path.abspath(path))))
        if len(package) > 1:
            return package[-2]
    return tfds_name(cls.__name__)


def register(cls: type, name: str) -> bool:
    """Register a class by name, unless it is abstract or skips registration.

    A redefined class (in a notebook cell, or a reloaded module) replaces the old one.

    Raises:
        ConfigurationError: other code has defined a class of that name.
    """
    if _skips.get() or is_abstract(cls):
        return False
    with _lock:
        known = _classes.get(name)
        if known is not None and not _is_same_code(known, cls):
            raise ConfigurationError(
                f"{known.__module__}.{known.__qualname__} is already registered as builder {name!r}, which is also the name "
                f"of {cls.__module__}.{cls.__qualname__}",
                advice="Rename one, or define it with skip_registration=True",
            )
        _classes[name] = cls
    return True


def _is_same_code(known: type, cls: type) -> bool:
    """Return True if a class is a redefinition of the other: same module or file; scripts are compared by path, not by module
    name.

    A class made by `type(…)` has only the module `abc`, so its origin is unknown.
    """
    modules = [each.__module__.replace("__mp_main__", "__main__") for each in (known, cls)]
    if modules[0] == modules[1] or "abc" in modules or all(module.startswith(_SCRIPTS) for module in modules):
        return True
    files = source_file(known), source_file(cls)
    return files[0] is not None and files[0] == files[1]


def is_abstract(cls: type) -> bool:
    """Return True if a builder has an unimplemented hook; called during class creation, before Python computes it."""
    return any(getattr(getattr(cls, name, None), "__isabstractmethod__", False) for name in _HOOKS) or inspect.isabstract(cls)


def registered(name: str) -> type | None:
    """Return the class of that name; None if there is none."""
    return _classes.get(name)


def registered_names() -> list[str]:
    """Return the names of all registered builders.

    >>> from datasets_core import tfds
    >>> tfds.list_builders() == registered_names()
    True
    """
    return sorted(_classes)


logger = logger_of(__name__)

_MOST_TEXT_BYTES = 16 << 20


class MetadataDict(dict[str, Any]):
    """Additional values recorded by the author of a dataset.

    >>> MetadataDict({"sample_rate": 16_000})["sample_rate"]
    16000
    """


Metadata = BeamMetadataDict = MetadataDict


@dataclasses.dataclass
class DatasetIdentity:
    """Name, config and version of a dataset, and its folder.

    >>> DatasetIdentity(name="mnist", version="1.0.0").name
    'mnist'
    """

    name: str
    version: Any = None
    data_dir: str | None = None
    module_name: str = ""
    config_name: str | None = None
    config_description: str | None = None
    config_tags: list[str] | None = None
    release_notes: dict[str, str] | None = None


class Keys(SupervisedKeysData):
    """Input and output of a supervised task; equal to the tuple of both.

    >>> Keys("image", "label") == ("image", "label")
    True
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[str]:
        return iter((self.input, self.output))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> str:
        return (self.input, self.output)[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (tuple, list)):
            return tuple(other) == tuple(self)
        return isinstance(other, SupervisedKeysData) and (other.input, other.output) == (self.input, self.output)

    def __hash__(self) -> int:
        return hash((self.input, self.output))

    def __repr__(self) -> str:
        return repr((self.input, self.output))


class DatasetInfo(LibraryInfo):
    """Metadata of a dataset: `tfds.core.DatasetInfo`.

    Args:
        builder: the builder of the dataset.
        description: description for users.
        features: the columns: a `FeaturesDict`, or a dict of features and dtypes.
        supervised_keys: the columns of a supervised task, as a tuple of names, tuples or dicts.
        disable_shuffling: True to write rows in source order instead of by the hash of their keys.
        nondeterministic_order: ignored: the order is always the same.
        homepage: URL of its web page.
        citation: text of the citation.
        metadata: additional values.
        license: license of the data.
        redistribution_info: stored, but without effect.
        split_dict: known splits.
        alternative_file_formats, is_blocked: ignored.

    >>> from datasets_core import tfds
    >>> info = tfds.core.DatasetInfo(features={"x": np.int64, "label": np.int64}, supervised_keys=("x", "label"))
    >>> info.features["x"], info.supervised_keys
    (Value('int64'), ('x', 'label'))
    """

    metadata: Any
    redistribution_info: dict[str, str] | None
    data_dir: str | None
    file_format: str | None

    def __init__(
        self,
        *,
        builder: Any = None,
        description: str | None = None,
        features: Mapping[str, Any] | Feature | None = None,
        supervised_keys: Any = None,
        disable_shuffling: bool = False,
        nondeterministic_order: bool = False,
        homepage: str | None = None,
        citation: str | None = None,
        metadata: Any = None,
        license: str | None = None,
        redistribution_info: dict[str, str] | None = None,
        split_dict: Any = None,
        alternative_file_formats: Any = None,
        is_blocked: str | None = None,
    ) -> None:
        super().__init__(
            description=_plain(description),
            citation=_plain(citation),
            homepage=homepage or "",
            license=license or "",
            features=None if features is None else FeaturesDict(_columns(features)),
            splits=split_dict,
            disable_shuffling=disable_shuffling,
        )
        self.supervised_keys = _keys(supervised_keys)
        self.metadata, self.redistribution_info, self.data_dir = metadata, redistribution_info, None
        self.file_format = None

    @classmethod
    def of(cls, info: LibraryInfo, *, known: DatasetInfo | None = None, data_dir: str | None = None) -> DatasetInfo:
        """Return an info of this library as an info of TFDS.

        Args:
            info: the info of this library.
            known: the earlier info of the same dataset, for fields that the library does not store.
            data_dir: existing or future folder of the dataset.
        """
        made = cls.__new__(cls)
        made.metadata = made.redistribution_info = made.file_format = None
        vars(made).update(vars(info.copy()))
        made.data_dir = data_dir
        if made.features is not None:
            made.features = as_tfds(made.features)
        made.supervised_keys = _keys(made.supervised_keys)
        made.splits = SplitDict(dataset_name=made.dataset_name) if made.splits is None else made.splits
        told = made.further if isinstance(made.further, dict) else {}
        for name in ("metadata", "redistribution_info", "supervised_keys"):
            if getattr(made, name) is None and name in told:
                setattr(made, name, _tuples(told[name]) if name == "supervised_keys" else told[name])
            if known is not None and getattr(made, name) is None:
                setattr(made, name, getattr(known, name))
        if known is not None and made.file_format is None:
            made.file_format = known.file_format
        made.place(data_dir)
        return made

    def place(self, data_dir: str | None) -> None:
        """Record the folder of the dataset, which the splits need for the paths of their files.

        Args:
            data_dir: existing or future folder of the dataset.
        """
        self.data_dir = data_dir
        if data_dir is not None:
            for split in (self.splits or {}).values():
                vars(split)["folder"] = Path(data_dir)

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return str(self.dataset_name or self.builder_name or "")

    @property
    def full_name(self) -> str:
        """See `DatasetInfo.full_name`; a config named `default` is part of it if the builder lists it, as its folder shows."""
        levels = [] if self.data_dir is None else os.path.normpath(self.data_dir).split(os.sep)
        if self.config_name == "default" and levels[-2:-1] == ["default"]:
            return "/".join((self.name, "default", str(self.version)))
        return super().full_name

    @property
    def config_description(self) -> str | None:
        """Description of the config recorded by TensorFlow Datasets."""
        told = self.further.get("config_description") if isinstance(self.further, dict) else None
        return None if told is None else str(told)

    @property
    def initialized(self) -> bool:
        """True if the dataset was built."""
        return bool(self.splits)

    def to_dict(self) -> dict[str, Any]:
        """See `DatasetInfo.to_dict`; fields that only TFDS has are in `further`, if JSON can store them."""
        stored, keys = self.copy(), cast(Any, self.supervised_keys)
        told: dict[str, Any] = {"metadata": self.metadata, "redistribution_info": self.redistribution_info}
        if keys is not None and not isinstance(keys, SupervisedKeysData):
            stored.supervised_keys, told["supervised_keys"] = None, keys
        stored.further = {name: value for name, value in told.items() if value is not None and _is_json(name, value)} or None
        return LibraryInfo.to_dict(stored)

    def __repr__(self) -> str:
        known = [(item.name, getattr(self, item.name)) for item in dataclasses.fields(self)]
        told = {name: value for name, value in known if value is not None and value is not False and str(value)}
        told.pop("download_checksums", None)
        lines = "".join(f"    {name}={value!r},\n" for name, value in {"full_name": self.full_name, **told}.items())
        return f"tfds.core.DatasetInfo(\n{lines})"


def _is_json(name: str, value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        logger.warning("%s of the dataset is not stored: %s. Use numbers, strings, lists and dicts.", name, error)
        return False
    return True


def _tuples(stored: Any) -> Any:
    """Restore nested supervised keys, whose tuples became lists in JSON."""
    if isinstance(stored, dict):
        return {name: _tuples(inner) for name, inner in stored.items()}
    return tuple(map(_tuples, stored)) if isinstance(stored, list) else stored


def _columns(features: Any) -> Any:
    """Return the columns of a feature that is a dict of features in TFDS, such as `Translation`; other features unchanged."""
    flatten = getattr(features, "flatten", None)
    parts = flatten() if isinstance(features, Feature) and flatten is not None else None
    return parts if isinstance(parts, dict) else features


def _keys(given: Any) -> Any:
    """Return supervised keys in stored form: two names as `Keys`, any other structure unchanged."""
    if isinstance(given, SupervisedKeysData):
        return Keys(given.input, given.output) if given.input or given.output else None
    if isinstance(given, (tuple, list)) and len(given) == 2 and all(isinstance(name, str) for name in given):
        return Keys(*given)
    return _sorted(tuple(given) if isinstance(given, list) else given)


def _sorted(keys: Any) -> Any:
    """Return supervised keys with the names of each dict in order, as TFDS stores them."""
    if isinstance(keys, dict):
        return {name: _sorted(keys[name]) for name in sorted(keys)}
    return tuple(map(_sorted, keys)) if isinstance(keys, tuple) else keys


def _plain(text: str | None) -> str:
    return "" if text is None else textwrap.dedent(text).strip()


def text_beside(path: str | None, name: str) -> str:
    """Return the text of a file next to a script; empty if it does not exist."""
    if path is None:
        return ""
    try:
        place = os.path.join(os.path.dirname(os.path.abspath(path)), name)
        return small_bytes(place, most_bytes=_MOST_TEXT_BYTES).decode("utf-8").replace("\r\n", "\n").strip()
    except (OSError, UnfitFileError, UnicodeDecodeError):
        return ""
