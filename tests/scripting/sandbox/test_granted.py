"""What a confined script may be given."""

import os
import pathlib
import socket
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ConfinementUnavailableError, DeniedAccessError
from datasets_core.scripting.sandbox.grants import Granted, check_folder, is_remote

ADDRESSES = {
    "public.test": "93.184.216.34",
    "private.test": "10.0.0.7",
    "link.test": "169.254.169.254",
    "mapped.test": "::ffff:169.254.169.254",
    "secret.test": "fd00:ec2::254",
    "any.test": "0.0.0.0",
}


@pytest.fixture
def granted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Granted:
    def looked_up(host: str, port: int, **options: Any) -> list[Any]:
        if host not in ADDRESSES:
            raise socket.gaierror("unknown")
        return [(0, 0, 0, "", (ADDRESSES[host], port))]

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    own = tmp_path / "own"
    own.mkdir()
    return Granted("reviews.py", [str(own)], mark=str(tmp_path / "home" / "private"), holds_user_data=False)


def test_paths_below_the_roots_are_given(granted: Granted, tmp_path: Path) -> None:
    (tmp_path / "own" / "a.txt").write_text("a")
    assert granted.path(str(tmp_path / "own" / "a.txt")) == os.path.realpath(tmp_path / "own" / "a.txt")


def test_paths_elsewhere_are_not(granted: Granted, tmp_path: Path) -> None:
    (tmp_path / "own" / "link").symlink_to("/etc")
    (tmp_path / "owned").write_text("")
    for path in ("/etc/passwd", f"{tmp_path}/own/../owned", f"{tmp_path}/own/link/passwd", str(tmp_path / "owned")):
        with pytest.raises(DeniedAccessError, match=r"reviews\.py tried to read"):
            granted.path(path)


@pytest.mark.parametrize(
    "url", ["s3://bucket/a", "hf://x/y", "zip://a::http://public.test/b", "http://", "gopher://public.test"]
)
def test_only_http_is_fetched(granted: Granted, url: str) -> None:
    with pytest.raises(DeniedAccessError, match=r"not an http\(s\) URL"):
        granted.urls([url])


@pytest.mark.parametrize("host", ["link.test", "mapped.test", "secret.test", "any.test"])
def test_addresses_of_the_own_link_are_never_fetched(granted: Granted, host: str) -> None:
    for ask in (lambda: granted.urls([f"http://{host}/latest"]), lambda: granted.addresses(f"http://{host}/latest")):
        with pytest.raises(DeniedAccessError, match="own link"):
            ask()


def test_after_a_private_file_nothing_public_is_fetched(granted: Granted, tmp_path: Path) -> None:
    granted.urls(["https://public.test/a", "http://private.test/b"])
    granted.urls(["http://private.test/c"])
    with pytest.raises(DeniedAccessError, match="after it was given files that are not public"):
        granted.urls(["https://public.test/?secret"])
    again = Granted("reviews.py", [], mark=str(tmp_path / "home" / "private"), holds_user_data=False)
    with pytest.raises(DeniedAccessError):
        again.urls(["https://public.test/?secret"])


def test_a_redirect_to_a_private_address_counts(granted: Granted) -> None:
    assert granted.addresses("https://public.test/a") == ["93.184.216.34"]
    assert granted.addresses("http://private.test/a") == ["10.0.0.7"]
    with pytest.raises(DeniedAccessError):
        granted.urls(["https://public.test/b"])


def test_a_name_without_an_address_fails_in_the_download(granted: Granted) -> None:
    granted.urls(["http://unknown.test/"])
    assert granted.addresses("http://unknown.test/") == []


def test_no_url_is_long(granted: Granted) -> None:
    with pytest.raises(DeniedAccessError, match="characters"):
        granted.urls(["http://public.test/" + "a" * 10_000])


@pytest.mark.parametrize("folder", ["/", "/home", str(pathlib.Path.home())])
def test_a_folder_that_holds_much_else_is_not_given(folder: str) -> None:
    with pytest.raises(ConfinementUnavailableError, match=r"may read all of it\. Put the files into a folder of their own"):
        check_folder(folder, "The folder of the script")


def test_a_folder_of_its_own_is_given(tmp_path: Path) -> None:
    check_folder(str(tmp_path), "The folder of the script")


def test_what_is_a_url() -> None:
    assert [is_remote(name) for name in ("http://a/b", "file:///a", "/a", "zip://a::b")] == [True, False, False, True]


def test_an_address_that_is_not_public_is_told_of_once(granted: Granted, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        granted.urls(["http://private.test/a"])
    granted.addresses("http://private.test/b")
    assert [record.getMessage() for record in caplog.records] == [
        "reviews.py asks this machine to fetch from http://private.test, an address that is not public."
    ]


def test_a_users_name_goes_to_no_server(granted: Granted) -> None:
    with pytest.raises(DeniedAccessError, match="holds a user's name"):
        granted.urls(["http://me:secret@public.test/a"])


def test_its_own_repository_is_public_too(granted: Granted) -> None:
    granted.own_url("https://public.test/a")
    granted.own_url("https://private.test/a")
    assert not granted.has_private  # who wrote the script wrote those files
    granted.urls(["http://private.test/b"])
    granted.own_url("https://private.test/a")
    with pytest.raises(DeniedAccessError, match="after it was given files that are not public"):
        granted.own_url("https://public.test/a")
