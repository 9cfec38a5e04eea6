"""What those who read by a transport know of its failures."""

from datasets_core.fetch.ranges.file import FileVersion, NoRangesError


def test_a_server_without_parts_tells_the_version_that_it_has():
    assert NoRangesError(FileVersion(5, '"a"')).version == FileVersion(5, '"a"')
    assert "no parts" in str(NoRangesError(None))
