"""What the parent answers: places, within the rules, once fetched and then from the record."""

import base64
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import DataFilesNotFoundError, DatasetGenerationError, DeniedAccessError, UrlNotFoundError
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.fetch.streaming import StreamingDownloadManager
from datasets_core.scripting.sandbox.answers import Answers, PrefetchedFiles, manager_form, sandboxed_manager
from datasets_core.scripting.sandbox.denials import raised
from datasets_core.scripting.sandbox.grants import Granted


@pytest.fixture
def own(tmp_path: Path) -> Path:
    own = tmp_path / "own"
    own.mkdir()
    (own / "a.txt").write_text("a")
    with zipfile.ZipFile(own / "b.zip", "w") as archive:
        archive.writestr("c.txt", "c")
    return own


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "home" / "files")


@pytest.fixture
def granted(own: Path, folder: str, tmp_path: Path) -> Granted:
    return Granted("words.py", [str(own), folder], mark=str(tmp_path / "home" / "private"), holds_user_data=False)


@pytest.fixture
def answers(granted: Granted, own: Path, folder: str) -> Answers:
    manager = sandboxed_manager(DownloadManager(base_path=str(own)), granted, folder)
    return Answers(granted, base_path=str(own), folder=folder, manager=manager)


def error_of(answer: dict[str, Any]) -> Exception:
    return raised(answer, script="words.py")


def test_local_files_are_where_they_are(answers: Answers, own: Path) -> None:
    assert answers({"ask": "download", "names": ["a.txt", str(own / "a.txt")]}) == {"places": [str(own / "a.txt")] * 2}
    assert answers({"ask": "recorded"})["recorded"]["a.txt"]["num_bytes"] == 1


def test_archives_are_unpacked_in_the_scripts_own_folder(answers: Answers, folder: str) -> None:
    (place,) = answers({"ask": "extract", "names": ["b.zip"]})["places"]
    assert place.startswith(os.path.join(folder, "extracted"))
    assert os.listdir(place) == ["c.txt"]


def test_locks_lie_where_the_script_cannot_take_them(answers: Answers, folder: str) -> None:
    answers({"ask": "extract", "names": ["b.zip"]})
    assert list(Path(folder).rglob("*.lock")) == []
    assert len(list((Path(folder).parent / "locks").iterdir())) == 1


