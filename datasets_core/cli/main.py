"""Argument parser of the command `datasets-core`, and its error messages."""

from __future__ import annotations

import argparse
import io
import json
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

from datasets_core import _version, config
from datasets_core.building.options import LOCK_NAME
from datasets_core.cli import datasets, maintenance
from datasets_core.cli.terminal import PlainFormatter, in_flags, say
from datasets_core.engines import on_engine
from datasets_core.engines.deadline import Deadline
from datasets_core.errors import ConfigurationError, DatasetsCoreError, logger_of
from datasets_core.optional import needed

_SUCCESS, _FAILURE, _INTERRUPTED = 0, 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: command-line arguments; `sys.argv[1:]` if None.

    Returns:
        The exit status: 0 success, 1 an error (one line on standard error) or damage found, 2 invalid usage, 130 interrupted.
    """
    parser = _parser()
    if "_ARGCOMPLETE" in os.environ:  # the shell asks for completions
        needed("argcomplete", "The completion of commands", "datasets_core[completion]").autocomplete(parser)
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without a letter shows its number
    level = logging.DEBUG if options.verbose > 1 else logging.INFO if options.verbose else logging.WARNING
    handler = logging.StreamHandler()
    handler.setFormatter(PlainFormatter("%(levelname)s %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
    try:
        if options.cache_dir:
            with config.using(cache_dir=os.path.abspath(options.cache_dir)):
                return int(options.command(options))
        return int(options.command(options))
    except DatasetsCoreError as error:
        if options.verbose:
            logger_of(__name__).info("Traceback:", exc_info=error)
        say(f"datasets-core: {in_flags(str(error))}", file=sys.stderr, style="red")
        for note in getattr(error, "__notes__", ()):
            if note.startswith("Job "):  # which arguments the job had, and how to run it alone
                say(note, file=sys.stderr)
        return _FAILURE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader, such as `head`, closed the pipe
        return _SUCCESS
    except KeyboardInterrupt:
        say("datasets-core: interrupted; finished work is kept for the next run", file=sys.stderr)
        return _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--cache-dir", metavar="DIR", help="folder of prepared datasets (default: HF_DATASETS_CACHE)")
    shared.add_argument("-v", "--verbose", action="count", default=0, help="print more messages; repeat for debug output")
    parser = argparse.ArgumentParser(prog="datasets-core", description="Build, inspect and verify datasets.")
    parser.add_argument("--version", action="version", version=f"datasets-core {_version.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    build = commands.add_parser("build", parents=[shared], help="build a dataset unless it is already built")
    _add_reference(build)
    build.add_argument("--num-proc", type=int, metavar="N", help="number of worker processes")
    _add_engine(build)
    build.add_argument(
        "--file-format", choices=["arrow", "parquet"], default="arrow", help="format of the shards (default: arrow)"
    )
    build.add_argument("--max-shard-size", metavar="SIZE", help="largest size of a shard, for example 200MB")
    build.add_argument("--output-dir", metavar="DIR", help="write the dataset to this folder or URL instead of the cache")
    build.add_argument(
        "--verification-mode",
        choices=["all_checks", "basic_checks", "no_checks"],
        help="what is compared with the records (default: basic_checks)",
    )
    build.add_argument("--check-version", action="store_true", help="fail if the version number does not reflect the changes")
    build.add_argument("--force", action="store_true", help="download and build again")
    build.add_argument("--num-shards", type=int, metavar="N", help="write exactly N shards per split")
    build.add_argument("--disable-shuffling", action="store_true", help="keep the generated order of rows")
    build.add_argument("--max-examples-per-split", type=int, metavar="N", help="build only the first N rows of each split")
    build.add_argument(
        "--register-checksums", action="store_true", help="record downloads in checksums.tsv in the folder of the script"
    )
    build.add_argument(
        "--force-checksums-validation", action="store_true", help="fail if a downloaded URL has no recorded checksum"
    )
    build.set_defaults(command=_build)

    job = commands.add_parser("run-job", parents=[shared], help="run one job of a build that failed, in this process")
    job.add_argument("plan", metavar="PLAN", help="the file that the error of the build names")
    job.add_argument("number", type=int, metavar="N", help="number of the job")
    job.add_argument("--output-dir", metavar="DIR", help="keep the files that the job writes in this folder")
    job.set_defaults(command=_run_job)

    info = commands.add_parser("info", parents=[shared], help="show the metadata of a dataset without building it")
    _add_reference(info)
    info.add_argument("--json", action="store_true", help="print JSON")
    info.set_defaults(command=_info)

    head = commands.add_parser("head", parents=[shared], help="print the first rows: a table, or JSON lines to a pipe")
    _add_reference(head)
    head.add_argument("--split", default=None, help="a split expression (default: the first split)")
    head.add_argument("-n", "--rows", type=int, default=5, metavar="N", help="number of rows (default: 5)")
    head.add_argument("--json", action="store_true", help="one JSON object per line, also on a terminal")
    head.set_defaults(command=_head)

    view = commands.add_parser("view", parents=[shared], help="show a dataset in the browser: all rows, by a local server")
    _add_looking(view, "--hub-token")
    view.add_argument("--diff", metavar="OTHER", help="another dataset: show the differences")
    view.add_argument("--port", type=int, default=0, metavar="N", help="port of the server (default: any free one)")
    view.add_argument("--no-browser", action="store_true", help="print the address only")
    view.add_argument("--host", default="127.0.0.1", metavar="HOST", help="address to listen on (default: this machine only)")
    view.add_argument("--token", metavar="SECRET", help="token in the address (default: a random one); required with --host")
    reading = view.add_mutually_exclusive_group()
    reading.add_argument("--streaming", action="store_const", const=True, help="show the first rows, and build nothing")
    reading.add_argument("--build", dest="streaming", action="store_const", const=False, help="build a remote dataset first")
    view.set_defaults(command=_view)

    report = commands.add_parser("report", parents=[shared], help="write a report of a dataset into one HTML file")
    _add_looking(report, "--token")
    report.add_argument("-o", "--output", default="report.html", metavar="FILE", help="the file (default: report.html)")
    report.set_defaults(command=lambda options: datasets.report(_looked(options), split=options.split, output=options.output))

    verify = commands.add_parser("verify", parents=[shared], help="hash every shard and report damaged ones")
    verify.add_argument("path", help="a prepared dataset, a folder of several, or a name printed by `cache ls`")
    verify.set_defaults(command=lambda options: maintenance.verify(options.path))

    mending = commands.add_parser("repair", parents=[shared], help="build only the damaged shards of a dataset again")
    _add_reference(mending)
    mending.add_argument("--output-dir", metavar="DIR", help="the folder of the dataset, if it is not in the cache")
    mending.add_argument("--num-proc", type=int, metavar="N", help="number of worker processes")
    mending.add_argument("--max-shard-size", metavar="SIZE", help="shard size of the build, if an earlier version built it")
    mending.add_argument("--file-format", choices=["arrow", "parquet"], default="arrow", help=argparse.SUPPRESS)
    mending.set_defaults(command=_repair)

    locking = commands.add_parser("lock", parents=[shared], help="write a lock file with all sources of a dataset")
    _add_reference(locking)
    locking.add_argument("-o", "--output", default=LOCK_NAME, metavar="FILE", help=f"the lock file (default: {LOCK_NAME})")
    locking.add_argument("--update", action="store_true", help="list the changes since the file was written, and rewrite it")
    locking.add_argument("--num-proc", type=int, metavar="N", help="number of worker processes")
    locking.set_defaults(command=_lock)

    diff = commands.add_parser("diff", parents=[shared], help="compare two versions of a dataset: PATCH, MINOR or MAJOR")
    for place in ("old", "new"):
        diff.add_argument(place, help="a prepared dataset: a folder, a name printed by `cache ls`, or NAME:VERSION")
    diff.add_argument("-n", "--rows", type=int, default=10, metavar="N", help="number of differences to show (default: 10)")
    diff.add_argument("--check", action="store_true", help="exit with 1 if the version number does not reflect the changes")
    diff.add_argument("--json", action="store_true", help="print JSON")
    diff.set_defaults(
        command=lambda options: datasets.diff(
            options.old, options.new, rows=options.rows, as_json=options.json, check=options.check
        )
    )

    cite = commands.add_parser("cite", parents=[shared], help="print the name, the fingerprint and the citation of a dataset")
    _add_reference(cite)
    cite.add_argument("--json", action="store_true", help="print JSON")
    cite.set_defaults(command=lambda options: datasets.cite(_reference(options), as_json=options.json))

    pushing = commands.add_parser("push", parents=[shared], help="upload a dataset to the Hub in one commit")
    pushing.add_argument("path", help="a saved or built folder, or any argument of `build`")
    pushing.add_argument("repository", help="org/name, or name for your own namespace; created if missing")
    pushing.add_argument("--config", metavar="NAME", help="the config to push, and to read if the dataset has several")
    pushing.add_argument("--split", metavar="SPLIT", help="a split or a slice of one (default: all splits)")
    pushing.add_argument("--private", action="store_true", help="create the repository as private if it does not exist")
    pushing.add_argument("--revision", metavar="BRANCH", help="branch to commit to; created if missing (default: main)")
    pushing.add_argument("--create-pr", action="store_true", help="open a pull request instead of a commit on the branch")
    pushing.add_argument("--num-proc", type=int, metavar="N", help="number of processes that build and write")
    _add_engine(pushing)
    pushing.add_argument("--max-shard-size", metavar="SIZE", help="largest size of a shard, for example 200MB")
    pushing.add_argument("--num-shards", type=int, metavar="N", help="write exactly N files per split")
    pushing.add_argument("--set-default", action="store_true", help="make this config the default")
    pushing.add_argument("--message", metavar="TEXT", help="message of the commit")
    pushing.add_argument("--description", metavar="TEXT", help="description of the commit")
    _add_files(pushing)
    _add_token(pushing)
    _add_trust(pushing)
    pushing.set_defaults(command=_push, name=None)

    told = commands.add_parser("croissant", parents=[shared], help="write a Croissant 1.1 description (JSON-LD)")
    _add_reference(told)
    told.add_argument("--config", metavar="NAME", help="config; may also be given as the second argument")
    told.add_argument("--split", action="append", metavar="NAME", help="describe this split; may be given several times")
    told.add_argument("-o", "--output", metavar="FILE", help="write to this file instead of standard output")
    told.set_defaults(command=_croissant)

    cache = commands.add_parser("cache", help="list and remove prepared datasets on this machine").add_subparsers(
        required=True, metavar="ACTION"
    )
    listing = cache.add_parser("ls", parents=[shared], help="list datasets with name, rows, size and age")
    listing.add_argument("--sort", choices=["name", "size", "age"], default="name", help="the largest or oldest first")
    shown = listing.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="one JSON object per dataset")
    shown.add_argument("--names", action="store_true", help="names only")
    listing.set_defaults(
        command=lambda options: maintenance.list_cache(as_json=options.json, names=options.names, sort=options.sort)
    )
    removal = cache.add_parser("rm", parents=[shared], help="remove prepared datasets by name")
    removal.add_argument("name", help="a name printed by `cache ls`: NAME, NAME/CONFIG, …")
    removal.add_argument("-y", "--yes", action="store_true", help="do not ask")
    removal.set_defaults(command=lambda options: maintenance.remove(options.name, sure=options.yes))
    collect = cache.add_parser("gc", parents=[shared], help="remove leftovers of killed processes and unreferenced shards")
    collect.add_argument("--dry-run", action="store_true", help="only list what would be removed")
    collect.set_defaults(command=lambda options: maintenance.collect(dry_run=options.dry_run))

    health = commands.add_parser("doctor", parents=[shared], help="show the environment and test the sandbox")
    health.add_argument("--json", action="store_true", help="print JSON")
    health.set_defaults(command=_doctor)

    new = commands.add_parser("new", help="create a dataset script with a test")
    new.add_argument("name", help="name of the dataset, snake_case")
    new.add_argument("--dir", default=".", help="parent of the new folder (default: current folder)")
    new.set_defaults(command=lambda options: maintenance.write(options.name, options.dir), cache_dir=None, verbose=0)
    return parser


def _add_reference(parser: argparse.ArgumentParser, token: str = "--token") -> None:
    parser.add_argument(
        "path", help="a folder, a script (with a version: reviews.py:1.*.*), a file, a URL, a format, or a dataset on the Hub"
    )
    parser.add_argument("name", nargs="?", help="config")
    _add_files(parser)
    parser.add_argument("--revision", metavar="REV", help="branch, tag or commit of a dataset on the Hub")
    _add_token(parser, token)
    _add_trust(parser)


def _add_looking(parser: argparse.ArgumentParser, token: str) -> None:
    _add_reference(parser, token)
    parser.add_argument("--split", metavar="EXPR", help="a split expression (default: the first split with rows)")
    parser.add_argument("--name", dest="config", metavar="CONFIG", help="config; may also be given as the second argument")


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-files", action="append", metavar="[SPLIT=]PATTERN", help="data files; may be repeated")
    parser.add_argument("--data-dir", metavar="DIR", help="folder of the data files, or of files downloaded manually")


def _add_token(parser: argparse.ArgumentParser, flag: str = "--token") -> None:
    parser.add_argument(
        flag, metavar="TOKEN", dest="hub_token", help="access token for the Hub (default: HF_TOKEN or the stored login)"
    )


def _add_trust(parser: argparse.ArgumentParser) -> None:
    trust = parser.add_mutually_exclusive_group()
    say: dict[str, Any] = {"dest": "trust_remote_code", "action": "store_const", "default": None}
    trust.add_argument("--trust-remote-code", const=True, help="run a script found in a folder without the sandbox", **say)
    trust.add_argument("--sandbox", const="sandbox", help="run every script in the sandbox", **say)
    trust.add_argument("--no-remote-code", const=False, help="do not run any script", **say)
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="time limit for the code of a script")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="builder option: JSON or text")


def _data_files(words: Sequence[str] | None) -> dict[str, list[str]] | list[str] | None:
    """Return `--data-files` values as `load_dataset` takes them: a dict by split if a value names one, else a list."""
    if not words:
        return None
    named = [word.partition("=") for word in words]
    if not any(mark and split.isidentifier() for split, mark, _ in named):
        return list(words)
    files: dict[str, list[str]] = {}
    for split, mark, pattern in named:
        if not mark or not split.isidentifier():
            raise ConfigurationError(
                f"--data-files {split}{mark}{pattern} has no split, but others do", advice="Write SPLIT=PATTERN for each"
            )
        files.setdefault(split, []).append(pattern)
    return files


def _add_engine(command: argparse.ArgumentParser) -> None:
    command.add_argument("--engine", metavar="NAME", help="what runs the jobs: processes, threads, serial, ray, dask")
    command.add_argument("--address", metavar="ADDRESS", help="address of a Ray or Dask cluster, for example auto")


def _options(words: Sequence[str]) -> dict[str, Any]:
    """Return `--option KEY=VALUE` arguments as a dict; a value that is not valid JSON is text."""
    options: dict[str, Any] = {}
    for word in words:
        key, mark, text = word.partition("=")
        if not mark or not key.isidentifier():
            raise ConfigurationError(f"--option {word!r} must be KEY=VALUE, for example --option sep=;")
        try:
            options[key] = json.loads(text)
        except ValueError:
            options[key] = text
    return options


def _reference(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `load_dataset_builder` from the command line."""
    return {
        "path": options.path,
        "name": options.name,
        "data_files": _data_files(options.data_files),
        "data_dir": options.data_dir,
        **({} if options.revision is None else {"revision": options.revision}),
        **({} if options.hub_token is None else {"token": options.hub_token}),
        **({} if options.trust_remote_code is None else {"trust_remote_code": options.trust_remote_code}),
        **({} if options.timeout is None else {"timeout": Deadline.of(options.timeout)}),
        **_options(options.option),
    }


