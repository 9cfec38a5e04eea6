"""Some parts of a file are at hand, others are fetched by stretches."""

from datasets_core.builders._blocks import Sparse

from datasets_core.fetch.ranges.file import FileVersion

DATA = bytes(range(256)) * 16


class Counted:
    name = "counted"

    def __init__(self):
        self.asked = []

    def version(self):
        return FileVersion(len(DATA), "")

    def read(self, ranges):
        self.asked.extend(ranges)
        return [DATA[start:stop] for start, stop in ranges]


def test_what_is_at_hand_is_not_fetched():
    ranges = Counted()
    sparse = Sparse(ranges)
    with sparse.holding([(100, DATA[100:200])]):
        sparse.seek(120)
        assert bytes(sparse.read(30)) == DATA[120:150] and ranges.asked == []
        assert bytes(sparse.read(100)) == DATA[150:250] and ranges.asked == [(150, 250)]
    sparse.seek(120)
    assert bytes(sparse.read(1)) == DATA[120:121] and len(ranges.asked) == 2


def test_stretches_are_fetched_that_go_on():
    ranges = Counted()
    sparse = Sparse(ranges, 1000)
    found = b""
    while part := bytes(sparse.read(64)):
        found += part
    assert found == DATA and len(ranges.asked) <= 6
    assert sparse.seek(-4, 2) == len(DATA) - 4
    buffer = bytearray(10)
    assert sparse.readinto(buffer) == 4 and buffer[:4] == DATA[-4:]
