"""How many shards a split is written in, and at which rows they end."""

from __future__ import annotations

from datasets_core.errors import ConfigurationError

ROW_BYTES = 16
"""What a row counts beside its values, as records in a file have lengths and checksums."""

_LEAST_BYTES = 64 << 20
_MOST_BYTES = 1 << 30
_MANY = 1024


def number_of_shards(
    num_bytes: int,
    num_rows: int,
    *,
    num_shards: int | None = None,
    max_shard_bytes: int | None = None,
    is_precise: bool = True,
) -> int:
    """The number of shards of a split.

    Without a wish: 1,024 where shards then hold 64 MiB to 1 GiB, a multiple of it for more than 1 TiB, and else the largest
    power of two below it that keeps to these sizes; one shard for what is small.

    Args:
        num_bytes: of all values; each row counts 16 bytes more.
        num_rows: how many rows there are: no shard is empty.
        num_shards: the wish of the user; None or 0 is none.
        max_shard_bytes: so many bytes at most, on the average.
        is_precise: the size is known exactly; False leaves a tenth of 1 GiB free.

    Raises:
        ConfigurationError: a number of shards that is negative, or larger than that of the rows.

    >>> number_of_shards(10 << 30, 100_000), number_of_shards(1000, 10, max_shard_bytes=200)
    (128, 6)
    """
    if num_shards:
        if not 0 < num_shards <= num_rows:
            raise ConfigurationError(
                f"num_shards is {num_shards:,} for {num_rows:,} rows. Give a number between 1 and that of the rows."
            )
        return num_shards
    total = num_bytes + ROW_BYTES * num_rows
    if max_shard_bytes is not None:
        return max(1, min(-(-total // max_shard_bytes), num_rows))
    most = total // _LEAST_BYTES
    least = total // (_MOST_BYTES if is_precise else int(_MOST_BYTES * 0.9))
    if least <= _MANY <= most and num_rows >= _MANY:
        return _MANY
    if least > _MANY:
        multiple = 2
        while _MANY * multiple < least:
            multiple += 1
        return _MANY * multiple
    for power in range(9, 0, -1):
        if least <= 1 << power <= most and 1 << power <= num_rows:
            return 1 << power
    return 1


def shard_boundaries(num_rows: int, num_shards: int) -> list[int]:
    """The rows at which the shards end: the i-th at `round(num_rows * i / num_shards)`, halves to even.

    Raises:
        ConfigurationError: there are no rows, or fewer than shards.

    >>> shard_boundaries(10, 4)
    [2, 5, 8, 10]
    """
    if not 0 < num_shards <= num_rows:
        raise ConfigurationError(f"{num_rows:,} rows cannot fill {num_shards:,} shards. Give at least one row for each shard.")
    return [_rounded(num_rows * index, num_shards) for index in range(1, num_shards + 1)]


def _rounded(numerator: int, denominator: int) -> int:
    """`round(numerator / denominator)`, also for numbers that a float does not hold."""
    whole, rest = divmod(numerator, denominator)
    return whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1))
