"""The server answers who has its token, from its own page; media come in parts."""

import json
import socket
import urllib.parse
from collections.abc import Callable
from typing import Any

import pytest

import datasets_core
from datasets_core import Audio, Dataset, Features, Image, Pdf
from datasets_core.errors import ConfigurationError
from datasets_core.viewer.opening import open_rows
from datasets_core.viewer.server import Viewer

from .conftest import PDF, SVG, every_kind, huge_png, numbers, sound

Serve = Callable[..., Any]


def _media(column: str, row: int = 0, **more: str) -> str:
    asked = {"view": json.dumps({"split": "train"}), "column": column, "row": str(row), "path": "[]", **more}
    return f"/media?{urllib.parse.urlencode(asked)}"


def test_without_the_token_nothing_is_answered(serve: Serve) -> None:
    client = serve(numbers())
    for path in ("/", "/static/app.js", "/media", "/save", "/api/about"):
        assert client.get(path, authorization="Bearer wrong")[0] == 403
        assert client.get(f"{path}?token=wrong", authorization="Bearer ")[0] == 403
    assert client.get("/api/about", "POST", "{}", cookie=f"datasets_core_view_{client.viewer.port}=wrong")[0] == 403


def test_the_address_gives_a_cookie_for_the_same_site_alone(serve: Serve) -> None:
    client = serve(numbers())
    status, headers, _ = client.get(f"/?token={client.token}", authorization="Bearer ")
    assert status == 303 and headers["location"] == "/"
    assert "HttpOnly" in headers["set-cookie"] and "SameSite=Strict" in headers["set-cookie"]
    assert client.get("/", cookie=headers["set-cookie"].partition(";")[0])[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "localhost.evil.example:{port}", ""])
def test_another_host_name_is_refused(serve: Serve, host: str) -> None:
    client = serve(numbers())
    status, _, text = client.get("/", Host=host.format(port=client.viewer.port) or "nobody")
    assert status == 403 and b"host name" in text


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
    {"Origin": "https://127.0.0.1"},
])  # fmt: skip
def test_other_sites_are_refused(serve: Serve, headers: dict[str, str]) -> None:
    client = serve(numbers())
    for path in ("/api/about", "/media", "/save"):
        assert client.get(path, "POST" if "api" in path else "GET", "{}", content_type="application/json", **headers)[0] == 403


def test_own_page_is_answered_under_each_name_of_this_machine(serve: Serve) -> None:
    client = serve(numbers())
    for name in ("127.0.0.1", "localhost"):
        host = f"{name}:{client.viewer.port}"
        assert client.get("/", Host=host, Origin=f"http://{host}", Sec_Fetch_Site="same-origin")[0] == 200


def test_every_answer_forbids_scripts_of_others(serve: Serve) -> None:
    client = serve(every_kind())
    for path in ("/", "/static/app.js", "/nothing", _media("picture")):
        headers = client.get(path)[1]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2f..%2f__init__.py"])
def test_files_outside_the_page_are_not_served(serve: Serve, path: str) -> None:
    assert serve(numbers()).get(path)[0] == 404


def test_the_page_and_its_parts_are_served(serve: Serve) -> None:
    client = serve(numbers())
    for path, kind in (
        ("/", "text/html"),
        ("/static/app.js", "text/javascript"),
        ("/static/vendor/arrow.js", "text/javascript"),
    ):
        status, headers, data = client.get(path)
        assert status == 200 and headers["content-type"].startswith(kind) and len(data) > 200


def test_rows_travel_as_arrow_and_only_those_asked_for(serve: Serve) -> None:
    client = serve(numbers())
    found = client.ask("rows", start=998, stop=5000)
    assert found["row"].to_pylist() == [998, 999] and found.column_names == ["row", "0", "1", "2", "3", "4"]
    assert client.ask("rows", start=0, stop=10_000).num_rows == 500
    some = client.ask("rows", start=0, stop=1, columns=["kind", "no such column"])
    assert some.column_names == ["row", "2"] and some["2"].to_pylist() == ["low"]


