"""`DecodeMedia`: the last step of a stream that is read: its media are decoded, by threads, or where some may be damaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from datasets_core.engines.in_order import ahead_of
from datasets_core.engines.worker_pool import WorkerPool
from datasets_core.features.embed import has_media
from datasets_core.features.schema import Features
from datasets_core.stream.block import ArrowBlock, Block, DecodedBlock
from datasets_core.stream.changes import Decoding
from datasets_core.stream.error_policy import Guard, Ledger
from datasets_core.stream.node import Delivery, Node, Numbers
from datasets_core.stream.steps import ChangeColumns, PlainStep, Step, row_by_row


@dataclass(frozen=True, slots=True)
class Decoded:
    """Media decoded; a change of rows (see `RowChange`)."""

    pool: WorkerPool | None = None
    needs_numbers = False

    def changed(self, block: Block, numbers: Numbers) -> Block:
        """See `RowChange.changed`."""
        names = media_of(block)
        if not isinstance(block, ArrowBlock) or not names:
            return block
        reader = block.kinds.reader
        known = block.decoded if isinstance(block, DecodedBlock) else {}
        found = {name: reader.column_reader(name)(block.batch.column(name)) for name in names if name not in known}
        return DecodedBlock(block.batch, block.kinds, {**known, **found})


def media_of(block: Block) -> list[str]:
    """The columns of media that are to be decoded."""
    if not isinstance(block, ArrowBlock):
        return []
    known = block.kinds.kept.get("media")
    if known is None:
        features, decodes = block.kinds.features, block.kinds.reader.decodes
        known = block.kinds.kept["media"] = [name for name in features if name in decodes and has_media(features[name])]
    names: list[str] = known
    return names


def null_of_media(delivery: Delivery, row: int) -> Block:
    """The row that stands for one with media that cannot be decoded: these are None."""
    block = delivery.block.slice(row, row + 1)
    if not isinstance(block, ArrowBlock):
        return block
    decoded: dict[str, list[Any]] = {}
    for name in media_of(block):
        try:
            decoded[name] = block.kinds.reader.column_reader(name)(block.batch.column(name))
        except Exception:  # that is the one
            decoded[name] = [None]
    return DecodedBlock(block.batch, block.kinds, decoded)


@dataclass(frozen=True, slots=True)
class DecodeMedia(PlainStep):
    """The step.

    Attributes:
        pool: who decodes; None: whoever reads.
        errors: of the stream, for media that are damaged.
        lanes: how many such steps work side by side.
    """

    pool: WorkerPool | None = None
    errors: Ledger | None = None
    lanes: int = 1
    text = "decode"
    parts = ()
    is_row_by_row = True

    def on(self, node: Node, epoch: int, lanes: int = 1) -> Node:
        """See `Step.on`."""
        guard = Guard.of(self.errors, None, self.text, null_of_media)
        return row_by_row(node, Decoded(self.pool), guard, ahead_of(self.pool, max(lanes, self.lanes)))

    def reads(self) -> tuple[str, ...] | None:
        """See `Step.reads`."""
        return ()


def decoding_of(steps: Sequence[Step], features: Features | None, errors: Ledger | None) -> DecodeMedia | None:
    """The step that a stream with these steps needs behind them; None: media are decoded when rows are shown.

    Args:
        steps: of the stream.
        features: behind them; None: only the rows tell.
        errors: what is done about rows that fail.
    """
    changes = (step.change for step in reversed(steps) if isinstance(step, ChangeColumns))
    pool = next((change.pool for change in changes if isinstance(change, Decoding)), None)
    if pool is None and errors is None:
        return None
    if features is not None and not any(map(has_media, features.values())):
        return None
    return DecodeMedia(pool, errors)
