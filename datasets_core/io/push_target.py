"""`PushTarget`, `LocalShard`, `RepositoryState`, `ShardLimits`: arguments and results of a push as values."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from datasets_core.config import settings
from datasets_core.engines import get_engine
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.schema import Features
from datasets_core.hub_urls import is_commit, is_inner_path, is_repo_id
from datasets_core.meta.info import is_config_name
from datasets_core.meta.splits import ALL

if TYPE_CHECKING:
    from datasets_core.fetch.hub.client import Hub
    from datasets_core.fetch.hub.upload import HubWriter, NewFile

_SPLIT = re.compile(r"\w+(\.\w+)*")
_WILD = "*?[]{}"
_UNSAFE_PARTS = frozenset({"", ".", "..", ".git", ".cache"})


@dataclass(frozen=True, slots=True)
class LocalShard:
    """A local Parquet file of a split; the uploader removes it.

    Attributes:
        path: its path.
        split: name of its split.
        num_rows: number of rows.
        num_bytes: uncompressed bytes of its rows, as `dataset_info` counts them.
        file: the file on the Hub, if the worker that wrote it has sent it.
    """

    path: str
    split: str
    num_rows: int
    num_bytes: int
    file: NewFile | None = None


@dataclass
class WorkerUploads:
    """The branch to which workers on several machines send the files that they write; the driver makes the one commit.

    A token of `push_to_hub(token=)` does not travel: workers have one in their environment, or in their login.

    Attributes:
        hub: the Hub; a pickle of it has no token.
        repo_id: `org/name`, known when the repository is open.
        data_dir, revision, create_pr: see `PushTarget`.
        ignores_nothing: see `HubWriter.upload`.
    """

    hub: Hub
    repo_id: str
    data_dir: str
    revision: str | None
    create_pr: bool
    ignores_nothing: bool = False

    def sent(self, write: Callable[[str], Iterable[LocalShard]]) -> list[LocalShard]:
        """Write files into a folder of this machine and send each of them, in a worker.

        Args:
            write: yields the files that it writes into a folder.

        Raises:
            ConfigurationError: this machine has no token.
            PushError: the upload is refused.
        """
        import socket
        import tempfile

        from datasets_core.fetch.hub.upload import HubWriter
        from datasets_core.store.atomic import temporary_folder

        if self.hub.token() is None:
            raise ConfigurationError(
                f"The worker on {socket.gethostname()} has no token for {self.hub.endpoint}; tokens do not travel",
                advice="Set HF_TOKEN in the environment of the workers, or log in there (hf auth login)",
            )
        writer = HubWriter(self.hub, self.repo_id, revision=self.revision, create_pr=self.create_pr)
        with tempfile.TemporaryDirectory(dir=temporary_folder()) as folder:
            return [self._sent(writer, shard) for shard in write(folder)]

    def _sent(self, writer: HubWriter, shard: LocalShard) -> LocalShard:
        from datasets_core.fetch.hub.upload import NewFile

        name = os.path.basename(shard.path)
        file = NewFile(f"{self.data_dir}/{name}", shard.path)
        writer.upload([file], ignores_nothing=self.ignores_nothing)
        if not file.is_stored:  # a file that the Hub takes with the commit only
            with open(shard.path, "rb") as source:
                file = NewFile(file.path, source.read())
        file.forget_local()
        return replace(shard, path="", file=file)


@dataclass(frozen=True, slots=True)
class PushTarget:
    """Target and options of a push; `push_target` creates and checks it.

    Attributes:
        repo_id: `org/name`, or `name` for the namespace of the user.
        config_name: config of the splits.
        data_dir: folder of the shards of the config in the repository.
        revision: branch to commit to; None for `main`.
        create_pr: True to open a pull request with the commit.
        private: True to create a new repository as private; None for the default of its namespace.
        token: the token; True or None for the saved token, False for no token.
        commit_message: the first line of the commit; None: `push.COMMIT_MESSAGE`.
        commit_description: the description of the commit.
        set_default: True to make the config the default; None decides by its name.
        replaces_config: True to remove other splits of the config.
    """

    repo_id: str
    config_name: str = "default"
    data_dir: str = "data"
    revision: str | None = None
    create_pr: bool = False
    private: bool | None = None
    token: str | bool | None = None
    commit_message: str | None = None
    commit_description: str | None = None
    set_default: bool | None = None
    replaces_config: bool = False

    def __repr__(self) -> str:
        return f"PushTarget(repo_id={self.repo_id!r}, config_name={self.config_name!r}, revision={self.revision!r})"

    def pattern(self, split: str) -> str:
        """Return the glob of the shards of a split for the card.

        >>> PushTarget("org/name").pattern("train")
        'data/train-*'
        """
        return f"{self.data_dir}/{split}-*"


@dataclass(frozen=True, slots=True)
class PushedSplit:
    """A split in the repository after a push.

    Attributes:
        name: the split.
        num_rows: number of rows.
        num_bytes: uncompressed size of the rows in bytes.
        file_bytes: size of its Parquet files in bytes.
        replaced_bytes: size of its previous files in bytes.
    """

    name: str
    num_rows: int
    num_bytes: int
    file_bytes: int
    replaced_bytes: int


@dataclass(frozen=True, slots=True)
class RepositoryState:
    """Metadata and files of a repository before a push.

    Attributes:
        readme: text of its card; None if there is none.
        dataset_infos: the text of its `dataset_infos.json`; None if there is none.
        paths: all its files.
        yaml: the text of its `.huggingface.yaml`, whose keys take precedence over the card; None if there is none.
    """

    readme: str | None
    dataset_infos: str | None
    paths: Sequence[str]
    yaml: str | None = None


@dataclass(frozen=True, slots=True)
class RepositoryTexts:
    """The metadata of a repository after a push.

    Attributes:
        readme: the card.
        dataset_infos: the text of `dataset_infos.json`; None leaves it unchanged, or absent.
        yaml: the text of `.huggingface.yaml`; None leaves it unchanged, or absent.
    """

    readme: str
    dataset_infos: str | None = None
    yaml: str | None = None


Shards = Mapping[str, Callable[[str], Iterator[LocalShard]]]
"""Split → function that writes its shards into a given folder, one after the other."""

WriteCard = Callable[[RepositoryState, Sequence[PushedSplit]], RepositoryTexts]
"""Merges the splits into the metadata of a repository; called again after a commit of another user."""


def push_target(repo_id: str, *, splits: Sequence[str], **options: Any) -> PushTarget:
    """Check the arguments of `push_to_hub`, before any row is written.

    Args:
        repo_id: see `PushTarget`.
        splits: names of the pushed splits.
        options: other fields of `PushTarget`, None for their defaults; `data_dir` is by default the name of the config, or
            `data` for the config `default`.

    Raises:
        ConfigurationError: an argument is invalid.
        ArgumentTypeError: an argument has a wrong type.

    >>> push_target("org/name", splits=["train"], config_name="en").data_dir
    'en'
    """
    told = {"repo_id": repo_id, **options}
    for name in ("repo_id", "config_name", "data_dir", "revision", "commit_message", "commit_description"):
        value = told.get(name, "")
        if not isinstance(value, str) and (value is not None or name in ("repo_id", "config_name")):
            raise ArgumentTypeError(f"{name}={value!r} is not a string", advice=f"Pass a string as {name}", value=value)
    for name in ("private", "create_pr", "set_default"):
        if not isinstance(told.get(name), bool | None):
            raise ArgumentTypeError(f"{name}={told[name]!r} is not valid", advice=f"Pass True, False or None as {name}")
    if not isinstance(told.get("token"), str | bool | None):
        raise ArgumentTypeError(
            "token is not a string, True, False or None", advice="Pass the token of a user with write access"
        )
    target = PushTarget(**{name: value for name, value in told.items() if value is not None})
    _check_repository(repo_id, target.revision)
    folder = _folder_of(target.config_name, told.get("data_dir"))
    if not splits:
        raise ConfigurationError(f"There are no splits to push to {repo_id!r}", advice="Pass at least one split")
    for split in splits:
        if not _SPLIT.fullmatch(str(split)):
            raise ConfigurationError(
                f"Invalid split name {split!r}", advice="Pass a name of letters, digits, '_' and dots as split=", value=split
            )
        if str(split).lower() == ALL:
            raise ConfigurationError(
                f"Invalid split name {split!r}: it means all splits", advice="Pass another name as split=", value=split
            )
    if target.commit_message is not None and not target.commit_message.strip():
        raise ConfigurationError("commit_message is empty", advice="Pass a message, or omit commit_message")
    return replace(target, data_dir=folder, revision=target.revision or None)


def _check_repository(repo_id: str, revision: str | None) -> None:
    if not repo_id:
        raise ConfigurationError(
            f"Invalid repository {repo_id!r}",
            advice="Pass the name of a repository on the Hub, such as 'org/name'",
            value=repo_id,
        )
    if repo_id.startswith("buckets/"):
        raise ConfigurationError(
            f"{repo_id!r} is a bucket, which is not supported", advice="Pass a repository: 'org/name'", value=repo_id
        )
    if not is_repo_id(repo_id):
        raise ConfigurationError(
            f"{repo_id!r} is not a valid repository name on the Hub",
            advice="Use 'org/name' with letters, digits, '-', '_' and '.'",
            value=repo_id,
        )
    if revision and is_commit(revision):
        raise ConfigurationError(
            f"{revision} is a commit of {repo_id!r}, which cannot change", advice="Pass a branch as revision"
        )
    if revision and not (is_inner_path(revision) and revision.isprintable() and not any(map(str.isspace, revision))):
        raise ConfigurationError(
            f"{revision!r} is not a valid name of a branch of {repo_id!r}",
            advice="Pass another name as revision",
            value=revision,
        )


def _folder_of(config_name: str, data_dir: str | None) -> str:
    """Return the folder of the shards, used literally in the patterns of the card."""
    if config_name == "data" or not config_name:
        raise ConfigurationError(
            f"Invalid config_name {config_name!r}: the folder 'data' is for the shards of 'default'",
            advice="Choose another name",
            value=config_name,
        )
    if not is_config_name(config_name) or '"' in config_name:
        raise ConfigurationError(
            f'Invalid config_name {config_name!r}: it is a path, contains one of <>:/\\|?*" or a line break, or is too long',
            advice="Choose another name",
            value=config_name,
        )
    from datasets_core.meta.card import way_out  # takes 10 ms, with yaml

    folder = (data_dir or ("data" if config_name == "default" else config_name)).strip("/")
    is_folder = is_inner_path(folder) and folder.isprintable() and not _UNSAFE_PARTS & set(folder.split("/"))
    if not is_folder or any(sign in folder for sign in _WILD) or way_out(folder) is not None:
        if not data_dir:
            raise ConfigurationError(
                f"The config_name {config_name!r} cannot name the folder of its files",
                advice="Choose another name, or pass data_dir=",
            )
        raise ConfigurationError(
            f"data_dir={data_dir!r} is not a valid folder of a repository",
            advice="Pass a path such as 'data' or 'data/en'",
            value=data_dir,
        )
    return folder


# The features that all splits of a config share.


def same_features(features: Mapping[str, Features], empty: Collection[str] = ()) -> Features:
    """Return the common features of all splits.

    Args:
        features: features by split; at least one.
        empty: splits without rows, which only need the same columns.

    Raises:
        ConfigurationError: the features of two splits differ.

    >>> from datasets_core import Value
    >>> same_features({"train": Features({"a": Value("int8")}), "test": Features({"a": Value("int8")})})
    {'a': Value('int8')}
    """
    first = next((name for name in features if name not in empty), next(iter(features)))
    for name, found in features.items():
        if found != features[first] and not (name in empty and found.keys() == features[first].keys()):
            raise ConfigurationError(
                f"Split {name!r} has the features {dict(features[name])}, but {first!r} has {dict(features[first])}",
                advice="Cast them to the same features, or push them with different config_names",
            )
    return features[first]


# The number of Parquet files for the rows of a split.


@dataclass(frozen=True, slots=True)
class ShardLimits:
    """Limits of the files of a push; `shard_limits` creates and checks them.

    Attributes:
        num_shards: number of files; None computes it from `max_bytes`.
        max_bytes: size of a file in Arrow's layout in bytes; None: the setting `max_shard_bytes`.
        num_proc: number of files written at the same time.
        uploads: where workers send the files; None if this process does.
    """

    num_shards: int | None = None
    max_bytes: int | None = None
    num_proc: int | None = None
    uploads: WorkerUploads | None = None

    @property
    def shard_bytes(self) -> int:
        """Approximate size of a file in bytes."""
        return self.max_bytes or settings().max_shard_bytes

    def count(self, num_bytes: int, num_rows: int) -> int:
        """Return the number of files for rows of a given size.

        >>> ShardLimits(max_bytes=100).count(250, 1000)
        3
        """
        if self.num_shards is not None:
            return self.num_shards
        return max(1, min(max(num_bytes // self.shard_bytes + 1, self.num_proc or 1), num_rows))


def shard_limits(max_bytes: int | None, num_shards: Any, num_proc: int | None, *, split: str | None = None) -> ShardLimits:
    """Return the checked limits of `push_to_hub`.

    Args:
        max_bytes: value of `max_shard_size` in bytes.
        num_shards: the argument `num_shards`.
        num_proc: the argument `num_proc`.
        split: split of the arguments, for error messages.

    Raises:
        ConfigurationError: both sizes were given, or a number is below 1.
    """
    get_engine(num_proc=num_proc)  # raises for an invalid number
    if max_bytes is not None and num_shards is not None:
        raise ConfigurationError("Pass either max_shard_size or num_shards, not both.")
    if num_shards is not None:
        if isinstance(num_shards, bool) or not hasattr(num_shards, "__index__") or num_shards < 1:
            where = "" if split is None else f" for split {split!r}"
            raise ConfigurationError(f"num_shards is {num_shards!r}{where}", advice="Pass an integer of at least 1")
        num_shards = operator.index(num_shards)
    return ShardLimits(num_shards, max_bytes, num_proc)


def shards_by_split(num_shards: Any, splits: Iterable[str]) -> Mapping[str, int | None]:
    """Return the numbers of files by split, after checking the argument.

    Raises:
        ConfigurationError: the value is not a mapping by split, or has an unknown split.
    """
    names = list(map(str, splits))
    if num_shards is None:
        return {}
    known = ", ".join(map(repr, names))
    if not isinstance(num_shards, Mapping):
        raise ConfigurationError(
            f"num_shards is {num_shards!r}", advice=f"Pass a dict with a number for each split: {known}", value=num_shards
        )
    for name in num_shards:
        if name not in names:
            raise ConfigurationError(f"num_shards has the unknown split {name!r}. Available splits: {known}.")
    return num_shards
