"""`SplitMapping`: rows by split, and what is done to those of every split; pushes of rows and of splits to the Hub."""

# mypy: disable-error-code="empty-body"
# pyright: reportReturnType=false
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from datasets_core._lazy import options_to
from datasets_core.errors import ArgumentTypeError, ConfigurationError, UnknownSplitError
from datasets_core.features.schema import Features

if TYPE_CHECKING:
    from datasets_core.fetch.hub.client import CommitInfo

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")
T = TypeVar("T")


# Pushes to the Hub: one declaration for rows, one for the rows of every split.


class Pushable:
    """Rows that are pushed to the Hub as one split of a config."""

    def _push(self: Any, *, split: str | None, num_shards: int | None, **options: Any) -> CommitInfo:
        from datasets_core.io.push import push_splits  # 5 ms that reading does without

        name = str(self.split or "train") if split is None else str(split)
        return push_splits({name: self}, {name: num_shards}, **options)

    @options_to(_push)
    def push_to_hub(
        self,
        repo_id: str,
        config_name: str = "default",
        set_default: bool | None = None,
        split: str | None = None,
        data_dir: str | None = None,
        commit_message: str | None = None,
        commit_description: str | None = None,
        private: bool | None = None,
        token: str | bool | None = None,
        revision: str | None = None,
        create_pr: bool | None = False,
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        embed_external_files: bool = True,
        num_proc: int | None = None,
    ) -> CommitInfo:
        """Push the rows to a dataset repository of the Hub, as one split of a config, by one commit.

        The repository is made if need be.  Its other configs, and the other splits of this one, stay, and so does all that its
        card says besides; the files that the split had are replaced, and those that did not change are not sent again.  Until
        the commit the repository is what it was: a push that was broken off is made whole by the next.

        The rows of a stream are read once, from the beginning, written file by file and uploaded; neither memory nor disk has
        to hold them all.  Where the types of its columns are not known, they are those of the first thousand rows, which are
        read for that before.

        Args:
            repo_id: `org/name`, or `name` for one of the user's own.
            config_name: the config that the split belongs to.
            set_default: make the config the default one; None leaves that to its name, False makes another one so.
            split: the name of the split; None: that of the dataset, or `train`.
            data_dir: folder of the repository for the files; None: `data` for the config `default`, else the config's name.
            commit_message: the first line of the commit; None: `Upload dataset`.
            commit_description: what else the commit says.
            private: whether a repository that is made is private; None: as the namespace has it.
            token: token of the Hub; None: that of the user who is logged in.
            revision: branch, which is made if need be; None: `main`.
            create_pr: open a pull request instead of a commit on the branch.
            max_shard_size: bytes of a file in memory, about, such as "1GB"; None: the setting `max_shard_bytes`, 500 MB, and
                for streams a file for each shard, and more where one is larger than that.
            num_shards: number of files; those of a stream get rows in turn where neither the number of its rows is known nor
                that many shards.
            embed_external_files: put the files that images and the like name by path into the rows.
            num_proc: processes that write files; as many files at least.  For a stream each writes the files of one shard at
                a time.

        Returns:
            What the commit is, as `huggingface_hub.CommitInfo`.

        Raises:
            ConfigurationError: arguments that mean nothing, features other than those of the other splits in the repository, or
                a stream without end.
            CellCastError: a value of a stream is of another type than those of the first rows; names split, row and column.
            ManifestError: the card of the repository is broken.
            MediaNotFoundError, UntrustedPathError: a file that a row names cannot be embedded.
            PushError, HubError: the Hub refuses.
            OfflineError: the Hub cannot be reached, or offline mode is on.
        """


# Splits by name, each of which gets what is done to all.


def each_split(
    kind: type, *by_split: str, tries: str = "", change: Callable[[str, dict[str, Any]], None] | None = None
) -> Callable[[F], F]:
    """Make a declared method, or property, call the one of its name of `kind` for every split.

    Declared to return `Self`, it gives the results as splits; to return None, nothing; else a dict of them by split.  Its
    docstring goes on with that of `kind`.

    Args:
        kind: the class of the rows of a split.
        by_split: names of arguments, in the plural, that are a dict with an entry for each split.
        tries: a method without effects that is called for every split before: nothing is done where it fails.
        change: changes the arguments for a split, of which it is told the name.
    """

    def decorate(declared: F) -> F:
        name, returned = declared.__name__, declared.__annotations__["return"]
        verb = getattr(kind, name)

        def run(self: Any, **options: Any) -> Any:
            given = {each: self._by_split(each, options.pop(each)) for each in by_split}

            def act(split: str, rows: Any) -> Any:
                own = options | {each.removesuffix("s"): values[split] for each, values in given.items()}
                if change is not None:
                    change(split, own)
                return getattr(rows, name)(**own)

            if tries:
                self._each(lambda _, rows: getattr(rows, tries)(**options))
            made = self._each((lambda _, rows: getattr(rows, name)) if isinstance(verb, property) else act)
            return type(self)(made) if returned == "Self" else None if returned == "None" else made

        declared.__doc__ = f"{declared.__doc__}\n\n        `{kind.__name__}.{name}`: {verb.__doc__}"
        return options_to(run)(declared)

    return decorate


