"""Commands on datasets: build, describe, head, view, report, lock, diff, cite, push."""

from __future__ import annotations

import base64
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.prepared import builder_from_directory
from datasets_core.cli.maintenance import named_folders
from datasets_core.cli.terminal import counted, one_line, print_table, say, terminal_width
from datasets_core.config import using
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import ConfigurationError, DatasetNotFoundError, UnknownSplitError
from datasets_core.features import Value
from datasets_core.features.media.audio import Sound
from datasets_core.files import is_url, new_file, write_atomically
from datasets_core.inspect import get_dataset_config_names
from datasets_core.io.saved_folder import is_saved_dataset, is_saved_group
from datasets_core.load import load_dataset, load_dataset_builder, load_from_disk, lock_dataset
from datasets_core.meta.info import DatasetInfo, infos_to_croissant
from datasets_core.progress import progress
from datasets_core.store.atomic import temporary_folder
from datasets_core.store.diff import Difference, compare
from datasets_core.store.equality import data_fingerprint, split_fingerprints
from datasets_core.store.manifest import Manifest, read_manifest

if TYPE_CHECKING:
    from datasets_core.dataset.dataset import Dataset


# `croissant`: the description of a dataset for other tools, as JSON-LD.


_SOURCE = ("path", "data_files", "data_dir", "revision", "token", "storage_options", "trust_remote_code")


def describe_files(reference: Mapping[str, Any], *, splits: Sequence[str] | None, output: str | None) -> int:
    """Write the Croissant description of a dataset; of all its configs if no config is named.

    A config is built if its columns or the hashes of its files are otherwise unknown.
    """
    names = [reference["name"]] if reference.get("name") is not None else get_dataset_config_names(**_of_source(reference))
    builders = [load_dataset_builder(**{**reference, "name": name}) for name in names]
    infos = list(map(_known_info, builders))
    told = infos_to_croissant(infos, _folder(output, builders), splits)
    text = json.dumps(told, indent=2, ensure_ascii=False) + "\n"
    if output is None:
        say(text.rstrip())
        return 0
    if is_url(output):
        with new_file(output) as file:
            file.write(text.encode())
    else:
        write_atomically(output, text.encode())
    say(output)
    folder = os.path.dirname(os.path.abspath(output))
    if not is_url(output) and (missing := _not_beside(told, folder)) is not None:
        say(f"datasets-core: paths are relative to the data folder, and {folder} has no {missing}", file=sys.stderr)
    return 0


