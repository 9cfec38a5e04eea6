"""What a confined script may be given."""

import contextlib
import os
import pathlib
import pickle
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets_core.errors import ConfinementUnavailableError, DataFilesNotFoundError, DeniedAccessError
from datasets_core.fetch.hub.client import Hub
from datasets_core.fetch.hub.repository import HubCache, HubCommit, HubFile
from datasets_core.scripting.sandbox.grants import Granted, OwnFiles, check_folder, is_remote, own_names, visible

ADDRESSES = {
    "public.test": "93.184.216.34",
    "private.test": "10.0.0.7",
    "second.test": "10.0.0.8",
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
        with pytest.raises(DeniedAccessError, match="link-local"):
            ask()


def test_after_a_private_file_nothing_public_is_fetched(granted: Granted, tmp_path: Path) -> None:
    granted.urls(["https://public.test/a", "http://private.test/b"])
    granted.given()
    granted.urls(["http://private.test/c"])
    with pytest.raises(DeniedAccessError, match="after it was given files that are not public"):
        granted.urls(["https://public.test/?secret"])
    again = Granted("reviews.py", [], mark=str(tmp_path / "home" / "private"), holds_user_data=False)
    with pytest.raises(DeniedAccessError):
        again.urls(["https://public.test/?secret"])


def test_a_redirect_to_a_private_address_counts(granted: Granted) -> None:
    assert granted.addresses("https://public.test/a") == ["93.184.216.34"]
    assert granted.addresses("http://private.test/a", "https://public.test/a") == ["10.0.0.7"]
    granted.given()
    with pytest.raises(DeniedAccessError):
        granted.urls(["https://public.test/b"])


SERVERS = {  # each its own: a host, and its other ports, and what is named by its address
    "public": "public.test",
    "other": "other.test:81",
    "private": "private.test",
    "port": "private.test:8081",
    "second": "second.test",
    "number": "10.0.0.9",
    "local": "127.0.0.1:8082",
}
STEPS = st.lists(
    st.tuples(st.sampled_from(["urls", "hop", "own", "given", "again", "copy", "fork"]), st.sampled_from(sorted(SERVERS))),
    max_size=14,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_once_something_private_is_given_nothing_goes_out_names_included(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str]]
) -> None:
    asked: list[str] = []
    where = {"public.test": "93.184.216.34", "other.test": "8.8.8.8", "private.test": "10.0.0.7", "second.test": "10.0.0.8"}

    def looked_up(host: str, port: int, **options: Any) -> list[Any]:
        asked.append(host)
        return [(0, 0, 0, "", (where.get(host, host), port))]

    mark = str(tmp_path_factory.mktemp("home") / "private")
    process = [os.getpid()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", looked_up)
        patch.setattr(os, "getpid", lambda: process[0])
        rules = Granted("reviews.py", [], mark=mark, holds_user_data=False)
        came, given_from = set[str](), set[str]()  # servers whose files come; those whose files it has, or others have
        for step, name in steps:
            asked.clear()
            url, is_private = f"http://{SERVERS[name]}/?secret", name not in ("public", "other")
            if step == "given":
                rules.given()
            elif step == "again":
                rules = Granted("reviews.py", [], mark=mark, holds_user_data=False)
            elif step == "copy":
                rules = pickle.loads(pickle.dumps(rules))
            elif step == "fork":
                process[0] += 1
            else:
                ask = {"urls": lambda url, to=rules: to.urls([url]), "hop": rules.addresses, "own": rules.own_url}[step]
                if given_from and given_from != {SERVERS[name]}:
                    with pytest.raises(DeniedAccessError):
                        ask(url)
                    assert asked == []  # its name was not told to anybody either
                else:
                    ask(url)
                    came |= {SERVERS[name]} if is_private and step != "own" and not given_from else set()
            given_from |= came if step in ("given", "again", "copy", "fork") else set()
            assert rules.has_private is bool(given_from)


def test_what_one_process_of_a_script_fetches_counts_for_all(granted: Granted, tmp_path: Path) -> None:
    other = Granted("reviews.py", [], mark=str(tmp_path / "home" / "private"), holds_user_data=False)
    granted.urls(["http://private.test/a"])  # its file may come at any time now
    with pytest.raises(DeniedAccessError, match="after it was given files that are not public"):
        other.urls(["https://public.test/?secret"])
    granted.urls(["https://public.test/b"])  # requested together


def test_files_of_two_private_servers_stay_apart(granted: Granted) -> None:
    granted.urls(["http://private.test/a", "http://second.test/b"])
    granted.given()
    for url in ("http://private.test/?b", "http://second.test/?a"):
        with pytest.raises(DeniedAccessError, match="after it was given files that are not public"):
            granted.urls([url])


def test_a_private_server_redirects_to_nothing_public(granted: Granted) -> None:
    granted.urls(["http://private.test/a"])
    with pytest.raises(DeniedAccessError, match=r"follow a redirect from .http://private\.test/a., which is not public"):
        granted.addresses("https://public.test/?secret", "http://private.test/a")


def test_a_private_name_that_becomes_public_is_not_followed(granted: Granted) -> None:
    granted.urls(["http://private.test/a"])
    granted.given()
    ADDRESSES["private.test"], before = "93.184.216.34", ADDRESSES["private.test"]
    try:
        with pytest.raises(DeniedAccessError, match="not public"):
            granted.addresses("http://private.test/?secret")
    finally:
        ADDRESSES["private.test"] = before


TREES = st.dictionaries(
    st.lists(st.sampled_from(["a", "b", ".git", ".env", "mine"]), min_size=1, max_size=4).map("/".join),
    st.just("x"),
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(TREES)
def test_hidden_files_of_a_folder_are_never_readable_and_all_others_are(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("script")
    for name in tree:
        with contextlib.suppress(OSError):  # a folder of that name is there, or a file in the way
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("x")
    (folder / "link").symlink_to("/etc")
    readable, listed = visible(str(folder), [str(folder / "mine")])
    rules = Granted("x.py", [str(folder)], mark="/nowhere/private", holds_user_data=False, without=[str(folder / "mine")])
    for path in (each for each in folder.rglob("*") if each.is_file() and "link" not in each.parts):
        parts = path.relative_to(folder).parts
        is_hidden = any(part.startswith(".") for part in parts) or parts[0] == "mine"
        assert any(str(path) == each or str(path).startswith(each + "/") for each in readable) is not is_hidden
        with pytest.raises(DeniedAccessError) if is_hidden else contextlib.nullcontext():
            rules.path(str(path))
    assert not any("link" in each for each in (*readable, *listed))


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
    granted.urls(["https://private.test/b"])
    granted.given()
    granted.own_url("https://private.test/a")
    with pytest.raises(DeniedAccessError, match="after it was given files that are not public"):
        granted.own_url("https://public.test/a")


# What a confined script may have of its repository, by whatever name.

SHA = "a" * 40


def listed(endpoint: str = "https://huggingface.co", revision: str = "main") -> OwnFiles:
    commit = HubCommit("org/name", SHA, revision, {"d/a b.txt": HubFile("d/a b.txt", 1, "b" * 40)})
    return OwnFiles(Hub(endpoint, HubCache("/hub"), token="hf_secret"), commit, "/files", script="name.py")


@pytest.mark.parametrize(
    "name",
    [
        "d/a b.txt",
        "./d//a b.txt",
        "hf://datasets/org/name/d/a b.txt",
        "hf://datasets/org/name@main/d/a b.txt",
        f"hf://datasets/org/name@{SHA}/d/a b.txt",
        "https://huggingface.co/datasets/org/name/resolve/main/d/a%20b.txt",
        "https://huggingface.co:443/datasets/org/name/resolve/main/d/a%20b.txt?download=true",
        f"https://HuggingFace.co/datasets/org/name/resolve/{SHA}/d%2Fa%20b.txt",
    ],
)
def test_its_own_files_have_many_names(name: str) -> None:
    assert listed().path_of(name) == "d/a b.txt"


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "~/x",
        "file:///etc/passwd",
        "https://example.org/datasets/org/name/resolve/main/d/a b.txt",
        "http://huggingface.co/datasets/org/name/resolve/main/d/a b.txt",
        "https://huggingface.co:444/datasets/org/name/resolve/main/d/a b.txt",
        "https://me:pw@huggingface.co/datasets/org/name/resolve/main/d/a b.txt",
        "https://huggingface.co/datasets/org/other/resolve/main/d/a b.txt",
        "https://huggingface.co/datasets/org/name/resolve/v2/d/a b.txt",
        "https://huggingface.co/datasets/org/name/resolve/main/",
        "https://huggingface.co/api/datasets/org/name",
        "https://huggingface.co/org/name/resolve/main/d/a b.txt",
        "zip://x::hf://datasets/org/name/d/a b.txt",
        "https://[bad/x",
    ],
)
def test_other_names_are_not_its_own(name: str) -> None:
    assert listed().path_of(name) is None
    assert own_names(listed(), [name, "d/x"]) == ["d/x"]
    assert own_names(None, ["d/x"]) == []


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "d/../../x",
        "hf://datasets/org/other/x",
        "hf://datasets/org/name@v2/x",
        f"hf://datasets/org/name@{'b' * 40}/x",
        f"hf://datasets/org/name@{SHA}/../x",
        "hf://datasets/x/y/z/../..",
        "hf://org/name/x",
        "hf://spaces/org/name/x",
        "HF://datasets/org/other/x",
        "https://huggingface.co/datasets/org/name/resolve/main/..%2F..%2Fx",
    ],
)
def test_names_of_others_are_refused(name: str) -> None:
    with pytest.raises(DeniedAccessError):
        listed().path_of(name)


