"""Any bytes of any file: `ranges_of` finds out how."""

from datasets_core.fetch.ranges import ranges_of


def test_paths_are_of_this_disk(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"abcdefgh")
    for given in (path, str(path), f"file://{path}"):
        assert ranges_of(given).read([(1, 3)]) == [b"bc"]
        assert ranges_of(given).name == str(path)