def test_what_lies_elsewhere_is_denied(answers: Answers, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    for ask in ("download", "extract"):
        for name in ("../secret.txt", str(tmp_path / "secret.txt"), f"file://{tmp_path}/secret.txt", "/etc/passwd"):
            assert isinstance(error_of(answers({"ask": ask, "names": [name]})), DeniedAccessError)


def test_what_does_not_exist_is_an_error_for_the_script(answers: Answers) -> None:
    assert isinstance(error_of(answers({"ask": "download", "names": ["none.txt"]})), DataFilesNotFoundError)


@pytest.mark.parametrize(
    "question",
    [
        *({}, {"ask": "download"}, {"ask": "download", "names": [5]}, {"ask": "download", "names": "a"}, {"ask": []}),
        *({"ask": "exec", "names": []}, {"ask": "_check", "names": []}, {"ask": "open", "names": []}),
        *({"ask": "read", "handle": []}, {"ask": "read", "handle": True}, {"ask": "read", "handle": 1, "size": 1e300}),
        *({"ask": "seek", "handle": 1, "offset": [0]}, {"ask": "seek", "handle": 1, "offset": 1 << 80}),
        {"ask": "seek", "handle": 1, "offset": 0, "whence": 9},
        *({"ask": ask, "names": ["http://127.0.0.1/a"]} for ask in ("open", "enforced", "fetch", "locate", "whole file")),
    ],
)
def test_what_is_no_question_is_not_answered(answers: Answers, question: dict[str, Any]) -> None:
    with pytest.raises(DatasetGenerationError, match="sent an invalid request"):
        answers(question)


def test_errors_do_not_tell_where_the_library_lies(answers: Answers) -> None:
    assert answers({"ask": "download", "names": ["none.txt"]})["error"]["traceback"] == []


def test_no_file_of_the_users_is_fetched_for_a_stream(granted: Granted, own: Path, folder: str, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    manager = sandboxed_manager(StreamingDownloadManager(base_path=str(own)), granted, folder)
    answers = Answers(granted, base_path=str(own), folder=folder, manager=manager)
    for ask in ("fetch", "locate", "download"):
        for name in (str(tmp_path / "secret.txt"), f"file://{tmp_path}/secret.txt", "../secret.txt"):
            assert isinstance(error_of(answers({"ask": ask, "names": [name]})), DeniedAccessError)
    assert answers({"ask": "fetch", "names": ["a.txt"]}) == {"places": [str(own / "a.txt")]}
    assert not os.path.exists(os.path.join(folder, "copied"))


def test_what_a_manager_of_ours_finds_elsewhere_is_not_copied(granted: Granted, folder: str, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")

    class Astray(DownloadManager):
        def download(self, url_or_urls: Any) -> Any:
            return [str(tmp_path / "secret.txt")]

    answers = Answers(granted, base_path=str(tmp_path), folder=folder, manager=Astray())
    assert isinstance(error_of(answers({"ask": "download", "names": ["http://127.0.0.1/x"]})), DeniedAccessError)


def test_a_replay_answers_from_the_record_alone(answers: Answers, granted: Granted, own: Path, folder: str) -> None:
    (own / "d.txt").write_text("d")
    answers({"ask": "download", "names": ["a.txt"]})
    replay = pickle.loads(pickle.dumps(Answers(granted, base_path=str(own), folder=folder, record=answers.record)))
    assert replay({"ask": "download", "names": ["a.txt"]}) == {"places": [str(own / "a.txt")]}
    error = error_of(replay({"ask": "download", "names": ["d.txt"]}))
    assert "must request the same files each time" in str(error)


class Streams:
    """A manager whose files come from nowhere, and which notes what it is asked."""

    is_streaming = True

    def __init__(self, place: Path) -> None:
        self.place, self.asked = str(place), list[str]()

    def fetch(self, url: str) -> str:
        self.asked.append(url)
        return self.place

    def held(self, url: str) -> str:
        return self.fetch(url)

    def is_enforced(self, url: str) -> bool:
        return False


def test_after_the_users_files_nothing_is_asked_of_a_server(own: Path, folder: str, tmp_path: Path) -> None:
    seen = Granted("words.py", [str(own), folder], mark=str(tmp_path / "private"), holds_user_data=True)
    manager = Streams(own / "a.txt")
    fixed = "http://127.0.0.1/fixed"
    before = PrefetchedFiles("words.py", [fixed], manager.fetch, manager)
    answers = Answers(seen, base_path=str(own), folder=folder, manager=manager, before=before)
    place = {"places": [str(own / "a.txt")]}
    assert [answers({"ask": ask, "names": [fixed]}) for ask in ("download", "fetch")] == [place, place]
    assert answers({"ask": "open", "names": [fixed]}) == {"handle": 1, "seekable": True}
    for ask in ("download", "fetch", "open", "extract"):
        assert isinstance(error_of(answers({"ask": ask, "names": ["http://127.0.0.1/?secret"]})), DeniedAccessError)
    assert manager.asked == [fixed]
    answers.close()


def test_a_run_before_does_not_learn_of_the_users_files(granted: Granted, own: Path, folder: str, tmp_path: Path) -> None:
    (tmp_path / "by hand.txt").write_text("x")
    manager = Streams(tmp_path / "by hand.txt")
    answers = Answers(granted, base_path=str(own), folder=folder, manager=manager, is_blind=True)
    (place,) = answers({"ask": "fetch", "names": ["http://127.0.0.1/a"]})["places"]
    assert os.path.dirname(place) == folder
    assert list(answers.asked) == ["http://127.0.0.1/a"]


def test_public_files_are_not_read_on_after_private_ones(granted: Granted, own: Path, folder: str) -> None:
    class Remote(Streams):
        def held(self, url: str) -> None:  # type: ignore[override]
            return None

        def stream(self, url: str) -> Any:
            return open(self.place, "rb")

    answers = Answers(granted, base_path=str(own), folder=folder, manager=Remote(own / "a.txt"))
    answers({"ask": "open", "names": ["http://93.184.216.34/a"]})
    assert "position" in answers({"ask": "seek", "handle": 1, "offset": 0})
    answers({"ask": "open", "names": ["http://127.0.0.1/a"]})
    assert isinstance(error_of(answers({"ask": "seek", "handle": 1, "offset": 0})), DeniedAccessError)
    assert isinstance(error_of(answers({"ask": "read", "handle": 1, "size": 1})), DeniedAccessError)
    assert "data" in answers({"ask": "read", "handle": 2, "size": 1})
    answers.close()


def test_files_of_the_users_own_manager_are_put_where_the_script_reads(granted: Granted, tmp_path: Path, folder: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.txt").write_text("x")

    class Fetched:
        def download(self, names: list[str]) -> list[str]:
            return [str(tmp_path / "elsewhere" / "x.txt")]

        def extract(self, names: list[str]) -> list[str]:
            return [str(tmp_path / "elsewhere")]

    answers = Answers(granted, base_path=str(tmp_path), folder=folder, manager=Fetched())
    (place,) = answers({"ask": "download", "names": ["http://127.0.0.1/x"]})["places"]
    assert place.startswith(folder)
    assert Path(place).read_text() == "x"
    (place,) = answers({"ask": "extract", "names": [place]})["places"]
    assert os.listdir(place) == ["x.txt"]


def test_a_manager_for_a_stranger_has_no_secrets(granted: Granted, folder: str) -> None:
    config = DownloadConfig(token="hf_secret", storage_options={"https": {"headers": {"x": "secret"}}}, cache_dir="/elsewhere")
    manager = DownloadManager(download_config=config, data_dir="/mine")
    form = manager_form(manager, "words.py", base_path="/own", folder=folder)
    assert "secret" not in str(form)
    assert (form["data_dir"], form["downloads"]) == ("/mine", folder)
    manager = sandboxed_manager(manager, granted, folder)
    assert (manager.download_config.token, manager.download_config.storage_options) == (False, {})
    assert (manager.manual_dir, config.token) == (None, "hf_secret")  # the script may have named that folder itself


def test_bytes_of_a_url_come_piece_by_piece(granted: Granted, own: Path, folder: str) -> None:
    answers = Answers(granted, base_path=str(own), folder=folder, manager=Streams(own / "a.txt"))
    opened = answers({"ask": "open", "names": ["http://127.0.0.1/a"]})
    assert opened == {"handle": 1, "seekable": True}
    assert base64.b64decode(answers({"ask": "read", "handle": 1, "size": 10})["data"]) == b"a"
    assert answers({"ask": "seek", "handle": 1, "offset": 0, "whence": 0}) == {"position": 0}
    assert answers({"ask": "read", "handle": 1, "size": -1}) == {"data": ""}
    assert answers({"ask": "enforced", "names": ["http://127.0.0.1/a"]}) == {"is_enforced": False}
    answers({"ask": "open", "names": ["http://127.0.0.1/a"]})
    assert answers({"ask": "close", "handle": 1}) == {}
    assert "error" in answers({"ask": "read", "handle": 1, "size": 10})
    answers.close()
    assert "error" in answers({"ask": "read", "handle": 2, "size": 10})


# What is fetched before a script reads the user's files: places, or what went wrong; nothing else.


def test_all_is_fetched_at_once_in_order_and_never_again() -> None:
    asked: list[str] = []

    def fetch(url: str) -> str:
        asked.append(url)
        if "gone" in url:
            raise UrlNotFoundError(url, "the server answers 404, not found", status=404, advice="Check the address")
        return f"/files/{len(asked)}"

    urls = ["http://a/1", "http://a/gone", "http://a/2"]
    before = pickle.loads(pickle.dumps(PrefetchedFiles("words.py", urls, fetch, None)))
    assert [before.place("http://a/2"), before.place("http://a/1")] == ["/files/3", "/files/1"]
    with pytest.raises(UrlNotFoundError) as caught:
        before.place("http://a/gone")
    assert caught.value.status == 404
    with pytest.raises(DeniedAccessError, match="after it could read your own files"):
        before.place("http://a/other")
    assert asked == urls
