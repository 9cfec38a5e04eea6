"""See that a dataset stands: take the one that is there, or have it built.

A finished dataset is taken as it is, without a lock, once its manifest, its shards and its verification are found good enough.
Else one process builds, under the lock, and those that waited for it look again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os

from datasets_core.building import checks
from datasets_core.building.hooks import Builder
from datasets_core.building.options import BuildOptions
from datasets_core.building.registration import Register
from datasets_core.building.sources import dataset_identity, stale_source
from datasets_core.building.write_order import is_wanted
from datasets_core.errors import (
    DamagedShardError,
    DatasetDiskError,
    ManifestError,
    MissingChecksumError,
    VerificationError,
)
from datasets_core.fetch.checksum import VerificationMode
from datasets_core.fetch.download_config import DownloadMode
from datasets_core.files import is_url, locked, locked_and_swept, write_atomically
from datasets_core.progress import progress
from datasets_core.store.layout import MANIFEST_NAME, located, lock_path
from datasets_core.store.manifest import Manifest, manifest_bytes, read_manifest
from datasets_core.store.source import check_shards

logger = logging.getLogger(__name__)


def prepare(builder: Builder, options: BuildOptions) -> Manifest:
    """See that the dataset stands, built and checked as far as was asked for.

    Raises:
        DatasetsCoreError: of the kind that says what is wrong.
    """
    forced = options.mode is not DownloadMode.REUSE_DATASET_IF_EXISTS or options.registers_checksums
    if not forced and (found := _reusable(builder, options)) is not None:
        return _bumped(builder, options, found)
    with locked_and_swept(lock_path(options.output_dir)):  # an empty folder of a version would promise data
        if not forced and (found := _reusable(builder, options, is_locked=True)) is not None:
            return _bumped(builder, options, found)  # another process built it while this one waited
        from datasets_core.building.build import build  # 20 ms that a dataset which stands does without

        return build(builder, options)


def _bumped(builder: Builder, options: BuildOptions, found: Manifest) -> Manifest:
    """What stands already, with a version that says what has changed, if that is asked for."""
    if options.checks_version:
        from datasets_core.building.bump import check_bump  # comparing is what reading does without

        check_bump(builder, options.output_dir, options.output_dir, found, options.storage_options)
    return found


# -- what stands already -----------------------------------------------------------------------------------------------


def _reusable(builder: Builder, options: BuildOptions, *, is_locked: bool = False) -> Manifest | None:
    try:
        manifest = read_manifest(options.output_dir, options.storage_options)
    except ManifestError as error:
        logger.warning("Building %s again: %s", builder.label, error)
        return None
    if manifest is None or manifest.file_format != options.file_format or not is_wanted(manifest, builder, options):
        return None
    if manifest.identity not in ("", dataset_identity(builder)):
        if is_locked:  # that is, for the second and last time
            logger.warning(
                "%s held another dataset, %s. Building %s there.", options.output_dir, manifest.identity, builder.label
            )
        return None
    if manifest.denied and not builder.is_confined:
        logger.info("Building %s again: it was built confined, and denied to %s.", builder.label, "; ".join(manifest.denied))
        return None
    is_hashed = options.verification is VerificationMode.ALL_CHECKS
    changed = stale_source(manifest, builder.config.data_files, hashed=is_hashed)
    if changed is not None:
        logger.info("Building %s again: %s has changed.", builder.label, changed)
        return None
    wanted = options.verification
    try:
        check_shards(located(options.output_dir), manifest.shards, manifest.file_format, options.storage_options)
        if wanted is VerificationMode.ALL_CHECKS:
            with progress(f"Verifying {builder.label}", total=manifest.info.dataset_size, unit="B") as bar:
                checks.check_shards(options.output_dir, manifest, bar.update, options.storage_options)
    except DamagedShardError as error:
        logger.warning("Building %s again: %s", builder.label, error)
        return None
    known = _mode(manifest.verification)
    is_unchecked = known is VerificationMode.NO_CHECKS and wanted is not VerificationMode.NO_CHECKS
    if is_unchecked and builder.yields == "rows":
        logger.info("Building %s again: whether its keys are unique was not looked at, and is not stored.", builder.label)
        return None
    is_checked = checks.STRENGTH[wanted] <= checks.STRENGTH[known]
    try:
        Register.of(builder, options).check(manifest.info.download_checksums)
        checks.check_manifest(builder, manifest, manifest.info.download_checksums, wanted)
    except (ManifestError, MissingChecksumError):
        raise
    except VerificationError as error:
        if not is_checked:
            raise
        logger.warning("Building %s again, since the record is another one now: %s", builder.label, error)
        return None
    if is_checked:
        return manifest
    verified = dataclasses.replace(manifest, verification=str(wanted.value))
    if not is_url(options.output_dir):
        _record_outcome(options.output_dir, manifest, verified, is_locked=is_locked)
    return verified


def _mode(name: str) -> VerificationMode:
    return VerificationMode(name) if name in {mode.value for mode in VerificationMode} else VerificationMode.NO_CHECKS


def _record_outcome(folder: str, before: Manifest, verified: Manifest, *, is_locked: bool) -> None:
    """Keep it that the dataset was verified; a read-only cache stays as it is."""
    try:
        with contextlib.nullcontext() if is_locked else locked(lock_path(folder)):
            if read_manifest(folder) == before:
                write_atomically(os.path.join(folder, MANIFEST_NAME), manifest_bytes(verified))
    except DatasetDiskError as error:
        logger.info("The outcome of the verification is not kept: %s", error)
