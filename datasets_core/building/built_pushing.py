"""Datasets that were built, pushed to the Hub as they stand on the disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from datasets_core.building.built import Built

if TYPE_CHECKING:
    from datasets_core.dataset.group import DatasetDict
    from datasets_core.fetch.hub import CommitInfo


class BuiltPushing(Built):
    """A built dataset and the repository that it is pushed to."""

    def push_to_hub(
        self,
        repo_id: str,
        config_name: str | None = None,
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
        """Push all splits of the built dataset to a dataset repository of the Hub, by one commit.

        The rows are read from the files of the build as they are written; they are never in memory all at once.

        Args:
            repo_id: `org/name`, or `name` for one of the user's own.
            config_name: the config of the repository; None: that of the builder.
            num_shards: number of files of each split; splits without one get as many as `max_shard_size` asks for.

        Raises:
            DatasetNotFoundError: it is not built: `download_and_prepare` was not called.
            ConfigurationError, PushError, HubError: as for `DatasetDict.push_to_hub`, which tells of the other arguments too.
        """
        splits: DatasetDict = self.as_dataset(in_memory=False)
        return splits.push_to_hub(
            repo_id,
            config_name or self.config.name,
            set_default,
            data_dir,
            commit_message,
            commit_description,
            private,
            token,
            revision,
            create_pr,
            max_shard_size,
            num_shards,
            embed_external_files,
            num_proc,
        )
