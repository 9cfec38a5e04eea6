"""What the parent answers: places, within the rules, once fetched and then from the record."""

import base64
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest

from datasets_core.confine.answers import Answers, confined_manager, manager_form
from datasets_core.confine.granted import Granted
from datasets_core.confine.reported import raised
from datasets_core.errors import DataFilesNotFoundError, DatasetBuildError, DeniedAccessError
from datasets_core.fetch.download import DownloadManager
from datasets_core.fetch.download_config import DownloadConfig


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
    manager = confined_manager(DownloadManager(base_path=str(own)), granted, folder)
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
        *({}, {"ask": "download"}, {"ask": "download", "names": [5]}, {"ask": "download", "names": "a"}),
        *({"ask": "exec", "names": []}, {"ask": "_check", "names": []}, {"ask": "open", "names": []}),
        *({"ask": "read", "handle": 7}, {"ask": "read", "handle": []}),
    ],
)
def test_what_is_no_question_is_refused(answers: Answers, question: dict[str, Any]) -> None:
    error = error_of(answers(question))
    assert isinstance(error, DatasetBuildError)
    assert "no question" in str(error)


def test_a_replay_answers_from_the_record_alone(answers: Answers, granted: Granted, own: Path, folder: str) -> None:
    (own / "d.txt").write_text("d")
    answers({"ask": "download", "names": ["a.txt"]})
    replay = pickle.loads(pickle.dumps(Answers(granted, base_path=str(own), folder=folder, record=answers.record)))
    assert replay({"ask": "download", "names": ["a.txt"]}) == {"places": [str(own / "a.txt")]}
    error = error_of(replay({"ask": "download", "names": ["d.txt"]}))
    assert "must ask for the same files each time" in str(error)


def test_urls_wait_for_a_run_that_cannot_see_the_files_of_the_user(own: Path, folder: str, tmp_path: Path) -> None:
    seen = Granted("words.py", [str(own), folder], mark=str(tmp_path / "private"), holds_user_data=True)

    class Fetched:
        def download(self, names: list[str]) -> list[str]:
            return [str(own / "a.txt") for _ in names]

    runs: list[int] = []

    def blind() -> dict[str, dict[str, str]]:
        runs.append(1)
        return {"download": {"http://127.0.0.1/fixed": "x"}}

    answers = Answers(seen, base_path=str(own), folder=folder, manager=Fetched(), blind=blind)
    assert "places" in answers({"ask": "download", "names": ["http://127.0.0.1/fixed"]})
    assert isinstance(error_of(answers({"ask": "download", "names": ["http://127.0.0.1/?secret"]})), DeniedAccessError)
    assert runs == [1]


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
    manager = confined_manager(manager, granted, folder)
    assert (manager.download_config.token, manager.download_config.storage_options) == (None, {})
    assert (manager.manual_dir, config.token) == (None, "hf_secret")  # the script may have named that folder itself


def test_bytes_of_a_url_come_piece_by_piece(granted: Granted, own: Path, folder: str) -> None:
    class Streams:
        def held(self, url: str) -> str:
            return str(own / "a.txt")

        def is_enforced(self, url: str) -> bool:
            return False

    answers = Answers(granted, base_path=str(own), folder=folder, manager=Streams())
    opened = answers({"ask": "open", "names": ["http://127.0.0.1/a"]})
    assert opened == {"handle": 1, "seekable": True}
    assert base64.b64decode(answers({"ask": "read", "handle": 1, "size": 10})["data"]) == b"a"
    assert answers({"ask": "seek", "handle": 1, "offset": 0, "whence": 0}) == {"position": 0}
    assert answers({"ask": "enforced", "names": ["http://127.0.0.1/a"]}) == {"is_enforced": False}
    answers({"ask": "open", "names": ["http://127.0.0.1/a"]})
    assert answers({"ask": "close", "handle": 1}) == {}
    assert "error" in answers({"ask": "read", "handle": 1, "size": 10})
    answers.close()
    assert "error" in answers({"ask": "read", "handle": 2, "size": 10})
