"""Argument parser of the command `datasets-core`, and its error messages."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

from datasets_core import _version, config
from datasets_core.building.options import LOCK_NAME
from datasets_core.cli import datasets, maintenance
from datasets_core.cli.maintenance import PlainFormatter, in_flags, say
from datasets_core.engines.deadline import Deadline
from datasets_core.errors import ConfigurationError, DatasetsCoreError

_SUCCESS, _FAILURE, _INTERRUPTED = 0, 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: words of the command line; those of the process if None.

    Returns:
        The exit status: 0 done, 1 an error (one line on standard error) or damage found, 2 not understood, 130 interrupted.
    """
    options = _parser().parse_args(arguments)
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
            logging.getLogger(__name__).info("Where it happened:", exc_info=error)
        say(f"datasets-core: {in_flags(str(error))}", file=sys.stderr)
        return _FAILURE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of our output has gone, as `head` does
        return _SUCCESS
    except KeyboardInterrupt:
        say("datasets-core: interrupted; what was finished is kept for the next run", file=sys.stderr)
        return _INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--cache-dir", metavar="DIR", help="folder of finished datasets (default: as HF_DATASETS_CACHE says)")
    shared.add_argument("-v", "--verbose", action="count", default=0, help="say more; twice: say everything")
    parser = argparse.ArgumentParser(prog="datasets-core", description="Build, inspect and verify datasets.")
    parser.add_argument("--version", action="version", version=f"datasets-core {_version.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    build = commands.add_parser("build", parents=[shared], help="build a dataset, or find that it is built")
    _add_reference(build)
    build.add_argument("--num-proc", type=int, metavar="N", help="worker processes")
    build.add_argument("--file-format", choices=["arrow", "parquet"], default="arrow")
    build.add_argument("--max-shard-size", metavar="SIZE", help="for example 200MB")
    build.add_argument("--output-dir", metavar="DIR", help="folder or URL for the result, instead of the cache")
    build.add_argument("--verification-mode", choices=["all_checks", "basic_checks", "no_checks"])
    build.add_argument("--check-version", action="store_true", help="refuse a version that says less than changed")
    build.add_argument("--force", action="store_true", help="download and build again")
    build.add_argument("--num-shards", type=int, metavar="N", help="write exactly so many shards of each split")
    build.add_argument("--disable-shuffling", action="store_true", help="keep rows as they come, where a script orders them")
    build.add_argument("--max-examples-per-split", type=int, metavar="N", help="build the first rows only")
    build.add_argument(
        "--register-checksums", action="store_true", help="write what is downloaded into the checksums.tsv beside the script"
    )
    build.add_argument(
        "--force-checksums-validation", action="store_true", help="each URL that is downloaded must be registered there"
    )
    build.set_defaults(command=_build)

    info = commands.add_parser("info", parents=[shared], help="what a dataset is, without building it")
    _add_reference(info)
    info.add_argument("--json", action="store_true", help="as JSON")
    info.set_defaults(command=_info)

    head = commands.add_parser("head", parents=[shared], help="the first rows, one JSON object a line")
    _add_reference(head)
    head.add_argument("--split", default=None, help="a split expression (default: the first split)")
    head.add_argument("-n", "--rows", type=int, default=5, metavar="N", help="how many rows (default 5)")
    head.set_defaults(command=_head)

    verify = commands.add_parser("verify", parents=[shared], help="hash every shard again and name what is bad")
    verify.add_argument("path", help="a finished dataset, a folder of them, or a name as `cache ls` prints it")
    verify.set_defaults(command=lambda options: maintenance.verify(options.path))

    locking = commands.add_parser("lock", parents=[shared], help="write what a dataset is made of into a file")
    _add_reference(locking)
    locking.add_argument("-o", "--output", default=LOCK_NAME, metavar="FILE", help=f"the file (default: {LOCK_NAME})")
    locking.add_argument("--update", action="store_true", help="say what moved since it was written, and write it anew")
    locking.add_argument("--num-proc", type=int, metavar="N", help="worker processes")
    locking.set_defaults(command=_lock)

    diff = commands.add_parser("diff", parents=[shared], help="what became of a dataset: PATCH, MINOR or MAJOR")
    for place in ("old", "new"):
        diff.add_argument(place, help="a finished dataset: a folder, a name as `cache ls` prints it, or NAME:VERSION")
    diff.add_argument("-n", "--rows", type=int, default=10, metavar="N", help="how many differences to show (default 10)")
    diff.add_argument("--check", action="store_true", help="exit with 1 where the versions say less than what changed")
    diff.add_argument("--json", action="store_true", help="as JSON")
    diff.set_defaults(
        command=lambda options: datasets.diff(
            options.old, options.new, rows=options.rows, as_json=options.json, check=options.check
        )
    )

    cite = commands.add_parser("cite", parents=[shared], help="the name, the fingerprint and the citation, for a paper")
    _add_reference(cite)
    cite.add_argument("--json", action="store_true", help="as JSON")
    cite.set_defaults(command=lambda options: datasets.cite(_reference(options), as_json=options.json))

    pushing = commands.add_parser("push", parents=[shared], help="bring a dataset to a repository of the Hub, by one commit")
    pushing.add_argument("path", help="a saved or built folder, or anything that `build` takes")
    pushing.add_argument("repository", help="org/name, or name for one of your own; it is made if need be")
    pushing.add_argument("--config", metavar="NAME", help="the config to push; where there are several, the one to read too")
    pushing.add_argument("--split", metavar="SPLIT", help="one split, or a slice of it (default: all)")
    pushing.add_argument("--private", action="store_true", help="if the repository is made")
    pushing.add_argument("--revision", metavar="BRANCH", help="made if need be (default: main)")
    pushing.add_argument("--create-pr", action="store_true", help="open a pull request instead of a commit on the branch")
    pushing.add_argument("--num-proc", type=int, metavar="N", help="processes that build and write")
    pushing.add_argument("--max-shard-size", metavar="SIZE", help="for example 200MB")
    pushing.add_argument("--num-shards", type=int, metavar="N", help="exactly so many files of each split")
    pushing.add_argument("--set-default", action="store_true", help="make the config the default one")
    pushing.add_argument("--message", metavar="TEXT", help="of the commit")
    pushing.add_argument("--description", metavar="TEXT", help="what else the commit says")
    _add_files(pushing)
    _add_token(pushing)
    _add_trust(pushing)
    pushing.set_defaults(command=_push, name=None)

    told = commands.add_parser("croissant", parents=[shared], help="a description for other tools: JSON-LD in Croissant 1.1")
    _add_reference(told)
    told.add_argument("--config", metavar="NAME", help="config, as the second word names it too")
    told.add_argument("--split", action="append", metavar="NAME", help="describe this split; may be given several times")
    told.add_argument("-o", "--output", metavar="FILE", help="write it there, instead of printing it")
    told.set_defaults(command=_croissant)

    cache = commands.add_parser("cache", help="finished datasets on this machine").add_subparsers(
        required=True, metavar="ACTION"
    )
    listing = cache.add_parser("ls", parents=[shared], help="name, rows, size and age of each")
    listing.set_defaults(command=lambda options: maintenance.list_cache())
    removal = cache.add_parser("rm", parents=[shared], help="remove finished datasets by name")
    removal.add_argument("name", help="as `cache ls` prints it: NAME, NAME/CONFIG, …")
    removal.add_argument("-y", "--yes", action="store_true", help="do not ask")
    removal.set_defaults(command=lambda options: maintenance.remove(options.name, sure=options.yes))
    collect = cache.add_parser("gc", parents=[shared], help="remove what dead processes left, and shards that nothing names")
    collect.add_argument("--dry-run", action="store_true", help="only say what would go")
    collect.set_defaults(command=lambda options: maintenance.collect(dry_run=options.dry_run))

    health = commands.add_parser("doctor", parents=[shared], help="what this machine offers, and whether scripts run confined")
    health.add_argument("--json", action="store_true", help="as JSON")
    health.set_defaults(command=_doctor)

    new = commands.add_parser("new", help="write a dataset script with its test")
    new.add_argument("name", help="name of the dataset, snake_case")
    new.add_argument("--dir", default=".", help="where its folder is made (default: here)")
    new.set_defaults(command=lambda options: maintenance.write(options.name, options.dir), cache_dir=None, verbose=0)
    return parser


def _add_reference(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", help="a folder, a script (of one version: reviews.py:1.*.*), a file, a URL, a format, or a dataset on the Hub"
    )
    parser.add_argument("name", nargs="?", help="config")
    _add_files(parser)
    parser.add_argument("--revision", metavar="REV", help="branch, tag or commit of a dataset on the Hub")
    _add_token(parser)
    _add_trust(parser)


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-files", action="append", metavar="[SPLIT=]PATTERN", help="may be given several times")
    parser.add_argument("--data-dir", metavar="DIR")


def _add_token(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--token", metavar="TOKEN", help="for the Hub (default: HF_TOKEN, or who is logged in)")


def _add_trust(parser: argparse.ArgumentParser) -> None:
    trust = parser.add_mutually_exclusive_group()
    say: dict[str, Any] = {"dest": "trust_remote_code", "action": "store_const", "default": None}
    trust.add_argument(
        "--trust-remote-code", const=True, help="run a script that is found in a folder as it is, not confined", **say
    )
    trust.add_argument("--sandbox", const="sandbox", help="run any script confined", **say)
    trust.add_argument("--no-remote-code", const=False, help="run no script at all", **say)
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="stop the code of a script that is not done by then")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="builder option, as JSON or text")