def _build(options: argparse.Namespace) -> int:
    reference = _reference(options)
    with on_engine(options.engine, num_proc=options.num_proc, address=options.address):
        return _built(options, reference)


def _built(options: argparse.Namespace, reference: dict[str, Any]) -> int:
    return datasets.build(
        reference,
        timeout=reference.get("timeout"),
        output_dir=options.output_dir,
        check_version=options.check_version or None,
        download_mode="force_redownload" if options.force else None,
        file_format=options.file_format,
        max_shard_size=options.max_shard_size,
        num_proc=options.num_proc,
        verification_mode=options.verification_mode,
        num_shards=options.num_shards,
        disable_shuffling=options.disable_shuffling,
        max_examples_per_split=options.max_examples_per_split,
        register_checksums=options.register_checksums,
        force_checksums_validation=options.force_checksums_validation,
    )


def _run_job(options: argparse.Namespace) -> int:
    return datasets.run_job(options.plan, options.number, output_dir=options.output_dir)


def _repair(options: argparse.Namespace) -> int:
    reference = _reference(options)
    return datasets.repair(
        reference,
        timeout=reference.get("timeout"),
        output_dir=options.output_dir,
        num_proc=options.num_proc,
        max_shard_size=options.max_shard_size,
        file_format=options.file_format,
    )


