"""What is pushed, as values: where it goes, the shards, what becomes of the repository, and who writes its card."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from datasets_core.errors import ConfigurationError
from datasets_core.fetch.hub_listing import is_inner_path
from datasets_core.fetch.hub_url import is_repo_id

_SPLIT = re.compile(r"\w+(\.\w+)*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_UNSAFE_PARTS = frozenset({"", ".", "..", ".git", ".cache"})


@dataclass(frozen=True, slots=True)
class LocalShard:
    """A Parquet file of a split on the own disk, which whoever uploads it removes.

    Attributes:
        path: the file.
        split: the split that it belongs to.
        num_rows: the rows in it.
        num_bytes: what its rows take uncompressed, as `dataset_info` counts them.
    """

    path: str
    split: str
    num_rows: int
    num_bytes: int


@dataclass(frozen=True, slots=True)
class PushTarget:
    """Where a dataset is pushed to, and how; `push_target` makes one that is checked.

    Attributes:
        repo_id: `org/name`, or `name` for the namespace of the user.
        config_name: the config that the splits belong to.
        data_dir: the folder of the repository that holds the shards of the config.
        revision: the branch; None for `main`.
        create_pr: whether the commit becomes a pull request.
        private: whether a repository that is made for this is private; None as its namespace has it.
        token: the token; True or None for the one of the user who is logged in, False for none.
        commit_message: the first line of the commit.
        commit_description: what else it says.
        set_default: whether the config becomes the default one; None leaves that to its name.
        replaces_config: whether the splits are all that the config is to have: others that it had are removed.
    """

    repo_id: str
    config_name: str = "default"
    data_dir: str = "data"
    revision: str | None = None
    create_pr: bool = False
    private: bool | None = None
    token: str | bool | None = None
    commit_message: str = "Upload dataset"
    commit_description: str | None = None
    set_default: bool | None = None
    replaces_config: bool = False

    def __repr__(self) -> str:
        return f"PushTarget(repo_id={self.repo_id!r}, config_name={self.config_name!r}, revision={self.revision!r})"

    def pattern(self, split: str) -> str:
        """The glob that names the shards of a split, as a card has it.

        >>> PushTarget("org/name").pattern("train")
        'data/train-*'
        """
        return f"{self.data_dir}/{split}-*"


@dataclass(frozen=True, slots=True)
class PushedSplit:
    """A split as it stands in the repository after a push.

    Attributes:
        name: the split.
        num_rows: its rows.
        num_bytes: what they take uncompressed.
        file_bytes: what its Parquet files take.
        replaced_bytes: what the files took that the split had before.
    """

    name: str
    num_rows: int
    num_bytes: int
    file_bytes: int
    replaced_bytes: int


@dataclass(frozen=True, slots=True)
class RepositoryState:
    """What a repository says of itself before a push.

    Attributes:
        readme: the text of its card; None where it has none.
        dataset_infos: the text of its `dataset_infos.json`; None where it has none.
        paths: all its files.
        yaml: the text of its `.huggingface.yaml`, whose keys take the place of those of the card; None where it has none.
    """

    readme: str | None
    dataset_infos: str | None
    paths: Sequence[str]
    yaml: str | None = None


@dataclass(frozen=True, slots=True)
class RepositoryTexts:
    """The texts that a repository says of itself after a push.

    Attributes:
        readme: the card.
        dataset_infos: the text of `dataset_infos.json`; None leaves it as it is, or absent.
        yaml: the text of `.huggingface.yaml`; None leaves it as it is, or absent.
    """

    readme: str
    dataset_infos: str | None = None
    yaml: str | None = None


Shards = Mapping[str, Callable[[str], Iterator[LocalShard]]]
"""Split → what makes its shards, one after the other, in the folder that it is given."""

WriteCard = Callable[[RepositoryState, Sequence[PushedSplit]], RepositoryTexts]
"""Merges the splits into what a repository says of itself; called again when somebody else committed meanwhile."""


def push_target(
    repo_id: str,
    *,
    splits: Sequence[str],
    config_name: str = "default",
    data_dir: str | None = None,
    revision: str | None = None,
    create_pr: bool | None = False,
    private: bool | None = None,
    token: str | bool | None = None,
    commit_message: str | None = None,
    commit_description: str | None = None,
    set_default: bool | None = None,
    replaces_config: bool = False,
) -> PushTarget:
    """Check the arguments of `push_to_hub`, before a row is written.

    Args:
        repo_id: as `PushTarget` has it, and so for the rest.
        splits: the names of the splits that are pushed.
        data_dir: None for `data` for the config `default`, and the name of the config for others.

    Raises:
        ConfigurationError: one of them means nothing.

    >>> push_target("org/name", splits=["train"], config_name="en").data_dir
    'en'
    """
    if not isinstance(repo_id, str) or not repo_id:
        raise ConfigurationError(f"A repository of the Hub is named 'org/name', not {repo_id!r}. Give its name.")
    if repo_id.startswith("buckets/"):
        raise ConfigurationError(f"{repo_id!r} is a bucket, to which datasets are not pushed. Give a repository: 'org/name'.")
    if not is_repo_id(repo_id):
        raise ConfigurationError(
            f"{repo_id!r} is no name of a repository on the Hub. Write 'org/name', of letters, digits, '-', '_' and '.'."
        )
    if config_name == "data" or not config_name:
        raise ConfigurationError(
            f"A config cannot be called {config_name!r}: 'data' holds the shards of 'default'. Choose another name."
        )
    if any(character in config_name for character in '<>:/\\|?*"'):
        raise ConfigurationError(f'The config name {config_name!r} holds one of <>:/\\|?*". Choose a name without them.')
    if not splits:
        raise ConfigurationError(f"There is no split to push to {repo_id!r}. Give at least one.")
    for split in splits:
        if not _SPLIT.fullmatch(str(split)):
            raise ConfigurationError(
                f"A split cannot be called {split!r}. Give split= a name of letters, digits, '_' and dots."
            )
    if revision is not None and _COMMIT.fullmatch(revision):
        raise ConfigurationError(
            f"{revision} is a commit of {repo_id!r}, and commits do not change. Give a branch as revision."
        )
    if revision is not None and not (is_inner_path(revision) and revision.isprintable() and " " not in revision):
        raise ConfigurationError(f"No branch of a repository can be called {revision!r}. Choose a name without spaces.")
    if commit_message is not None and not commit_message.strip():
        raise ConfigurationError("A commit needs a message, and commit_message is empty. Give one, or leave it out.")
    folder = (data_dir or ("data" if config_name == "default" else config_name)).strip("/")
    if _UNSAFE_PARTS & set(folder.split("/")) or "\\" in folder or any(sign in folder for sign in "*?[]{}"):
        raise ConfigurationError(
            f"data_dir={data_dir!r} is no folder of a repository. Give a path such as 'data' or 'data/en'."
        )
    return PushTarget(
        repo_id=repo_id,
        config_name=config_name,
        data_dir=folder,
        revision=revision or None,
        create_pr=bool(create_pr),
        private=private,
        token=token,
        commit_message=commit_message or "Upload dataset",
        commit_description=commit_description,
        set_default=set_default,
        replaces_config=replaces_config,
    )
