"""`SplitMapping`: rows by split, with methods that apply to every split; pushes to the Hub; `view` and `report`."""

# mypy: disable-error-code="empty-body"
# pyright: reportReturnType=false
from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from datasets_core._lazy import later, options_to
from datasets_core.errors import ArgumentTypeError, ConfigurationError, UnknownSplitError
from datasets_core.features.schema import Features
from datasets_core.optional import named_kind

if TYPE_CHECKING:
    import os

    from datasets_core.engines import Engine
    from datasets_core.fetch.hub.client import CommitInfo

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")
T = TypeVar("T")


# Pushes to the Hub: one method for rows, one for the rows of every split.


class Pushable:
    """Rows that can be pushed to the Hub as one split of a config."""

    def _push(self: Any, *, split: str | None, num_shards: int | None, **options: Any) -> CommitInfo:
        from datasets_core.io.push import push_splits  # takes 5 ms; reading does not need it

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
        engine: str | Engine | None = None,
    ) -> CommitInfo:
        """Push the rows to a dataset repository of the Hub, as one split of a config, in one commit.

        The repository is created if needed.  Its other configs, the other splits of this config, and the rest of its card are
        kept; files of the split are replaced, and unchanged files are not uploaded again.  Nothing is visible before the
        commit: after an interrupted push the repository is unchanged, and the next push reuses the uploaded files.

        The rows of a stream are read once, from the beginning, written file by file and uploaded; they need not fit into
        memory or on the disk.  If the types of its columns are not known, they are inferred from the first thousand rows,
        which are read in advance.

        Args:
            repo_id: `org/name`, or `name` for the namespace of the user.
            config_name: the config that the split belongs to.
            set_default: True to make the config the default, False not to; None decides by its name.
            split: name of the split; None means that of the dataset, or `train`.
            data_dir: folder of the repository for the files; None means `data` for the config `default`, or else the name of
                the config.
            commit_message: the first line of the commit; None: `Upload dataset`.
            commit_description: description of the commit.
            private: True to create a new repository as private; None: the default of the namespace.
            token: access token for the Hub; None means the saved token.
            revision: branch, created if needed; None: `main`.
            create_pr: True to open a pull request instead of committing to the branch.
            max_shard_size: approximate size of a file in memory, such as "1GB"; None: the setting `max_shard_bytes` (500 MB);
                for streams one file per shard, or several for large shards.
            num_shards: number of files; if the number of rows of a stream is unknown and it has fewer shards, rows are
                distributed to the files in turn.
            embed_external_files: True to store the content of files that images and other media refer to by path.
            num_proc: number of processes that write files, and minimum number of files.  For a stream, each process writes
                one shard at a time.
            engine: what writes the files, into the cache; see `load_dataset`.

        Returns:
            The commit, as `huggingface_hub.CommitInfo`.

        Raises:
            ConfigurationError: an argument is invalid, the features differ from those of other splits in the repository, or
                the stream is endless.
            CellCastError: the type of a value of a stream differs from the first rows; the error names split, row and
                column.
            ManifestError: the card of the repository is invalid.
            MediaNotFoundError, UntrustedPathError: a file that a row refers to cannot be embedded.
            PushError, HubError: the Hub rejects the push.
            OfflineError: the Hub cannot be reached, or offline mode is on.

        Example:
            >>> Dataset.from_dict({"a": [1]}).push_to_hub("org/name", private=True)  # doctest: +SKIP
        """


# Splits by name, with methods that apply to each.


