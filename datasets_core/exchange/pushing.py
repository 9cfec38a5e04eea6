"""Datasets pushed to the Hub, as Parquet files that any tool of the Hub reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from datasets_core.publish.push_target import PushTarget, target_of
from datasets_core.publish.same_features import same_features
from datasets_core.rows.arguments import parse_size
from datasets_core.rows.tabled import Tabled

if TYPE_CHECKING:
    from datasets_core.fetch.hub import CommitInfo


class Pushing(Tabled):
    """A dataset and the repository that it is pushed to."""

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
            max_shard_size: bytes of a file in memory, about, such as "1GB"; None: the setting `max_shard_bytes`, 500 MB.
            num_shards: number of files.
            embed_external_files: put the files that images and the like name by path into the rows.
            num_proc: processes that write files; as many files at least.

        Returns:
            What the commit is, as `huggingface_hub.CommitInfo`.

        Raises:
            ConfigurationError: arguments that mean nothing, or features other than those of the other splits in the repository.
            ManifestError: the card of the repository is broken.
            MediaNotFoundError, UntrustedPathError: a file that a row names cannot be embedded.
            PushError, HubError: the Hub refuses.
            OfflineError: the Hub cannot be reached, or offline mode is on.
        """
        target = target_of(locals())
        name = str(self.split or "train") if split is None else str(split)
        files = {name: num_shards}
        return push_datasets({name: self}, target, max_shard_size, files, embeds=embed_external_files, num_proc=num_proc)


def push_datasets(
    datasets: Mapping[str, Tabled],
    target: Callable[..., PushTarget],
    max_shard_size: int | str | None,
    num_shards: Mapping[str, Any],
    *,
    embeds: bool,
    num_proc: int | None,
) -> CommitInfo:
    """Push datasets as splits of one config; see `Dataset.push_to_hub`.

    Args:
        datasets: by split.
        target: makes the target of the splits that it is told.
        max_shard_size: bytes of a file.
        num_shards: number of files of each split; None leaves it to the sizes.
        embeds: whether files that media name go into the rows.
        num_proc: processes that write.
    """
    from datasets_core.exchange.pushed_rows import PushedRows, shards_of  # 15 ms, with pyarrow.parquet
    from datasets_core.publish.dataset_card import card_writer
    from datasets_core.publish.push import push
    from datasets_core.publish.shard_limits import shard_limits

    place = target(splits=[*datasets])
    size = parse_size(max_shard_size)
    limits = {name: shard_limits(size, num_shards.get(name), num_proc, split=name) for name in datasets}
    empty = [name for name, dataset in datasets.items() if not dataset.num_rows]
    features = same_features({name: dataset.features for name, dataset in datasets.items()}, empty)
    rows = {name: PushedRows.of(dataset, name, embeds=embeds) for name, dataset in datasets.items()}
    rows |= {name: replace(rows[name], features=features) for name in empty}
    shards = {name: shards_of(each, limits[name]) for name, each in rows.items()}
    return push(place, shards, card_writer(place, features))
