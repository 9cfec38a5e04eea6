"""The CRCs of many frames, compared at once: that of all their bytes with the one that follows from what stands in them.

A CRC is linear over GF(2): that of two pieces one after the other follows from those of both and the length of the second
(`crc32_combine` of zlib computes it so).  The pieces here are the payloads, whose CRCs the file claims, and the 16 bytes
between two of them.  They are joined pair by pair, all pairs at a time, and one pass in C over the whole block tells whether
the claims are true.  One wrong record is always found, as moving a CRC on is invertible; several are missed as rarely as one is
by its own CRC.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from datasets_core.records.crc32c import crc32c, following, is_in_c, moved, unmasked
from datasets_core.records.framing import FRAME_BYTES
from datasets_core.records.record_block import Ints

Words = npt.NDArray[np.uint32]

_LEAST = 256  # frames; fewer are compared one by one
_MOST_BYTES = 1 << 10  # of a payload on the average: of longer ones the calls no longer count
_ONES = np.uint32(0xFFFFFFFF)


def is_worth_while(starts: Ints, stops: Ints) -> bool:
    """Whether there are so many frames, and so short ones, that comparing them at once is faster."""
    return is_in_c() and len(starts) >= _LEAST and int(stops[-1] - starts[0]) <= _MOST_BYTES * len(starts)


def all_true(data: bytes, starts: Ints, stops: Ints, claimed: Words) -> bool:
    """Whether the payloads of frames that follow one another have the CRCs that are claimed.

    Args:
        data: the bytes.
        starts, stops: where the payloads begin and end.
        claimed: their masked CRCs, as they stand in the file.

    >>> from datasets_core.records.framing import frame
    >>> data = frame(b"one") + frame(b"four")
    >>> starts, stops = np.array([12, 31]), np.array([15, 35])
    >>> claimed = np.array([int.from_bytes(data[stop : stop + 4], "little") for stop in (15, 35)], np.uint32)
    >>> all_true(data, starts, stops, claimed), all_true(data.replace(b"one", b"two"), starts, stops, claimed)
    (True, False)
    """
    lengths = stops - starts
    crcs = unmasked(claimed)
    if len(crcs) > 1:
        between = np.ndarray((len(data) - FRAME_BYTES + 1,), np.dtype((np.void, FRAME_BYTES)), data, 0, (1,))
        words = between[stops[:-1]].view("<u4").reshape(-1, 4)
        state = following(words[:, 0] ^ _ONES, words[:, 1])
        gaps = following(state ^ words[:, 2], words[:, 3]) ^ _ONES
        crcs[:-1] = moved(crcs[:-1], np.full(len(gaps), FRAME_BYTES, np.int64)) ^ gaps
        lengths[:-1] += FRAME_BYTES
    return _joined(crcs, lengths) == crc32c(data[starts[0] : stops[-1]])


def _joined(crcs: Words, lengths: Ints) -> int:
    """The CRC of pieces one after the other."""
    while len(crcs) > 1:
        if len(crcs) % 2:  # no bytes before the first change nothing
            crcs, lengths = np.append(np.zeros(1, np.uint32), crcs), np.append(np.zeros(1, np.int64), lengths)
        crcs = moved(crcs[0::2], lengths[1::2]) ^ crcs[1::2]
        lengths = lengths[0::2] + lengths[1::2]
    return int(crcs[0])