def test_the_branch_that_the_user_asked_for_is_the_commit_and_main_is_not() -> None:
    own = listed(revision="v1/x")
    assert own.path_of("hf://datasets/org/name@v1%2Fx/d/a b.txt") == "d/a b.txt"
    with pytest.raises(DeniedAccessError):
        own.path_of("hf://datasets/org/name/d/a b.txt")


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.sampled_from(
            ["..", ".", "", "a", "%2e%2e", "%2F", "/", "\\", "hf:", "datasets", "org", "name", "@", SHA, "resolve", "main"]
        ),
        max_size=8,
    ),
    st.sampled_from(
        [
            "",
            "hf://datasets/org/name/",
            f"hf://datasets/org/name@{SHA}/",
            "https://huggingface.co/datasets/org/name/resolve/main/",
        ]
    ),
)
def test_no_name_leads_out_of_the_repository(parts: list[str], front: str) -> None:
    try:
        path = listed().path_of(front + "/".join(parts))
    except DeniedAccessError:
        return
    assert path is None or ".." not in path.split("/")
    assert path is None or not path.startswith("/")


def test_files_are_brought_together_where_the_script_may_read_them(hub: Any, tmp_path: Path) -> None:
    hub.repo("org/name", {"a.txt": "A", "d/b.txt": b"B" * 2000, "c.txt": ""}, private=True)
    found = Hub.of(hub.token)
    commit = found.commit("org/name")
    own = OwnFiles(found, commit, str(tmp_path / "files"), script="name.py")
    hub.forget()
    names = ["a.txt", f"hf://datasets/org/name@{commit.sha}/d/b.txt", "/etc/passwd", "c.txt"]
    places = own.bring(names)
    assert list(places) == [names[0], names[1], names[3]]
    assert [Path(place).read_bytes() for place in places.values()] == [b"A", b"B" * 2000, b""]
    assert all(place.startswith(str(tmp_path / "files")) for place in places.values())
    assert not any(os.path.islink(place) for place in places.values())
    count = len(hub.requests)
    assert own.bring(names) == places
    assert len(hub.requests) == count
    record = own.record(places["a.txt"], has_checksum=True)
    assert (record.num_bytes, record.checksum) == (1, "559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd")
    assert own.record(places["a.txt"], has_checksum=False).checksum is None
    own.bring(["a.txt"], force=True)
    own.bring(["a.txt"], force=True)  # once in a run
    assert len([request for request in hub.requests if request.name == "a.txt"]) == 2
    with pytest.raises(DataFilesNotFoundError, match=r"gone.txt is not a file of org/name at commit"):
        own.bring(["gone.txt"])


def test_large_files_come_as_they_are_read_and_others_are_brought(hub: Any, tmp_path: Path) -> None:
    hub.repo("org/name", {"a.txt": "A", "b.bin": b"B" * 3000, "c.bin": b"C"}, private=True)
    found = Hub.of(hub.token)
    commit = found.commit("org/name")
    own = OwnFiles(found, commit, str(tmp_path / "files"), script="name.py")
    assert own.urls_to_ask(["a.txt", "/etc/passwd"]) == [found.resolve_url("org/name", commit.sha, "a.txt")]
    place, data = own.opened("a.txt")
    with data:
        assert data.read() == b"A"
    assert place is not None
    assert place.startswith(str(tmp_path / "files"))
    assert own.urls_to_ask(["a.txt"]) == []
    place, data = own.opened("b.bin")
    with data:
        assert data.read(2) == b"BB"
    assert place is None
    assert not any(path.name == "b.bin" for path in tmp_path.rglob("*"))
    with pytest.raises(DataFilesNotFoundError):
        own.opened("gone.bin")
    copied = pickle.dumps(own)
    assert hub.token.encode() not in copied
    assert pickle.loads(copied).path_of("a.txt") == "a.txt"