class SplitMapping(dict[str, T]):
    """Rows by the name of their split."""

    _kind: ClassVar[type]
    """The class of the rows of a split."""

    def __getitem__(self, split: str) -> T:
        """The rows of a split.

        Raises:
            UnknownSplitError: no such split.
        """
        try:
            return super().__getitem__(split)
        except (KeyError, TypeError):  # TypeError: a list, say, cannot be a key
            raise UnknownSplitError(str(split), known=self) from None

    def __repr__(self) -> str:
        inner = "\n".join(f"{name}: {rows!r}" for name, rows in self.items()).replace("\n", "\n    ")
        return f"{self._kind.__name__}Dict({{\n    {inner}\n}})"

    def select_columns(self, column_names: str | Sequence[str]) -> Self:
        """Keep the columns `column_names` of every split, in this order.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1], "b": ["x"]})})
        >>> splits.select_columns("b")["train"][0]
        {'b': 'x'}

        Raises:
            UnknownColumnError: a column that a split lacks.
        """
        return self._map("select_columns", column_names)

    def remove_columns(self, column_names: str | Sequence[str]) -> Self:
        """Remove the columns `column_names` of every split.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1], "b": ["x"]})})
        >>> splits.remove_columns("b")["train"][0]
        {'a': 1}

        Raises:
            UnknownColumnError: a column that a split lacks.
        """
        return self._map("remove_columns", column_names)

    def rename_column(self, original_column_name: str, new_column_name: str) -> Self:
        """Give a column of every split another name.

        >>> DatasetDict({"train": Dataset.from_dict({"a": [1]})}).rename_column("a", "b")["train"][0]
        {'b': 1}
        """
        return self._map("rename_column", original_column_name, new_column_name)

    def rename_columns(self, column_mapping: Mapping[str, str]) -> Self:
        """Give columns of every split other names, by the names that they have.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1], "b": ["x"]})})
        >>> splits.rename_columns({"a": "id", "b": "text"})["train"][0]
        {'id': 1, 'text': 'x'}
        """
        return self._map("rename_columns", column_mapping)

    def cast(self, features: Features) -> Self:
        """Cast the columns of every split to other features; see `Dataset.cast`.

        >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1]})})
        >>> splits.cast(Features({"a": Value("int8")}))["train"].features["a"]
        Value('int8')
        """
        return self._map("cast", features)

    def _push(self, *, num_shards: Any, **options: Any) -> CommitInfo:
        from datasets_core.io.push import push_splits
        from datasets_core.io.push_target import shards_by_split  # 5 ms that reading does without

        return push_splits(self._splits(), shards_by_split(num_shards, self), replaces_config=True, **options)

    @options_to(_push)
    def push_to_hub(
        self,
        repo_id: str,
        config_name: str = "default",
        set_default: bool | None = None,
        data_dir: str | None = None,
        commit_message: str | None = None,
        commit_description: str | None = None,
        private: bool | None = None,
        token: str | bool | None = None,
        revision: str | None = None,
        create_pr: bool | None = False,
        max_shard_size: int | str | None = None,
        num_shards: Mapping[str, int | None] | None = None,
        embed_external_files: bool = True,
        num_proc: int | None = None,
    ) -> CommitInfo:
        """Push every split to a dataset repository of the Hub, by one commit; see `Dataset.push_to_hub`.

        They become all splits of the config: others that it had in the repository are removed.

        Args:
            num_shards: number of files of each split; splits without one get as many as `max_shard_size` asks for.

        Raises:
            ConfigurationError: the splits have different features, or as for `Dataset.push_to_hub`.
        """

    # -- every split ---------------------------------------------------------------------------------------------------

    def _splits(self) -> dict[str, T]:
        """The rows by split.

        Raises:
            ArgumentTypeError: a split holds something else.
        """
        kind = self._kind.__name__
        for name, rows in self.items():
            if not isinstance(rows, self._kind):
                raise ArgumentTypeError(
                    f"Split {name!r} of this {kind}Dict holds {type(rows).__name__}, no {kind}. "
                    f"Put {'an' if kind[0] in 'AEIOU' else 'a'} {kind} there."
                )
        return dict(self)

    def _each(self, act: Callable[[str, T], R]) -> dict[str, R]:
        """The results of `act` by split; an error says in which split it arose."""
        made = {}
        for name, rows in self._splits().items():
            try:
                made[name] = act(name, rows)
            except Exception as error:
                error.add_note(f"The error occurred in split {name!r}.")
                raise
        return made

    def _map(self, verb: str, *args: Any) -> Self:
        return type(self)(self._each(lambda _, rows: getattr(rows, verb)(*args)))

    def _by_split(self, argument: str, given: Any) -> dict[str, Any]:
        """An argument that is a dict with an entry for each split, or None.

        Raises:
            ConfigurationError: it is something else, or a split has no entry.
        """
        if given is None:
            return dict.fromkeys(self)
        names = ", ".join(map(repr, self))
        if not isinstance(given, Mapping):
            raise ConfigurationError(f"{argument} is {given!r}. Give a dict with an entry for each split: {names}.")
        missing = [name for name in self if name not in given]
        if missing:
            raise ConfigurationError(f"{argument} has no entry for split {missing[0]!r}. Give one for each split: {names}.")
        return {name: given[name] for name in self}