def _of_source(reference: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reference of the dataset as text, without its config."""
    return {key: value for key, value in reference.items() if key in _SOURCE}


def _folder(output: str | None, builders: Sequence[DatasetBuilder]) -> str | None:
    """Return the base folder of paths: that of the description, or the common folder of the shards of all configs."""
    if output is not None and not is_url(output):
        return os.path.dirname(os.path.abspath(output))
    return os.path.commonpath([builder.cache_dir for builder in builders]) if len(builders) > 1 else None


def _known_info(builder: DatasetBuilder) -> DatasetInfo:
    info = builder.info
    is_built = read_manifest(builder.cache_dir) is not None  # opening it tells which files its rows are from
    if is_built or info.features is None or not info.splits or _lacks_hashes(info):
        builder.download_and_prepare()
    return builder.info


def _lacks_hashes(info: DatasetInfo) -> bool:
    told = info.to_croissant()
    return any("sha256" not in node for node in told["distribution"] if node["@type"] == "cr:FileObject")


def _not_beside(told: Mapping[str, Any], folder: str) -> str | None:
    """Return the first missing file of those that the description expects in its own folder."""
    for node in told["distribution"]:
        address = node.get("contentUrl")
        if address is not None and not is_url(address) and not os.path.isfile(os.path.join(folder, address)):
            return str(address)
    return None


# `build`, `info` and `head`: a dataset on the terminal.


def build(reference: Mapping[str, Any], *, output_dir: str | None, **how: Any) -> int:
    """Build the dataset and print its folder."""
    builder = load_dataset_builder(**reference)
    builder.download_and_prepare(output_dir=output_dir, **{name: value for name, value in how.items() if value is not None})
    say(output_dir or builder.cache_dir)
    for line in _splits(builder.info):
        say(line)
    return 0


def run_job(path: str, number: int, *, output_dir: str | None) -> int:
    """Run one job of a build that failed, in this process; its error is raised as it is."""
    from datasets_core.building.write.exchange import JobPlan, arguments_of  # few need it

    settings, plan = JobPlan.read(path)
    with using(settings), tempfile.TemporaryDirectory(dir=temporary_folder()) as folder:
        if output_dir is not None:
            os.makedirs(output_dir, exist_ok=True)
        job = plan.job(number)
        part = f" (part {job.index + 1} of {job.count})" if job.count > 1 else ""
        say(f"job {number}: split {job.split!r}{part} of {job.builder.label}, {arguments_of(job)}")
        made = plan.function(job.within(output_dir or folder))
    say(f"{counted(made.rows, 'row')} in {counted(len(made.shards), 'shard')}{f' in {output_dir}' if output_dir else ''}")
    return 0


def repair(reference: Mapping[str, Any], *, output_dir: str | None, **how: Any) -> int:
    """Build the damaged shards of the dataset again, and print their paths."""
    from datasets_core.building.options import BuildOptions  # only this command needs it
    from datasets_core.building.prepare import repair as repaired

    builder = load_dataset_builder(**reference)
    folder = output_dir or builder.cache_dir
    paths = repaired(builder, BuildOptions.of(output_dir=folder, **how))
    for path in paths:
        say(f"repaired {path}")
    if not paths:
        say(f"good {folder}: nothing to repair")
    return 0


def describe(reference: Mapping[str, Any], *, as_json: bool) -> int:
    """Print the metadata of the dataset, whether or not it is built."""
    builder = load_dataset_builder(**reference)
    built = read_manifest(builder.cache_dir)
    info = built.info if built else builder.info
    if as_json:
        say(json.dumps(info.to_dict(), indent=2, ensure_ascii=False, default=str))
        return 0
    facts = {
        "dataset": info.dataset_name or builder.dataset_name,
        "repository": f"{builder.repo_id} at {builder.commit_sha}" if builder.commit_sha else None,
        "config": info.config_name,
        "version": info.version,
        "versions": ", ".join(map(str, builder.versions)) if len(builder.versions) > 1 else None,
        "built": f"{builder.cache_dir} ({built.verification})" if built else "not yet",
        "description": (info.description or "").strip(),
        "homepage": info.homepage,
        "license": info.license,
    }
    for name, value in facts.items():
        if value:
            say(f"{name + ':':13}{value}")
    for line in _splits(info):
        say(line)
    if info.features:
        say("features:")
        for name, feature in info.features.items():
            say(f"  {name}: {feature}")
    return 0


def head(reference: Mapping[str, Any], *, split: str | None, count: int, as_json: bool = False) -> int:
    """Print the first `count` rows: a table on a terminal; otherwise, and with `as_json`, a JSON object for each row."""
    if count < 0:
        raise ConfigurationError(f"--rows {count} is negative", advice="Pass 0 or more")
    found = load_dataset(**reference, split=split)
    rows = found if split is not None else next(iter(found.values()))
    first = rows.select(range(min(count, len(rows))))
    width = terminal_width()
    if as_json or width is None:
        for row in first:
            say(json.dumps(_shown(row), ensure_ascii=False, default=_printable))
        return 0
    names = rows.column_names
    texts = [[_in_table(row[name]) for name in names] for row in first]
    if len(names) * _LEAST_WIDTH <= width:
        print_table(names, texts, right=[name for name in names if _is_number(rows.features[name])])
    else:  # too many columns for one line: a line for each value
        for number, values in enumerate(texts):
            say(f"row {number}", style="bold")
            print_table(("  COLUMN", "VALUE"), [(f"  {name}", value) for name, value in zip(names, values, strict=True)])
    say(f"{counted(len(first), 'row')} of {len(rows):,}", style="dim")
    return 0


_LEAST_WIDTH = 10  # columns of the terminal that a column of a table takes
_MOST_CHARACTERS = 2_000  # of a cell


def _is_number(feature: Any) -> bool:
    return isinstance(feature, Value) and feature.dtype.startswith(("int", "uint", "float", "decimal"))


def _in_table(value: Any) -> str:
    """Return a value of a row as a short text.

    >>> _in_table(None), _in_table("two\\nlines"), _in_table(b"abc"), _in_table({"a": [b"xy", None]}), _in_table(1.5)
    ('-', 'two lines', '3 bytes', '{"a": ["2 bytes", null]}', '1.5')
    """
    if value is None:
        return "-"
    if isinstance(value, bytes):
        return counted(len(value), "byte")
    value = _shown(value)
    is_nested = isinstance(value, (dict, list))
    text = json.dumps(value, ensure_ascii=False, default=_in_table) if is_nested else str(value)
    return one_line(text[:_MOST_CHARACTERS])


def _splits(info: DatasetInfo) -> list[str]:
    return [
        f"  {name}: {counted(split.num_examples or 0, 'row')}, {counted(split.num_bytes or 0, 'byte')} "
        f"in {counted(len(split.shard_lengths or [0]), 'shard')}"
        for name, split in (info.splits or {}).items()
    ]


def _shown(value: Any) -> Any:
    """Return a value of a row with media as short texts.

    >>> from PIL import Image
    >>> _shown({"a": [Image.new("RGB", (4, 3))]})
    {'a': ['<image: 4 x 3 pixels, RGB>']}
    """
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if isinstance(value, dict):
        if isinstance(value, Sound):
            samples = value.get_all_samples()
            channels = counted(len(samples.data), "channel")
            seconds = samples.data.shape[-1] / value["sampling_rate"]
            return _medium("audio", f"{seconds:.1f} s", f"{value['sampling_rate']:,} Hz", channels, _base(value["path"]))
        return {name: _shown(item) for name, item in value.items()}
    package = type(value).__module__.partition(".")[0]
    if package == "PIL":
        size = f"{value.width} x {value.height} pixels"
        return _medium("image", value.format, size, value.mode, _base(getattr(value, "filename", "")))
    if package == "pdfplumber":
        return _medium("PDF", counted(len(value.pages), "page"))
    if package == "torchcodec":
        known = value.metadata
        return _medium("video", f"{known.width} x {known.height} pixels", f"{known.duration_seconds:.1f} s")
    return value


def _medium(kind: str, *facts: str | None) -> str:
    return f"<{kind}: {', '.join(fact for fact in facts if fact)}>"


def _base(path: str | None) -> str:
    return os.path.basename(path or "")


def _printable(value: object) -> Any:
    """Return a value that JSON cannot store as text: bytes as base64, others (dates, decimals) by `str`."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value)


# `view` and `report`: a dataset in the browser, and in one file.


def view(
    reference: Mapping[str, Any],
    *,
    split: str | None,
    other: str | None,
    streams: bool | None,
    host: str,
    port: int,
    token: str | None,
    opens_browser: bool,
) -> int:
    """Show a dataset in the browser until the command is interrupted; the address is printed.

    Args:
        reference: arguments of `load_dataset`.
        split: the split expression to show first.
        other: a dataset to compare with.
        streams: True to show the first rows of a stream, False to build remote datasets.
        host, port, token: the address and the token of the server.
        opens_browser: False to print the address only.
    """
    from datasets_core.viewer.opening import open_reference  # these take 0.1 s, which other commands do without
    from datasets_core.viewer.server import Viewer, browse

    opened = open_reference(_named(reference), split, streams=streams)
    if other is not None:
        opened.other = open_reference(_named({"path": other}), None, streams=streams)
    viewer = Viewer(opened, host=host, port=port, token=token)
    say(viewer.url)
    sys.stdout.flush()
    try:
        if opens_browser:
            browse(viewer.url)
        viewer.run()
    except KeyboardInterrupt:
        say("datasets-core: the viewer has ended", file=sys.stderr)
    finally:
        viewer.close()
    return 0


def report(reference: Mapping[str, Any], *, split: str | None, output: str) -> int:
    """Write the report of a dataset and print its path and size."""
    from datasets_core.viewer.opening import open_reference
    from datasets_core.viewer.report import report_of

    report_of(open_reference(_named(reference), split, streams=False), output, split=split)
    say(f"{output} ({os.path.getsize(output):,} bytes)")
    return 0


def _named(reference: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the reference with the folder of a name that `cache ls` prints."""
    path = os.fspath(reference["path"])
    folders = [] if os.path.exists(path) or is_url(path) else named_folders(path)
    return {**reference, "path": folders[0]} if len(folders) == 1 else reference


def lock(reference: Mapping[str, Any], *, output: str, update: bool, num_proc: int | None) -> int:
    """Write the lock file of the dataset, or confirm that it is up to date."""
    outcome = lock_dataset(**reference, lock=output, update=update, num_proc=num_proc)
    for line in outcome.moved:
        say(f"  {line}")
    say(f"{outcome.path} {'written' if outcome.is_written else 'is up to date'}")
    return 0


def diff(old: str, new: str, *, rows: int, as_json: bool, check: bool) -> int:
    """Print the differences between two prepared versions of a dataset.

    Returns:
        0, even if they differ; with `check`, 1 if the version number does not reflect the change.
    """
    found = compare(_folder_of(old), _folder_of(new), limit=rows)
    if as_json:
        say(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        say(f"{found.level.upper()}: {_meaning(found)}")
        for line in found.summary:
            say(f"  {line}")
        if found.first_differences:
            say("first differences:")
        for row in found.first_differences:
            say(f"  {row}")
        say(_on_versions(found))
    return 1 if check and not found.is_declared else 0


def _meaning(found: Difference) -> str:
    if not found.summary:
        return "nothing differs"
    meanings = {
        "patch": "same rows in the same order",
        "minor": "same rows, with added columns or fields",
        "major": "changed rows, columns or splits",
    }
    return meanings[found.level]


def _on_versions(found: Difference) -> str:
    if found.old_version is None or found.new_version is None:
        return "versions: not recorded"
    said = f"versions: {found.old_version}, then {found.new_version}"
    if found.declared == "back":
        return f"{said}: the version went down; use {found.right_version} or higher"
    if not found.is_declared:
        return f"{said}: the change is larger than the version says; use {found.right_version} or higher"
    return f"{said}: the version reflects the change"


def cite(reference: Mapping[str, Any], *, as_json: bool) -> int:
    """Print the name of a prepared dataset, the fingerprint of its rows, and its recorded citation."""
    builder = _built_builder(reference)
    manifest: Manifest = builder._built()
    info = manifest.info
    rows = {split: sum(lengths) for split, lengths in manifest.split_lengths().items()}
    with progress("Hashing rows", total=sum(rows.values()), unit="rows") as bar:
        splits = split_fingerprints(
            builder._output_dir, manifest, on_rows=bar.update, storage_options=builder._output_storage_options
        )
    facts = {
        "dataset": info.full_name or builder.label,
        "fingerprint": f"sha256:{data_fingerprint(splits)}",
        "rows": rows,
        "homepage": info.homepage,
        "license": info.license,
        "citation": (info.citation or "").strip(),
    }
    if as_json:
        say(json.dumps(facts, indent=2, ensure_ascii=False))
        return 0
    say(facts["dataset"])
    say(f"fingerprint: {facts['fingerprint']}")
    say(f"rows:        {', '.join(f'{split} {count:,}' for split, count in rows.items())}")
    for name in ("homepage", "license"):
        if facts[name]:
            say(f"{name + ':':13}{facts[name]}")
    say(f"\n{facts['citation'] or 'No citation is recorded.'}")
    return 0


def _folder_of(text: str) -> str:
    return _built_builder({"path": text})._output_dir


def _built_builder(reference: Mapping[str, Any]) -> DatasetBuilder:
    """Return the builder of a built dataset, given by folder, by a name that `cache ls` prints, or by reference.

    Raises:
        DatasetNotFoundError: the dataset is not built.
        ConfigurationError: several datasets have this name.
    """
    path = os.fspath(reference["path"])
    given = {name: value for name, value in reference.items() if value is not None and name != "path"}
    if not given:
        try:
            return builder_from_directory(path)
        except DatasetNotFoundError:
            pass
        folders = [] if os.path.exists(path) else named_folders(path)
        if len(folders) > 1:
            raise ConfigurationError(
                f"{path} matches {counted(len(folders), 'dataset')} in the cache",
                advice=f"Pass one of: {', '.join(folders)}",
                file=path,
            )
        if folders:
            return builder_from_directory(folders[0])
    builder = load_dataset_builder(**reference)
    builder._built()
    return builder


# `push`: upload a dataset to a repository on the Hub.


_ASKED = ("path", "data_files", "data_dir", "token", "trust_remote_code")


def push(
    reference: Mapping[str, Any],
    repo_id: str,
    *,
    config_name: str | None,
    split: str | None,
    num_shards: int | None,
    num_proc: int | None,
    **how: Any,
) -> int:
    """Push a dataset to the Hub and print the URL of the commit.

    Args:
        reference: arguments of `load_dataset`; the path may also be a saved or built folder, or a name printed by `cache ls`.
        repo_id: `org/name`, or `name` for a repository of the user.
        config_name: the config to push; if the dataset has several configs, this one is read.
        split: a split expression; all splits if None.
        num_shards: number of files per split.
        num_proc: number of processes that build and write.
        how: other arguments of `push_to_hub`.
    """
    found, own = _opened(reference, config_name, split, num_proc)
    options = {"config_name": config_name or own, "num_proc": num_proc, **how}
    options = {name: value for name, value in options.items() if value is not None}
    if isinstance(found, DatasetDict):
        if num_shards is not None:
            options["num_shards"] = dict.fromkeys(found, num_shards)
        made = found.push_to_hub(repo_id, **options)
        rows = {name: len(each) for name, each in found.items()}
    else:
        name = "train" if split is None and found.split is None else str(split or found.split).partition("[")[0]
        made = found.push_to_hub(repo_id, split=name, num_shards=num_shards, **options)
        rows = {name: len(found)}
    say(made.pr_url or made.commit_url)
    for name, count in rows.items():
        say(f"  {name}: {counted(count, 'row')}")
    return 0


def _opened(
    reference: Mapping[str, Any], config_name: str | None, split: str | None, num_proc: int | None
) -> tuple[Dataset | DatasetDict, str | None]:
    """Return the rows, and the name of their config if it has one."""
    path = os.fspath(reference["path"])
    is_folder = os.path.isdir(path)
    if is_folder and (is_saved_group(path) or is_saved_dataset(path)):
        saved = load_from_disk(path)
        if split is None or not isinstance(saved, DatasetDict):
            return saved, None
        if split not in saved:
            raise UnknownSplitError(split, known=saved)
        return saved[split], None
    built = [path] if is_folder and read_manifest(path) is not None else []
    if not os.path.exists(path):
        built = named_folders(path)
    if len(built) == 1:
        builder = builder_from_directory(built[0])
        return builder.as_dataset(split), builder.config.name
    configs = get_dataset_config_names(**{name: reference[name] for name in _ASKED if reference.get(name) is not None})
    if config_name is not None and (len(configs) > 1 or config_name in configs):  # an unnamed config may have any name
        reference = {**reference, "name": config_name}
    return load_dataset(**reference, split=split, num_proc=num_proc), None