@pytest.mark.parametrize(("name", "asked", "told"), [
    ("rows", {"start": "x", "stop": 1}, "start='x'"), ("row", {"row": 1000}, "Row 1,000 does not exist"),
    ("nothing", {}, "'nothing'"), ("open", {"view": {"split": "tran"}}, "Unknown split 'tran'"),
    ("open", {"view": {"split": "train["}}, "train["), ("open", {"view": {"sort": [["z", True]]}}, "z"),
    ("open", {"view": {"filters": [{"bins": [0, 1]}]}}, "invalid view"), ("open", {"view": 3}, "invalid view"),
    ("diff", {}, "--diff"), ("more", {"split": "train"}, "train"),
    ("wave", {"column": "x", "row": 0}, "no file"), ("wave", {"column": "x", "row": 0, "path": "x"}, "not a list"),
])  # fmt: skip
def test_what_cannot_be_answered_is_told_in_a_line(serve: Serve, name: str, asked: dict[str, Any], told: str) -> None:
    status, error = serve(numbers()).ask(name, **asked)
    assert status == 400 and told in error


def test_questions_must_be_json(serve: Serve) -> None:
    client = serve(numbers())
    assert client.get("/api/about", "POST", "{}")[0] == 415
    assert client.get("/api/about", "POST", "{", content_type="application/json")[0] == 400
    assert client.get("/api/about", "POST", "[]", content_type="application/json")[0] == 400
    assert client.get("/api/about", "POST", '"' + "x" * 2_000_000 + '"', content_type="application/json")[0] == 413
    assert client.get("/api/about")[0] == 405


def test_a_file_comes_whole_or_in_parts(serve: Serve) -> None:
    client = serve(every_kind())
    status, headers, whole = client.get(_media("sound"))
    assert status == 200 and headers["content-type"] == "audio/wav" and headers["accept-ranges"] == "bytes"
    status, headers, part = client.get(_media("sound"), Range="bytes=4-11")
    assert (status, part, headers["content-range"]) == (206, whole[4:12], f"bytes 4-11/{len(whole)}")
    assert client.get(_media("sound"), Range="bytes=-5")[2] == whole[-5:]
    assert client.get(_media("sound"), Range=f"bytes={len(whole)}-")[0] == 416


def test_pictures_are_drawn_small_and_whole(serve: Serve) -> None:
    client = serve(every_kind())
    for shape in ("thumb", "full"):
        status, headers, data = client.get(_media("picture", **{"as": shape}))
        assert status == 200 and headers["content-type"] == "image/jpeg" and data.startswith(b"\xff\xd8")
    assert client.get(_media("paper", **{"as": "page"}))[1]["content-type"] in ("image/png", "application/json")
    assert client.ask("wave", column="sound", row=0)["rate"] == 8000


def test_what_cannot_be_drawn_tells_why_and_the_rest_goes_on(serve: Serve) -> None:
    client = serve(every_kind())
    for column, shape in (("picture", "thumb"), ("paper", "page")):
        status, _, data = client.get(_media(column, 1, **{"as": shape}))
        assert status == 400 and "cannot be decoded" in json.loads(data)["error"]
    assert client.ask("wave", column="sound", row=1)[0] == 400
    assert client.get(_media("picture", 2, **{"as": "thumb"}))[0] == 400
    assert client.ask("rows", start=0, stop=3).num_rows == 3