def _data_files(words: Sequence[str] | None) -> dict[str, list[str]] | list[str] | None:
    """`--data-files` words as what `load_dataset` takes: by split if any names one, else a list."""
    if not words:
        return None
    named = [word.partition("=") for word in words]
    if not any(mark and split.isidentifier() for split, mark, _ in named):
        return list(words)
    files: dict[str, list[str]] = {}
    for split, mark, pattern in named:
        if not mark or not split.isidentifier():
            raise ConfigurationError(
                f"--data-files {split}{mark}{pattern} names no split, others do. Write SPLIT=PATTERN for each."
            )
        files.setdefault(split, []).append(pattern)
    return files


def _options(words: Sequence[str]) -> dict[str, Any]:
    """Return `--option KEY=VALUE` words as a dict; a value that is not JSON is text."""
    options: dict[str, Any] = {}
    for word in words:
        key, mark, text = word.partition("=")
        if not mark or not key.isidentifier():
            raise ConfigurationError(f"--option {word!r} is not KEY=VALUE. Write for example --option sep=;")
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
        **({} if options.token is None else {"token": options.token}),
        **({} if options.trust_remote_code is None else {"trust_remote_code": options.trust_remote_code}),
        **({} if options.timeout is None else {"timeout": Deadline.of(options.timeout)}),
        **_options(options.option),
    }


def _build(options: argparse.Namespace) -> int:
    reference = _reference(options)
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


def _push(options: argparse.Namespace) -> int:
    branch, options.revision = options.revision, None  # that of the repository that is pushed to
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
        token=options.token,
    )


def _doctor(options: argparse.Namespace) -> int:
    return maintenance.report(as_json=options.json)


def _lock(options: argparse.Namespace) -> int:
    return datasets.lock(_reference(options), output=options.output, update=options.update, num_proc=options.num_proc)


def _croissant(options: argparse.Namespace) -> int:
    if options.config is not None and options.name not in (None, options.config):
        raise ConfigurationError(f"Two configs are named, {options.name!r} and {options.config!r}. Name one.")
    reference = {**_reference(options), "name": options.config or options.name}
    return datasets.describe_files(reference, splits=options.split, output=options.output)


def _info(options: argparse.Namespace) -> int:
    return datasets.describe(_reference(options), as_json=options.json)


def _head(options: argparse.Namespace) -> int:
    return datasets.head(_reference(options), split=options.split, count=options.rows)