def each_split(
    kind: type, *by_split: str, tries: str = "", change: Callable[[str, dict[str, Any]], None] | None = None
) -> Callable[[F], F]:
    """Return a decorator: the declared method or property calls that of the same name of `kind` for every split.

    With return type `Self`, the method returns the results as splits; with None, nothing; otherwise a dict of results by
    split.  Its docstring gets the arguments and errors of the method of `kind`.

    Args:
        kind: the class of the rows of a split.
        by_split: names of plural arguments that are a dict with an entry for each split.
        tries: a method without side effects that is called for every split first, so that an error leaves all splits unchanged.
        change: changes the arguments for a split, whose name it receives.
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

        about = "The results by split, as another object of this class." if returned == "Self" else "The results by split."
        declared.__doc__ = joined_doc(declared, verb, about if returned != "None" else "")
        return options_to(run)(declared)

    return decorate


def joined_doc(declared: Callable[..., Any], verb: Any, about: str = "") -> str:
    """Return the docstring of a method of all splits: its own, with what the docstring for one split says about arguments and
    errors.

    Args:
        declared: the method of all splits.
        verb: the method or property of one split.
        about: what the method returns, if its docstring does not say it.
    """
    own, other = sections_of(declared.__doc__), sections_of(verb.__doc__)
    named = [name for name in declared.__code__.co_varnames if name in declared.__annotations__]
    entries = {**entries_of(other.get("Args", "")), **entries_of(own.get("Args", ""))}
    args: list[str] = []
    for name in named:
        if name in entries and entries[name] not in args:
            args.append(entries[name])
    arguments = [f"{', '.join(each for each in named if entries.get(each) == text)}: {text}" for text in args]
    parts = [own[""], other[""].partition("\n\n")[2]]
    parts += ["Args:\n" + "\n".join(f"    {entry}" for entry in arguments)] * bool(arguments)
    parts += [f"Returns:\n    {own.get('Returns', about).strip()}"] * bool(own.get("Returns", about))
    for name in ("Raises", "Example"):
        text = own.get(name) or other.get(name)
        parts += [f"{name}:\n{text}"] * bool(text)
    return "\n\n".join(part for part in parts if part) + "\n"


def sections_of(doc: str | None) -> dict[str, str]:
    """Return the sections of a docstring by their names, what is before the first one under ""."""
    found, name = {"": ""}, ""
    for line in cleandoc(doc or "").splitlines():
        if line in ("Args:", "Returns:", "Raises:", "Example:"):
            name = line[:-1]
            found[name] = ""
        elif line.startswith(">>> ") or (name == ">>>" and line):
            name = ">>>"
            found["Example"] = f"{found.get('Example', '')}    {line}\n"
        else:
            name = "" if name == ">>>" else name
            found[name] += f"{line}\n"
    return {name: text.strip("\n") for name, text in found.items()}


def entries_of(section: str) -> dict[str, str]:
    """Return the text about each argument of a section."""
    found: dict[str, str] = {}
    for entry in re.split(r"\n(?= {4}\S)", section):
        names, _, text = entry.strip().partition(": ")
        found |= {name.strip(" *"): text for name in names.split(",")}
    return found


class Looked:
    """Rows shown to people: in a notebook, in the browser, or as a report in a file."""

    def _repr_html_(self) -> str:
        """Return the first rows, for a notebook; for a stream, only if no function runs and no file is fetched for them."""
        page: str = later("datasets_core.dataset.insight.notebook", "shown")(self)
        return page

    def view(self, other: Any = None, *, port: int = 0, open_browser: bool = True, block: bool | None = None) -> Any:
        """Show the rows in the browser of this machine: a table of all rows, with charts of the columns by which it is
        filtered.

        Needs the extra `view`.

        Args:
            other: a dataset to compare with: the page shows what differs.
            port: port of the server, which listens on 127.0.0.1 only; 0 for any free one.
            open_browser: False to print the address only.
            block: True to return when the program is interrupted; None blocks in a script, not at a prompt or in a notebook.

        Returns:
            The running viewer: `url` is its address, `close()` ends it.

        Raises:
            MissingDependencyError: the extra `view` is not installed.
            ConfigurationError: there are no rows or no columns, the port is in use, or there is no browser.

        Example:
            >>> viewer = Dataset.from_dict({"a": [1, 2, 3]}).view(open_browser=False, block=False)  # doctest: +SKIP
            http://127.0.0.1:41873/?token=…
            >>> viewer.close()  # doctest: +SKIP
        """
        return later("datasets_core.viewer.server", "view")(self, other, port=port, open_browser=open_browser, block=block)

    def widget(self) -> Any:
        """Return a table of all rows for a notebook, which scrolls and is filtered by the charts of its columns.

        Needs the extra `notebook`. If it is installed, a notebook shows this table for the dataset itself too.

        Returns:
            A widget of `anywidget`, for Jupyter, VS Code and marimo.

        Raises:
            MissingDependencyError: the extra `notebook` is not installed.
            ConfigurationError: there are no rows or no columns.

        Example:
            >>> Dataset.from_dict({"a": [1, 2, 3]}).widget()  # doctest: +SKIP
            DatasetWidget()
        """
        return later("datasets_core.viewer.widget", "widget")(self)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> str:
        """Write a report of the rows into one HTML file that opens without a network.

        It has the schema, charts of the columns, correlations, duplicates, nulls, the shortest and longest texts, the balance
        of labels, rows that splits share, and some rows with their media.

        Args:
            path: path of the new file; an existing one is replaced.
            title: title of the report; None for the name of the dataset.

        Returns:
            The path.

        Raises:
            ConfigurationError: there are no rows or no columns, or these are streams.
            DatasetDiskError: the file cannot be written.

        Example:
            >>> import os, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     os.path.basename(Dataset.from_dict({"a": [1, 2, 3]}).report(os.path.join(folder, "report.html")))
            'report.html'
        """
        return str(later("datasets_core.viewer.report", "report")(self, path, title=title))


class SplitMapping(dict[str, T], Looked):
    """Rows by the name of their split."""

    _kind: ClassVar[type]
    """The class of the rows of a split."""

    def __getitem__(self, split: str) -> T:
        """Return the rows of a split.

        Raises:
            UnknownSplitError: the split does not exist.
        """
        try:
            return super().__getitem__(split)
        except (KeyError, TypeError):  # TypeError: for example, a list cannot be a key
            raise UnknownSplitError(str(split), known=self) from None

    def __repr__(self) -> str:
        inner = "\n".join(f"{name}: {rows!r}" for name, rows in self.items()).replace("\n", "\n    ")
        return f"{self._kind.__name__}Dict({{\n    {inner}\n}})"

    def select_columns(self, column_names: str | Sequence[str]) -> Self:
        """Keep some columns of every split, in the order given.

        Args:
            column_names: the column, or several.

        Returns:
            The results by split, as another object of this class.

        Raises:
            UnknownColumnError: a split does not have a column.

        Example:
            >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1], "b": ["x"]})})
            >>> splits.select_columns("b")["train"][0]
            {'b': 'x'}
        """
        return self._map("select_columns", column_names)

    def remove_columns(self, column_names: str | Sequence[str]) -> Self:
        """Remove columns from every split.

        Args:
            column_names: the column, or several.

        Returns:
            The results by split, as another object of this class.

        Raises:
            UnknownColumnError: a split does not have a column.

        Example:
            >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1], "b": ["x"]})})
            >>> splits.remove_columns("b")["train"][0]
            {'a': 1}
        """
        return self._map("remove_columns", column_names)

    def rename_column(self, original_column_name: str, new_column_name: str) -> Self:
        """Rename a column of every split.

        Args:
            original_column_name: the current name.
            new_column_name: the new name.

        Returns:
            The results by split, as another object of this class.

        Example:
            >>> DatasetDict({"train": Dataset.from_dict({"a": [1]})}).rename_column("a", "b")["train"][0]
            {'b': 1}
        """
        return self._map("rename_column", original_column_name, new_column_name)

    def rename_columns(self, column_mapping: Mapping[str, str]) -> Self:
        """Rename columns of every split.

        Args:
            column_mapping: the new name of each column to rename.

        Returns:
            The results by split, as another object of this class.

        Example:
            >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1], "b": ["x"]})})
            >>> splits.rename_columns({"a": "id", "b": "text"})["train"][0]
            {'id': 1, 'text': 'x'}
        """
        return self._map("rename_columns", column_mapping)

    def cast(self, features: Features) -> Self:
        """Cast the columns of every split to other features; see `Dataset.cast`.

        Args:
            features: the new type of every column.

        Returns:
            The results by split, as another object of this class.

        Example:
            >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1]})})
            >>> splits.cast(Features({"a": Value("int8")}))["train"].features["a"]
            Value('int8')
        """
        return self._map("cast", features)

    def _push(self, *, num_shards: Any, **options: Any) -> CommitInfo:
        from datasets_core.io.push import push_splits
        from datasets_core.io.push_target import shards_by_split  # takes 5 ms; reading does not need it

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
        engine: str | Engine | None = None,
    ) -> CommitInfo:
        """Push every split to a dataset repository of the Hub, in one commit.

        The splits replace all splits of the config: other splits in the repository are removed.

        Args:
            repo_id, config_name, set_default, data_dir, revision: see `Dataset.push_to_hub`.
            commit_message, commit_description, private, token, create_pr: see `Dataset.push_to_hub`.
            max_shard_size, embed_external_files, num_proc, engine: see `Dataset.push_to_hub`.
            num_shards: number of files by split; for other splits it is computed from `max_shard_size`.

        Returns:
            The commit, as `huggingface_hub.CommitInfo`.

        Raises:
            ConfigurationError: the splits have different features; see also `Dataset.push_to_hub`.

        Example:
            >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1]})})
            >>> splits.push_to_hub("org/name", private=True)  # doctest: +SKIP
        """

    def to_tfds(
        self,
        folder: str | os.PathLike[str],
        *,
        name: str | None = None,
        version: str | None = None,
        num_shards: int | None = None,
        max_shard_size: int | str | None = None,
    ) -> int:
        """Write every split to one folder of TensorFlow Datasets; see `Dataset.to_tfds`.

        Args:
            folder: a new or empty local folder: that of one version.
            name, version, max_shard_size: see `Dataset.to_tfds`.
            num_shards: number of files of each split; only if the numbers of rows are known.

        Returns:
            The size of the records, in bytes.

        Raises:
            CellCastError: TensorFlow Datasets cannot store a column or a value.
            ConfigurationError: the splits have different features, or the folder is not empty.

        Example:
            >>> import tempfile
            >>> from datasets_core import tfds
            >>> splits = DatasetDict({"train": Dataset.from_dict({"a": [1, 2]}), "test": Dataset.from_dict({"a": [3]})})
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     _ = splits.to_tfds(f"{folder}/numbers/1.0.0")
            ...     tfds.builder_from_directory(f"{folder}/numbers/1.0.0").info.splits["test"].num_examples
            1
        """
        from datasets_core.io.tfds import write_tfds  # imported only when needed

        splits: dict[str, Any] = self._splits()
        found = list(splits.values())
        if not found:
            raise ConfigurationError("There are no splits to write", advice="Add one")
        other = next((split for split, rows in splits.items() if rows.features != found[0].features), None)
        if other is not None:
            raise ConfigurationError(
                f"Split {other!r} has different features than {next(iter(splits))!r}", advice="Cast them to be equal"
            )
        rows = {split: each._tfds_rows() for split, each in splits.items()}
        options: dict[str, Any] = {"name": name, "version": version, "num_shards": num_shards, "max_shard_size": max_shard_size}
        return write_tfds(rows, found[0].features, found[0].info, folder, **options)

    # -- every split ---------------------------------------------------------------------------------------------------

    def _splits(self) -> dict[str, T]:
        """Return the rows by split.

        Raises:
            ArgumentTypeError: a split has a value of another type.
        """
        kind = self._kind.__name__
        for name, rows in self.items():
            if not isinstance(rows, self._kind):
                found, advice = named_kind(rows, f"Assign {'an' if kind[0] in 'AEIOU' else 'a'} {kind}")
                raise ArgumentTypeError(f"Split {name!r} of this {kind}Dict is {found}, not {kind}. {advice}.")
        return dict(self)

    def _each(self, act: Callable[[str, T], R]) -> dict[str, R]:
        """Return the results of `act` by split; errors get a note with the split."""
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
        """Return an argument that must be None or a dict with an entry for each split.

        Raises:
            ConfigurationError: the argument is not a dict, or a split has no entry.
        """
        if given is None:
            return dict.fromkeys(self)
        names = ", ".join(map(repr, self))
        if not isinstance(given, Mapping):
            raise ConfigurationError(
                f"{argument} is {given!r}", advice=f"Pass a dict with an entry for each split: {names}", value=given
            )
        missing = [name for name in self if name not in given]
        if missing:
            raise ConfigurationError(
                f"{argument} has no entry for split {missing[0]!r}", advice=f"Pass one for each split: {names}"
            )
        return {name: given[name] for name in self}