def test_a_picture_of_a_program_and_one_of_billions_of_pixels_are_not_drawn(serve: Serve) -> None:
    rows = [{"picture": {"bytes": SVG, "path": "a.svg"}}, {"picture": {"bytes": huge_png(), "path": "huge.png"}}]
    client = serve(Dataset.from_list(rows, features=Features({"picture": Image()})))
    status, headers, data = client.get(_media("picture"))
    assert status == 200 and data == SVG and headers["content-type"] == "application/octet-stream"
    assert headers["content-disposition"].startswith("attachment") and "sandbox" in headers["content-security-policy"]
    status, _, data = client.get(_media("picture", 1, **{"as": "thumb"}))
    assert status == 400 and "too many pixels" in json.loads(data)["error"]


def test_media_that_grow_when_they_are_decoded_are_refused(serve: Serve) -> None:
    pytest.importorskip("pdfplumber")
    soundfile = pytest.importorskip("soundfile")
    vast = PDF.replace(b"[0 0 200 300]", b"[0 0 900000 900000]")
    rows = Dataset.from_list(
        [{"paper": {"bytes": vast, "path": "a.pdf"}, "sound": {"bytes": sound(), "path": "a.wav"}}],
        features=Features({"paper": Pdf(), "sound": Audio()}),
    )
    client = serve(rows)
    status, _, data = client.get(_media("paper", **{"as": "page"}))
    assert status == 400 and "900,000" in json.loads(data)["error"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(soundfile.SoundFile, "frames", property(lambda _: 10**12))
        status, error = client.ask("wave", column="sound", row=0)
    assert status == 400 and "too many" in error


def test_a_socket_is_not_opened(serve: Serve) -> None:
    client = serve(numbers())
    asked = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    assert client.get("/", **asked)[0] == 200  # answered as any other request
    assert client.get("/", authorization="Bearer wrong", **asked)[0] == 403


def test_rows_are_saved(serve: Serve) -> None:
    client = serve(numbers())
    view = {"split": "train", "search": "row 77 "}
    for kind, start in (("csv", b"i,x,kind"), ("jsonl", b'{"i":77'), ("parquet", b"PAR1")):
        status, headers, data = client.get(f"/save?{urllib.parse.urlencode({'view': json.dumps(view), 'format': kind})}")
        assert status == 200 and data.startswith(start) and f".{kind}" in headers["content-disposition"]
    assert client.get("/save?format=exe&view={}")[0] == 400


def test_a_port_in_use_and_an_open_host_without_a_token_are_refused() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigurationError, match="Port"):
            Viewer(open_rows(numbers()), port=taken.getsockname()[1])
    with pytest.raises(ConfigurationError, match="--token"):
        Viewer(open_rows(numbers()), host="0.0.0.0")
    with pytest.raises(ConfigurationError, match="not an address"):
        Viewer(open_rows(numbers()), host="no.such.host.invalid", token="x")
    with pytest.raises(ConfigurationError, match="Port 70000"):
        Viewer(open_rows(numbers()), port=70000)


def test_view_returns_a_viewer_that_ends(capsys: pytest.CaptureFixture[str]) -> None:
    viewer = datasets_core.view(Dataset.from_dict({"a": [1]}), open_browser=False, block=False)
    assert capsys.readouterr().out.strip() == viewer.url
    viewer.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", viewer.port), timeout=1)
    viewer = Dataset.from_dict({"a": [1]}).view(open_browser=False, block=False)
    viewer.close()


def test_a_machine_without_a_browser_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import webbrowser

    monkeypatch.setattr(webbrowser, "get", lambda: (_ for _ in ()).throw(webbrowser.Error("none")))
    with pytest.raises(ConfigurationError, match="--no-browser"):
        datasets_core.view(Dataset.from_dict({"a": [1]}), block=False)


def test_a_dataset_without_rows_or_columns_is_refused() -> None:
    for empty in (Dataset.from_dict({"a": []}), Dataset.from_dict({}), datasets_core.DatasetDict()):
        with pytest.raises(ConfigurationError, match=r"no (rows|columns)"):
            datasets_core.view(empty, open_browser=False)
    with pytest.raises(ConfigurationError, match="list"):
        datasets_core.view([1], open_browser=False)
