"""Streams pushed to the Hub: written and uploaded file by file, while their rows come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from datasets_core.publish.push_target import PushTarget, target_of
from datasets_core.publish.same_features import same_features
from datasets_core.rows.arguments import parse_size
from datasets_core.stream.transforming import Transforming

if TYPE_CHECKING:
    from datasets_core.fetch.hub import CommitInfo


class StreamPushing(Transforming):
    """A stream and the repository that it is pushed to."""

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

        The rows are read once, from the beginning, written file by file and uploaded; neither memory nor disk has to hold them
        all.  What becomes of the repository, and the other arguments: see `Dataset.push_to_hub`.  Where the types of columns
        are not known, they are those of the first thousand rows, which are read for that before.

        Args:
            repo_id: `org/name`, or `name` for one of the user's own.
            max_shard_size: bytes of a file in memory: the next one is begun there.  None: a file for each shard of the stream,
                and more where one is larger than the setting `max_shard_bytes`.
            num_shards: number of files; where neither the number of rows is known nor that many shards, rows go to them in
                turn.
            num_proc: processes, each of which writes the files of one shard of the stream at a time.

        Raises:
            CellCastError: a value is of another type than those of the first rows; names split, row and column.
            ConfigurationError: the rows have no end, or as for `Dataset.push_to_hub`.
        """
        target = target_of(locals())
        name = str(self.split or "train") if split is None else str(split)
        files = {name: num_shards}
        return push_streams({name: self}, target, max_shard_size, files, embeds=embed_external_files, num_proc=num_proc)


def push_streams(
    streams: Mapping[str, Transforming],
    target: Callable[..., PushTarget],
    max_shard_size: int | str | None,
    num_shards: Mapping[str, Any],
    *,
    embeds: bool,
    num_proc: int | None,
) -> CommitInfo:
    """Push streams as splits of one config; see `IterableDataset.push_to_hub`.

    Args:
        streams: by split.
        target: makes the target of the splits that it is told.
        max_shard_size: bytes of a file.
        num_shards: number of files of each split; None leaves it to the stream.
        embeds: whether files that media name go into the rows.
        num_proc: processes that write.
    """
    from datasets_core.publish.dataset_card import card_writer  # 15 ms, with pyarrow.parquet
    from datasets_core.publish.push import push
    from datasets_core.publish.shard_limits import shard_limits
    from datasets_core.stream.stream_shards import StreamRows, shards_of_stream

    place = target(splits=[*streams])
    size = parse_size(max_shard_size)
    limits = {name: shard_limits(size, num_shards.get(name), num_proc, split=name) for name in streams}
    known = next((found for stream in streams.values() if (found := stream._plan.features) is not None), None)
    rows = {
        name: StreamRows.of(stream._plan, stream.epoch, name, embeds=embeds, features=known) for name, stream in streams.items()
    }
    features = same_features({name: each.features for name, each in rows.items()})
    shards = {name: shards_of_stream(each, limits[name]) for name, each in rows.items()}
    return push(place, shards, card_writer(place, features), is_stream=True)
