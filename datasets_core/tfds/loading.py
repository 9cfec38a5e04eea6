"""`load`, `builder`, `data_source` and similar functions of TFDS."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from datasets_core import files
from datasets_core.building.folders import check_whole, find_prepared, tfds_manifest, versions_below
from datasets_core.building.prepared import ReadOnlyBuilder, is_at_hub
from datasets_core.building.prepared import builder_from_directory as opened_directory
from datasets_core.building.versions import is_pattern
from datasets_core.errors import ConfigurationError, DatasetNotFoundError, UnknownVersionError
from datasets_core.meta.reference import BuilderName, parse_builder_name, script_in
from datasets_core.meta.version import Version
from datasets_core.optional import needed
from datasets_core.resolve.request import Location
from datasets_core.store.manifest import Manifest
from datasets_core.stream.order.files import ReadConfig
from datasets_core.tfds.info import registered, registered_names
from datasets_core.tfds.reading import SplitReading
from datasets_core.tfds.tfds_builder import DatasetBuilder, default_data_dir


class PreparedBuilder(SplitReading, ReadOnlyBuilder):
    """A prepared dataset in a folder, read without its code."""

    @classmethod
    def of(cls, builder: ReadOnlyBuilder) -> PreparedBuilder:
        """Return the same builder with the methods of TFDS."""
        made = cls(builder.cache_dir, builder.prepared, builder.storage_options)
        made.info.place(made.cache_dir)
        made.info.file_format = builder.prepared.file_format
        return made

    def _found(self) -> Manifest | None:
        return self._manifest


def load(
    name: str | os.PathLike[str],
    *,
    split: Any = None,
    data_dir: str | os.PathLike[str] | None = None,
    batch_size: int | None = None,
    shuffle_files: bool = False,
    download: bool = True,
    as_supervised: bool = False,
    decoders: Any = None,
    read_config: ReadConfig | None = None,
    with_info: bool = False,
    builder_kwargs: dict[str, Any] | None = None,
    download_and_prepare_kwargs: dict[str, Any] | None = None,
    as_dataset_kwargs: dict[str, Any] | None = None,
    try_gcs: bool = False,
    file_format: Any = None,
) -> Any:
    """Load a dataset, after building it if it does not exist.

    Args:
        name: `"name"`, `"name/config:1.*.*"`, or the path of a script or of a folder with one.
        split: a name, an expression, a `ReadInstruction`, or a list, tuple or dict of these; None for a dict of all splits.
        data_dir: folder of all datasets; None means `TFDS_DATA_DIR`, or else `~/tensorflow_datasets`.
        batch_size: number of rows of a batch; -1 returns all rows as one dict of arrays.
        shuffle_files: True to read the files in random order.
        download: True to build the dataset if it does not exist.
        as_supervised: True for tuples of the columns in `supervised_keys`.
        decoders: columns to leave undecoded, or not to read.
        read_config: order in which files are read.
        with_info: True to return a pair of the rows and the info.
        builder_kwargs: arguments of the builder, such as `config=` and `version=`.
        download_and_prepare_kwargs: arguments of `download_and_prepare`.
        as_dataset_kwargs: arguments of `as_dataset`.
        try_gcs: ignored.
        file_format: see `download_and_prepare`.

    Returns:
        A stream of rows; for several splits a list, tuple or dict of streams; with `with_info=True` a pair with the info.

    Raises:
        DatasetsCoreError: another failure; raised as a subclass.
        DatasetNotFoundError: the dataset does not exist or, with `download=False`, was not built.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "loaded_squares.py")
        ...     _ = path.write_text('''
        ... import datasets_core.tfds as tfds
        ... class LoadedSquares(tfds.core.GeneratorBasedBuilder):
        ...     VERSION = tfds.core.Version("1.0.0")
        ...     def _info(self):
        ...         features = tfds.features.FeaturesDict({"n": tfds.features.Scalar("int64")})
        ...         return self.dataset_info_from_configs(features=features)
        ...     def _split_generators(self, dl_manager):
        ...         return {"train": self._generate_examples()}
        ...     def _generate_examples(self):
        ...         for n in range(3):
        ...             yield n, {"n": n * n}
        ... ''')
        ...     sorted(row["n"] for row in load(str(path), split="train", data_dir=folder))
        [0, 1, 4]
    """
    made = builder(name, data_dir=data_dir, try_gcs=try_gcs, **(builder_kwargs or {}))
    if download:
        options = dict(download_and_prepare_kwargs or {})
        if file_format is not None:
            options.setdefault("file_format", file_format)
        made.download_and_prepare(**options)
    asked = {
        "split": split,
        "batch_size": batch_size,
        "shuffle_files": shuffle_files,
        "decoders": decoders,
        "read_config": read_config,
        "as_supervised": as_supervised,
        **(as_dataset_kwargs or {}),
    }
    found = made.as_dataset(**asked)
    return (found, made.info) if with_info else found


def data_source(
    name: str | os.PathLike[str],
    *,
    split: Any = None,
    data_dir: str | os.PathLike[str] | None = None,
    download: bool = True,
    decoders: Any = None,
    deserialize_method: Any = None,
    builder_kwargs: dict[str, Any] | None = None,
    download_and_prepare_kwargs: dict[str, Any] | None = None,
    try_gcs: bool = False,
) -> Any:
    """Load a dataset with random access to its rows.

    Args:
        name, split, data_dir, download, decoders, builder_kwargs, download_and_prepare_kwargs, try_gcs: see `load`.
        deserialize_method: ignored.

    Returns:
        A sequence of rows; for several splits a list, tuple or dict of them.
    """
    made = builder(name, data_dir=data_dir, try_gcs=try_gcs, **(builder_kwargs or {}))
    if download:
        made.download_and_prepare(**(download_and_prepare_kwargs or {}))
    return made.as_data_source(split, decoders=decoders)


def builder(
    name: str | os.PathLike[str],
    *,
    data_dir: str | os.PathLike[str] | None = None,
    try_gcs: bool = False,
    **builder_kwargs: Any,
) -> SplitReading:
    """Return the builder of a dataset: from imported code, a script, or a prepared dataset in `data_dir`.

    Args:
        name: `"name"`, `"name/config:1.*.*"`, or a path.
        data_dir: the folder of all datasets.
        try_gcs: ignored.
        builder_kwargs: `config=`, `version=`, and arguments of the builder itself.

    Raises:
        DatasetNotFoundError: no code or data has that name, or the name has a namespace (`huggingface:name`).
        UnknownVersionError, UnknownConfigError: the version or config does not exist.
    """
    if isinstance(name, os.PathLike) or _is_path(name):
        return _at_path(os.fspath(name), data_dir, builder_kwargs)
    asked = _in_no_namespace(parse_builder_name(name, builder_kwargs))
    root = os.path.expanduser(os.fspath(data_dir or default_data_dir()))
    if is_at_hub(root):
        raise ConfigurationError(
            f"data_dir={root!r} is on the Hub, which is not a folder of datasets",
            advice=f"Open one version: tfds.builder_from_directory({files.join(root, asked.name, '<version>')!r})",
            value=root,
        )
    cls: Any = registered(asked.name)
    config, version = asked.kwargs.get("config"), asked.kwargs.get("version")
    if cls is not None:
        try:
            made: SplitReading = cls(data_dir=root, **asked.kwargs)
        except UnknownVersionError:
            older = _prepared_before(cls, asked.name, root, config, version)
            if older is None:
                raise
            return older
        if is_pattern(version) and not made.is_available:
            return _prepared_before(cls, asked.name, root, config, version) or made
        return made
    found = find_prepared(root, asked.name, getattr(config, "name", config), version)
    if found is None:
        _refuse_unread(os.path.join(root, asked.name), version)
        raise _not_found(asked.name, root, version)
    return PreparedBuilder.of(ReadOnlyBuilder(found.folder, found.manifest))


def _in_no_namespace(asked: BuilderName) -> BuilderName:
    if asked.namespace is None:
        return asked
    raise DatasetNotFoundError(
        f"The namespace {asked.namespace!r} of '{asked.namespace}:{asked.name}' is not supported",
        advice=f"Use {asked.name!r}, or load datasets of the Hub with datasets_core.load_dataset",
    )


def _prepared_before(cls: Any, name: str, root: str, config: Any, version: Any) -> PreparedBuilder | None:
    """Return the dataset built by older code, if the current code does not list its version or cannot build it."""
    known = [each.name for each in cls.BUILDER_CONFIGS]
    wanted = getattr(config, "name", config) or cls.DEFAULT_BUILDER_CONFIG_NAME or next(iter(known), None)
    found = find_prepared(root, name, wanted, version, is_blocked=lambda each: cls.blocks(each, wanted)[0])
    return None if found is None else PreparedBuilder.of(ReadOnlyBuilder(found.folder, found.manifest))


def _refuse_unread(home: str, version: str | Version | None) -> None:
    """Raise an error that explains why a dataset prepared by TensorFlow Datasets is not read, if there is one."""
    for place in versions_below(home):
        if version is None or Version(os.path.basename(place)).match(version):
            manifest = tfds_manifest(place)
            if manifest is not None:
                check_whole(place, manifest)


def _not_found(name: str, root: str, version: str | Version | None) -> DatasetNotFoundError:
    wanted = name if version is None else f"{name}:{version}"
    known = registered_names()
    standing = sorted(os.listdir(root)) if os.path.isdir(root) else []
    near = difflib.get_close_matches(name, [*known, *standing], n=5)
    listed = ", ".join(near or known[:10]) or "none"
    return DatasetNotFoundError(
        f"No imported code defines {wanted!r}, and it is not prepared in {root}",
        advice=f"Import its builder, or pass the path of its script; {'similar names' if near else 'known builders'}: {listed}",
    )


def _is_path(name: Any) -> bool:
    return isinstance(name, str) and (name.endswith(".py") or name.startswith((".", "~", os.sep)) or files.is_url(name))


def _at_path(path: str, data_dir: str | os.PathLike[str] | None, kwargs: dict[str, Any]) -> SplitReading:
    local = Location.of(os.path.expanduser(path)).path
    script = local if local.endswith(".py") else script_in(local)
    if script is None:
        return builder_from_directory(local)
    is_trusted = kwargs.pop("trust_remote_code", None) is True
    cls = _class_at(local, is_trusted=is_trusted)
    made: SplitReading = cls(data_dir=data_dir, base_path=os.path.dirname(script), **kwargs)
    return made


def _class_at(path: str, *, is_trusted: bool = False) -> type[Any]:
    """Return the class of a script passed by the user, or in a folder that the user trusts."""
    if path.endswith(".py"):
        return _class_in(path)
    script = script_in(path)
    if script is None:
        raise DatasetNotFoundError(
            f"{path} has no script with the name of the folder", advice="Pass the path of the script", file=path
        )
    if not is_trusted:
        from datasets_core.errors import UntrustedScriptError

        raise UntrustedScriptError(script)
    return _class_in(script)


def _class_in(script: str) -> type[Any]:
    from datasets_core.scripting.script import load_script  # parses and imports; not needed for names

    cls = load_script(script)
    if not issubclass(cls, DatasetBuilder):
        raise ConfigurationError(
            f"{script} defines no builder of tfds.core", advice=f"Load it with datasets_core.load_dataset({script!r})"
        )
    return cls


def builder_cls(name: str | os.PathLike[str]) -> type[Any]:
    """Return the class of a builder defined by imported code or by a script.

    Args:
        name: name of the builder, or the path of a script.

    Raises:
        DatasetNotFoundError: no builder has that name.
        UntrustedScriptError: the path is a folder, whose script is not run.
    """
    if isinstance(name, os.PathLike) or _is_path(name):
        return _class_at(os.path.abspath(os.path.expanduser(os.fspath(name))))
    asked = _in_no_namespace(parse_builder_name(name))
    cls = registered(asked.name)
    if cls is None:
        near = difflib.get_close_matches(asked.name, registered_names(), n=5)
        raise DatasetNotFoundError(
            f"No imported code defines a builder {asked.name!r}",
            advice=f"Import it; similar names: {', '.join(near) or 'none'}",
        )
    return cls


def list_builders(*, with_community_datasets: bool = True) -> list[str]:
    """Return the names of the builders defined by code.

    Args:
        with_community_datasets: ignored.

    Example:
        >>> isinstance(list_builders(), list)
        True
    """
    return registered_names()


def builder_from_directory(builder_dir: str | os.PathLike[str], file_format: Any = None) -> PreparedBuilder:
    """Return the builder for a prepared dataset in a folder, of this library or of TFDS; its code is not needed.

    Args:
        builder_dir: the folder of one version.
        file_format: the format to read, if TensorFlow Datasets stored the rows in several.

    Raises:
        DatasetNotFoundError: the folder has no prepared dataset.
        ManifestError: the dataset is damaged.
        FileFormatError: the rows are in an unsupported format, such as riegeli, or in array_record files without that package.
    """
    name = getattr(file_format, "value", file_format)
    return PreparedBuilder.of(opened_directory(builder_dir, file_format=name))


def builder_from_directories(
    builder_dirs: Sequence[str | os.PathLike[str]], *, filetype_suffix: str | None = None
) -> PreparedBuilder:
    """Return one builder for several prepared datasets: a split has the rows of all of them.

    Args:
        builder_dirs: the folders of the datasets.
        filetype_suffix: ignored: the datasets record it.

    Raises:
        DatasetNotFoundError: a folder has no dataset of this library.
        ConfigurationError: features or file formats differ.
    """
    from datasets_core.building.prepared import builder_from_directories as joined  # only needed for several folders

    return PreparedBuilder.of(joined(builder_dirs))


# `benchmark`: the speed of iteration, with the first element measured separately.


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """Result of a benchmark.

    Attributes:
        batch_size: number of elements per step.
        start_time, first_batch_time, end_time: readings of a clock, in seconds.
        num_iter: number of steps, not counting the first.
    """

    batch_size: int
    start_time: float
    first_batch_time: float
    end_time: float
    num_iter: int

    @property
    def table(self) -> dict[str, dict[str, float]]:
        """`duration` in seconds, `num_examples` and `avg` (examples per second) for all steps, the first, and the others."""
        first, lasts = self.first_batch_time - self.start_time, self.end_time - self.first_batch_time
        steps = {"first+lasts": (first + lasts, self.num_iter + 1), "first": (first, 1), "lasts": (lasts, self.num_iter)}
        made = {name: (seconds, count * self.batch_size) for name, (seconds, count) in steps.items()}
        return {
            name: {"duration": seconds, "num_examples": count, "avg": count / seconds if seconds else count and float("inf")}
            for name, (seconds, count) in made.items()
        }

    @property
    def stats(self) -> Any:
        """The table as a pandas frame.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        frame: Any = needed("pandas", "BenchmarkResult.stats").DataFrame.from_dict(self.table, orient="index")
        return frame.astype({"num_examples": int})

    @property
    def raw_stats(self) -> Any:
        """Return the clock readings as a pandas frame.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        values = {name: getattr(self, name) for name in ("start_time", "first_batch_time", "end_time", "num_iter")}
        return needed("pandas", "BenchmarkResult.raw_stats").DataFrame.from_dict(values, orient="index", columns=["duration"])

    def __str__(self) -> str:
        names = {"first+lasts": "First included", "first": "First only", "lasts": "First excluded"}
        form = "Examples/sec ({}) {avg:.2f} ex/sec (total: {num_examples:.0f} ex, {duration:.2f} sec)"
        lines = [form.format(names[name], **row) for name, row in self.table.items()]
        return "\n".join(["************ Summary ************", *lines])

    def _repr_html_(self) -> str:
        return f"<pre>{self}</pre>"


def benchmark(ds: Iterable[Any], *, num_iter: int | None = None, batch_size: int = 1) -> BenchmarkResult:
    """Iterate once, and print the number of examples per second.

    Args:
        ds: any iterable.
        num_iter: maximum number of steps; None for all.
        batch_size: number of examples per element.

    Returns:
        The measured times, which are printed.

    Raises:
        ConfigurationError: the iterable is empty, or a number is invalid.

    Example:
        >>> benchmark([1, 2, 3]).num_iter  # doctest: +ELLIPSIS
        ************ Summary ************
        ...
        2
    """
    if batch_size < 1 or (num_iter is not None and num_iter < 1):
        raise ConfigurationError(f"num_iter={num_iter} and batch_size={batch_size} must be at least 1.")
    elements, count = iter(ds), -1
    first = start = time.perf_counter()
    for _ in islice(elements, num_iter):
        count += 1
        if not count:
            first = time.perf_counter()
    if count < 0:
        raise ConfigurationError("There are no elements to measure", advice="Pass a dataset that is not empty")
    result = BenchmarkResult(batch_size, start, first, time.perf_counter(), count)
    print(result)
    return result