def _push(options: argparse.Namespace) -> int:
    with on_engine(options.engine, num_proc=options.num_proc, address=options.address):
        return _pushed(options)


def _pushed(options: argparse.Namespace) -> int:
    branch, options.revision = options.revision, None  # the name of the target repository
    return datasets.push(
        _reference(options),
        options.repository,
        config_name=options.config,
        split=options.split,
        num_shards=options.num_shards,
        num_proc=options.num_proc,
        private=options.private or None,
        revision=branch,
        create_pr=options.create_pr or None,
        max_shard_size=options.max_shard_size,
        set_default=options.set_default or None,
        commit_message=options.message,
        commit_description=options.description,
        token=options.hub_token,
    )


def _doctor(options: argparse.Namespace) -> int:
    return maintenance.report(as_json=options.json)


def _lock(options: argparse.Namespace) -> int:
    return datasets.lock(_reference(options), output=options.output, update=options.update, num_proc=options.num_proc)


def _croissant(options: argparse.Namespace) -> int:
    return datasets.describe_files(_looked(options), splits=options.split, output=options.output)


def _looked(options: argparse.Namespace) -> dict[str, Any]:
    """Return the reference, with the config given in either of two places."""
    if options.config is not None and options.name not in (None, options.config):
        raise ConfigurationError(
            f"Two different configs were given: {options.name!r} and {options.config!r}", advice="Pass only one"
        )
    return {**_reference(options), "name": options.config or options.name}


def _view(options: argparse.Namespace) -> int:
    return datasets.view(
        _looked(options),
        split=options.split,
        other=options.diff,
        streams=options.streaming,
        host=options.host,
        port=options.port,
        token=options.token,
        opens_browser=not options.no_browser,
    )


def _info(options: argparse.Namespace) -> int:
    return datasets.describe(_reference(options), as_json=options.json)


def _head(options: argparse.Namespace) -> int:
    return datasets.head(_reference(options), split=options.split, count=options.rows, as_json=options.json)
