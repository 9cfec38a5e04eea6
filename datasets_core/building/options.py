"""How to build: the arguments of `download_and_prepare`, understood once and for all."""

from __future__ import annotations

import dataclasses
import operator
from typing import Any

from datasets_core.engines.deadline import Deadline
from datasets_core.engines.engine import Engine, get_engine
from datasets_core.errors import ConfigurationError
from datasets_core.fetch.checksum import VerificationMode
from datasets_core.fetch.download_config import DownloadConfig, DownloadMode
from datasets_core.rows.arguments import parse_size
from datasets_core.store.layout import EXTENSIONS

_OLD_OPTIONS = {"ignore_verifications", "try_from_hf_gcs", "use_auth_token", "beam_runner", "beam_options", "disable_tqdm"}


@dataclasses.dataclass(frozen=True, slots=True)
class BuildOptions:
    """How to build: the arguments of `download_and_prepare`, understood."""

    output_dir: str
    download_config: DownloadConfig | None
    mode: DownloadMode
    verification: VerificationMode
    dl_manager: Any
    base_path: str | None
    file_format: str
    max_shard_bytes: int | None
    num_proc: int | None
    storage_options: dict[str, Any] | None
    engine: Engine
    num_shards: int | None = None
    disable_shuffling: bool = False
    max_rows: int | None = None
    registers_checksums: bool = False
    demands_checksums: bool = False
    checks_version: bool = False
    timeout: Deadline | None = None

    @classmethod
    def of(
        cls,
        *,
        output_dir: str,
        download_config: DownloadConfig | None = None,
        download_mode: DownloadMode | str | None = None,
        verification_mode: VerificationMode | str | None = None,
        dl_manager: Any = None,
        base_path: str | None = None,
        file_format: str = "arrow",
        max_shard_size: int | str | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
        engine: str | Engine | None = None,
        num_shards: int | None = None,
        disable_shuffling: bool = False,
        max_examples_per_split: int | None = None,
        register_checksums: bool = False,
        force_checksums_validation: bool = False,
        check_version: bool = False,
        timeout: float | Deadline | None = None,
        **old_options: Any,
    ) -> BuildOptions:
        """The options that are meant.

        Raises:
            ConfigurationError: a mode, format, size, count or option that does not exist.
        """
        unknown = sorted(set(old_options) - _OLD_OPTIONS)
        if unknown:
            raise ConfigurationError(f"download_and_prepare() has no option {unknown[0]!r}. Leave it out.")
        if old_options.get("ignore_verifications"):
            verification_mode = VerificationMode.NO_CHECKS
        if file_format not in EXTENSIONS:
            raise ConfigurationError(
                f"{file_format!r} is no file format to build. Formats: {', '.join(map(repr, EXTENSIONS))}."
            )
        verification = VerificationMode(verification_mode or VerificationMode.BASIC_CHECKS)
        downloads = download_config or DownloadConfig()
        demands = bool(force_checksums_validation or downloads.force_checksums_validation)
        if demands and verification is VerificationMode.NO_CHECKS:
            raise ConfigurationError(
                "force_checksums_validation=True demands checks, and verification_mode='no_checks' makes none. Leave one out."
            )
        return cls(
            output_dir,
            download_config,
            DownloadMode(download_mode or DownloadMode.REUSE_DATASET_IF_EXISTS),
            verification,
            dl_manager,
            base_path,
            file_format,
            parse_size(max_shard_size),
            num_proc,
            storage_options,
            get_engine(engine, num_proc=num_proc),
            _count("num_shards", num_shards) or None,  # 0 is no wish, as elsewhere
            bool(disable_shuffling),
            _count("max_examples_per_split", max_examples_per_split),
            bool(register_checksums or downloads.register_checksums),
            demands,
            bool(check_version),
            Deadline.of(timeout),
        )


def _count(name: str, given: Any) -> int | None:
    if given is None:
        return None
    try:
        count = -1 if isinstance(given, bool) else operator.index(given)  # the integers of numpy too
    except TypeError:
        count = -1
    if count < 0:
        raise ConfigurationError(f"{name} is {given!r}. Give a whole number that is not negative, or leave it out.")
    return count
