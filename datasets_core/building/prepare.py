"""`prepare`: reuse of a finished dataset, or a build under the lock; record of the builds of Hub datasets.

A finished dataset is used without a lock, if its manifest, its shards and its verification mode are sufficient.
Otherwise one process builds under the lock, and waiting processes check again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from datasets_core.building.cache_key import dataset_identity, stale_source
from datasets_core.building.hooks import Builder
from datasets_core.building.options import STRENGTH, BuildOptions, check_hashes, check_manifest, has_register, is_wanted
from datasets_core.config import using
from datasets_core.errors import (
    DamagedShardError,
    DatasetDiskError,
    DatasetGenerationError,
    DatasetNotFoundError,
    DatasetsCoreError,
    ManifestError,
    MissingChecksumError,
    VerificationError,
    logger_of,
)
from datasets_core.errors.base import put_users_frames_first
from datasets_core.fetch.checksums import DownloadMode, VerificationMode
from datasets_core.files import disk_errors, is_url, join, locked, locked_and_swept, write_atomically
from datasets_core.hub_urls import DEFAULT_REVISION, is_commit
from datasets_core.progress import progress
from datasets_core.store.manifest import (
    JOURNAL_NAME,
    Manifest,
    ShardRecord,
    located,
    lock_path,
    manifest_files,
    read_manifest,
    staging_folders,
)
from datasets_core.store.source import check_shards, clear_damage, has_damage, verify_folder

# Record of the builds of a Hub dataset in the cache: by commit and request, in one small file for each
# repository.


logger = logger_of(__name__)

FOLDER = "hub_builds"
FORM = 1
_MOST_BUILDS = 10_000
_MOST_BYTES = 16 << 20


class HubReference(NamedTuple):
    """A request to the Hub, and the resolved commit.

    Attributes:
        repo_id: `org/name`, or `name`.
        revision: the revision passed by the user, or None.
        commit: the commit; None if unknown.
        config: the requested name; None for the default.
        asked: hash of the remaining arguments: data files, data folder, options, features, version.
    """

    repo_id: str
    revision: str | None
    commit: str | None
    config: str | None
    asked: str


class HubBuild(NamedTuple):
    """One build, and a request for it.

    Attributes:
        commit: commit of the repository.
        config: config of the build.
        is_default: True if it was the config of a request without a name.
        asked: see `HubReference`.
        place: its folder in the cache.
    """

    commit: str
    config: str
    is_default: bool
    asked: str
    place: str


def remember(root: str, reference: HubReference, config: str, place: str) -> None:
    """Record the build for a request; a read-only cache stays unchanged.

    Args:
        root: the cache.
        reference: the request, and the commit.
        config: the name of the config that was built.
        place: the folder of the build.
    """
    path, commit, revision = _file(root, reference.repo_id), reference.commit, reference.revision or DEFAULT_REVISION
    inside = os.path.relpath(place, root)
    if is_url(root) or commit is None or inside.startswith(os.pardir):
        return
    build = HubBuild(commit, config, reference.config is None, reference.asked, inside)
    if _knows(_read(path, reference.repo_id), revision, build):
        return
    try:
        with disk_errors(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with locked(f"{path}.lock"):
            revisions, builds = _read(path, reference.repo_id)
            if not is_commit(revision):
                revisions = {**revisions, revision: commit}
            others = [each for each in builds if _key(each) != _key(build)]
            builds = [*others[-_MOST_BUILDS + 1 :], build]
            write_atomically(path, _text(reference.repo_id, revisions, builds).encode("utf-8", "surrogatepass"))
    except DatasetDiskError as error:
        logger.info("The build of %s is not recorded: %s", reference.repo_id, error)


def recall(root: str, reference: HubReference) -> list[HubBuild]:
    """Return the builds for a request at the last known commit of its revision, the latest first.

    Args:
        root: the cache.
        reference: the request.
    """
    if is_url(root):
        return []
    revisions, builds = _read(_file(root, reference.repo_id), reference.repo_id)
    revision = reference.revision or DEFAULT_REVISION
    commit = revision if is_commit(revision) else revisions.get(revision)
    return [build for build in reversed(builds) if build.commit == commit and _fits(build, reference)]


def is_known(root: str, repo_id: str) -> bool:
    """Return True if the cache has a build of a repository."""
    return not is_url(root) and os.path.exists(_file(root, repo_id))


def _file(root: str, repo_id: str) -> str:
    return os.path.join(root, FOLDER, repo_id.replace("/", "--") + ".json")  # a character that ids cannot contain


def _fits(build: HubBuild, reference: HubReference) -> bool:
    wanted = build.is_default if reference.config is None else build.config == reference.config
    return wanted and build.asked == reference.asked


def _knows(found: tuple[Mapping[str, str], list[HubBuild]], revision: str, build: HubBuild) -> bool:
    revisions, builds = found
    return (is_commit(revision) or revisions.get(revision) == build.commit) and build in builds


def _key(build: HubBuild) -> tuple[str, str, bool, str]:
    return build.commit, build.config, build.is_default, build.asked


def _text(repo_id: str, revisions: Mapping[str, str], builds: list[HubBuild]) -> str:
    listed = [[each.commit, each.config, each.is_default, each.asked, each.place] for each in builds]
    return json.dumps({"form": FORM, "repo_id": repo_id, "revisions": dict(revisions), "builds": listed}, ensure_ascii=False)


def _read(path: str, repo_id: str) -> tuple[dict[str, str], list[HubBuild]]:
    """Return the record of a repository; nothing if the file is missing, damaged, of a newer version, or names
    another repository with the same file name: then the Hub is asked."""
    try:
        with open(path, "rb") as file:
            form: Any = json.loads(file.read(_MOST_BYTES).decode("utf-8", "surrogatepass"))
        if form["form"] > FORM or form["repo_id"] != repo_id:
            return {}, []
        revisions = {str(name): str(commit) for name, commit in form["revisions"].items()}
        builds = [
            HubBuild(str(commit), str(config), default is True, str(asked), str(place))
            for commit, config, default, asked, place in form["builds"]
        ]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}, []
    return revisions, [each for each in builds if _is_below(each.place)]


def _is_below(place: str) -> bool:
    try:
        os.fsencode(place)  # no file can have a name that is not text
    except UnicodeEncodeError:
        return False
    is_named = os.path.normpath(place) != os.curdir and "\0" not in place
    return is_named and os.pardir not in place.split(os.sep) and not os.path.isabs(place)


def prepare(builder: Builder, options: BuildOptions) -> Manifest:
    """Return the manifest of the dataset, built and checked as far as requested.

    Raises:
        DatasetsCoreError: a failure, as a subclass.
    """
    forced = options.mode is not DownloadMode.REUSE_DATASET_IF_EXISTS or options.registers_checksums
    if not forced and (found := _reusable(builder, options)) is not None:
        return _bumped(builder, options, found)
    with locked_and_swept(lock_path(options.output_dir)):  # an empty version folder would look like a dataset
        if not forced and (found := _reusable(builder, options, is_locked=True)) is not None:
            return _bumped(builder, options, found)  # built by another process while this one waited
        from datasets_core.building.write.build import Build  # 20 ms that an existing dataset does not need

        try:
            return Build(builder, options).run()
        except DatasetGenerationError as error:
            put_users_frames_first(error)
            raise


def _bumped(builder: Builder, options: BuildOptions, found: Manifest) -> Manifest:
    """Return the manifest of an existing dataset, with its version compared if requested."""
    logger.info("Found cached dataset %s (%s)", builder.label, options.output_dir)
    if options.checks_version:
        from datasets_core.building.folders import check_bump  # the comparison is not needed for reading

        check_bump(builder, options.output_dir, options.output_dir, found, options.storage_options)
    return found


# -- existing datasets -------------------------------------------------------------------------------------------------


def _reusable(builder: Builder, options: BuildOptions, *, is_locked: bool = False) -> Manifest | None:
    try:
        manifest = read_manifest(options.output_dir, options.storage_options)
    except ManifestError as error:
        logger.warning("Building %s again: %s", builder.label, error)
        return None
    if manifest is None or manifest.file_format != options.file_format or not is_wanted(manifest, builder, options):
        return None
    if manifest.identity not in ("", dataset_identity(builder)):
        if is_locked:  # checked for the second and last time
            logger.warning(
                "%s has another dataset, %s. Building %s there.", options.output_dir, manifest.identity, builder.label
            )
        return None
    if manifest.denied and not builder.is_confined:
        logger.info("Rebuilding %s: the sandbox denied its build to %s.", builder.label, "; ".join(manifest.denied))
        return None
    is_hashed = options.verification is VerificationMode.ALL_CHECKS
    changed = stale_source(manifest, builder.config.data_files, hashed=is_hashed)
    if changed is not None:
        logger.info("Rebuilding %s: %s has changed.", builder.label, changed)
        return None
    wanted = options.verification
    try:
        if has_damage(options.output_dir):
            if not is_locked:
                return None
            if _damaged(options.output_dir, manifest, options.storage_options):
                raise DamagedShardError(options.output_dir, "a damaged shard was found when it was read")
            clear_damage(options.output_dir)
        check_shards(located(options.output_dir), manifest.shards, manifest.file_format, options.storage_options)
        if wanted is VerificationMode.ALL_CHECKS:
            with progress(f"Verifying {builder.label}", total=manifest.info.dataset_size, unit="B") as bar:
                check_hashes(options.output_dir, manifest, bar.update, options.storage_options)
    except DamagedShardError as error:
        if not is_locked:
            return None
        is_repaired = _repaired(builder, options, manifest, error)
        clear_damage(options.output_dir)
        if not is_repaired:
            return None
    known = _mode(manifest.verification)
    is_unchecked = known is VerificationMode.NO_CHECKS and wanted is not VerificationMode.NO_CHECKS
    if is_unchecked and builder.yields == "rows":
        logger.info("Rebuilding %s: the uniqueness of its keys was not checked.", builder.label)
        return None
    is_checked = STRENGTH[wanted] <= STRENGTH[known]
    try:
        if has_register(builder, options):
            from datasets_core.building.options import Register  # takes 2 ms; datasets without checksums do not need it

            Register.of(builder, options).check(manifest.info.download_checksums)
        check_manifest(builder, manifest, manifest.info.download_checksums, wanted)
    except (ManifestError, MissingChecksumError):
        raise
    except VerificationError as error:
        if not is_checked:
            raise
        logger.warning("Rebuilding %s, since its record has changed: %s", builder.label, error)
        return None
    if is_checked:
        return manifest
    verified = dataclasses.replace(manifest, verification=str(wanted.value))
    if not is_url(options.output_dir):
        _record_outcome(options.output_dir, manifest, verified, is_locked=is_locked)
    return verified


# -- damaged shards ----------------------------------------------------------------------------------------------------


def repair(builder: Builder, options: BuildOptions) -> list[str]:
    """Compare every shard of a finished dataset with its record, and generate the damaged ones again; return their paths.

    A new shard must have the recorded bytes; otherwise the dataset is not changed.

    Args:
        builder: the builder of the dataset.
        options: where the dataset is, and how it was built.

    Raises:
        DatasetNotFoundError: nothing is built from these sources.
        DamagedShardError: a source no longer exists or has changed, or gave other bytes; the error names shard, rows and
            source.
        ManifestError: the manifest is damaged.
    """
    with locked_and_swept(lock_path(options.output_dir)):
        manifest = read_manifest(options.output_dir, options.storage_options)
        if manifest is None:
            raise DatasetNotFoundError(
                f"There is no build of {builder.label} from its present sources ({options.output_dir} has none). If it was "
                "built, a source has changed since. Build it: datasets-core build …"
            )
        damaged = _damaged(options.output_dir, manifest, options.storage_options)
        if not damaged:
            return []
        shard, path = damaged[0], join(located(options.output_dir), damaged[0].name)
        reason = f"the shard is damaged ({shard.rows:,} rows of split {shard.split!r})"
        rebuild = "To build the whole dataset again from the present sources, pass download_mode='force_redownload'"
        if manifest.identity not in ("", dataset_identity(builder)):
            raise DamagedShardError(path, f"{reason}, and the dataset was built by other code or sources", advice=rebuild)
        changed = stale_source(manifest, builder.config.data_files, hashed=True)
        if changed is not None:
            raise DamagedShardError(path, f"{reason}, and its source {changed} has changed since the build", advice=rebuild)
        try:
            why_not = _made_again(builder, options, manifest, damaged)
        except DatasetsCoreError as error:
            reason = f"{reason}, and its source cannot be read: {str(error).rstrip('.')}"
            advice = "Restore the source and repair again, or restore the dataset from a copy"
            raise DamagedShardError(path, reason, advice=advice) from error
        if why_not:
            raise DamagedShardError(path, f"{reason}, and it cannot be replaced: {why_not}", advice=rebuild)
        clear_damage(options.output_dir)
        return [join(located(options.output_dir), shard.name) for shard in damaged]


def _repaired(builder: Builder, options: BuildOptions, manifest: Manifest, found: DamagedShardError) -> bool:
    """Return True if the damaged shards were replaced; False, with a warning, if the dataset must be built again."""
    try:
        damaged = _damaged(options.output_dir, manifest, options.storage_options)
        if damaged and not (why_not := _made_again(builder, options, manifest, damaged)):
            logger.warning("Built %s of %s again: %s", ", ".join(shard.name for shard in damaged), builder.label, found)
            return True
        if damaged:
            logger.warning("%s cannot be repaired: %s", builder.label, why_not)
    except DatasetsCoreError as error:
        logger.warning("%s cannot be repaired: %s", builder.label, error)
    logger.warning("Building %s again: %s", builder.label, found)
    return False


def _damaged(folder: str, manifest: Manifest, storage_options: dict[str, Any] | None) -> list[ShardRecord]:
    """Return the shards that differ from their records: all are hashed, since a faulty disk seldom damages only one."""
    wrong = {problem.path for problem in verify_folder(folder, storage_options=storage_options)}
    return [shard for shard in manifest.shards if join(located(folder), shard.name) in wrong]


def _made_again(builder: Builder, options: BuildOptions, manifest: Manifest, damaged: Sequence[ShardRecord]) -> str:
    """Generate shards again with the options of their build; return why that is not possible, or "" if it is done."""
    from datasets_core.building.write.build import Build, has_finished_jobs
    from datasets_core.building.write.jobs import LAYOUT_SETTINGS

    if is_url(options.output_dir):
        return "the dataset is at a URL, where single shards are not replaced"
    if any(has_finished_jobs(os.path.join(each.path, JOURNAL_NAME)) for each in staging_folders(options.output_dir)):
        return "an interrupted build of the dataset is there, which the next build continues"
    if not all(shard.sha256 for shard in damaged):
        return "their checksums were not recorded"
    layout = manifest.built_with
    options = options._replace(
        file_format=manifest.file_format, disable_shuffling=manifest.disable_shuffling, max_rows=manifest.max_rows
    )
    if layout:  # which earlier versions did not record
        options = options._replace(max_shard_bytes=layout.get("max_shard_bytes"), num_shards=layout.get("num_shards"))
        options = options._replace(num_proc=layout.get("num_proc", options.num_proc))
        builder.writer_batch_size = layout.get("writer_batch_size")
    with using(**{name: layout.get(name) for name in LAYOUT_SETTINGS} if layout else {}):
        is_made = Build(builder, options).repair(manifest, damaged)
    return "" if is_made else "its present sources, or this version of the library, give other bytes than the recorded ones"


def _mode(name: str) -> VerificationMode:
    return VerificationMode(name) if name in {mode.value for mode in VerificationMode} else VerificationMode.NO_CHECKS


def _record_outcome(folder: str, before: Manifest, verified: Manifest, *, is_locked: bool) -> None:
    """Record that the dataset was verified, unless the cache is read-only."""
    try:
        with contextlib.nullcontext() if is_locked else locked(lock_path(folder)):
            if read_manifest(folder) == before:
                for name, content in manifest_files(verified).items():
                    write_atomically(os.path.join(folder, name), content)
    except DatasetDiskError as error:
        logger.info("The result of the verification is not recorded: %s", error)
