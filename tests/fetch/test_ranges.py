"""Any bytes of any file: `ranges_of` finds out how."""

from datasets_core.fetch.remote import RemoteFile
from datasets_core.fetch.streaming import StreamingDownloadManager, ranges_of


def test_paths_are_of_this_disk(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"abcdefgh")
    for given in (path, str(path), f"file://{path}"):
        assert ranges_of(given).read([(1, 3)]) == [b"bc"]
        assert ranges_of(given).name == str(path)


def test_urls_are_of_their_servers(range_server, tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(range(200)))
    url = f"{range_server.serve(tmp_path)}/a.bin"
    file = RemoteFile(url, StreamingDownloadManager()._access).ranges()
    assert [bytes(part) for part in file.read([(100, 110), (3, 5)])] == [bytes(range(100, 110)), bytes([3, 4])]
    assert file.name == url
