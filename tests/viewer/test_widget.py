"""In a notebook the same questions are answered over the connection of the widget."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from datasets_core import Dataset, DatasetDict
from datasets_core.viewer.opening import open_rows
from datasets_core.viewer.server import Answers
from datasets_core.viewer.widget import answered, script

from .conftest import every_kind, numbers, png


def test_the_modules_of_the_page_are_one_module(tmp_path: Path) -> None:
    text = script()
    assert "\nimport " not in text and text.count("\nexport ") == 1
    if shutil.which("node") is None:
        pytest.skip("node checks the syntax, and is not installed")
    (tmp_path / "widget.mjs").write_text(text)
    done = subprocess.run(["node", "--check", str(tmp_path / "widget.mjs")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_questions_are_answered_by_message() -> None:
    answers = Answers(open_rows(every_kind()))
    told, buffers = answered(answers, {"id": 1, "name": "rows", "asked": {"start": 0, "stop": 2}})
    assert told == {"id": 1, "answer": None} and pa.ipc.open_stream(buffers[0]).read_all().num_rows == 2
    told, buffers = answered(answers, {"id": 2, "name": "about"})
    assert told["answer"]["splits"] == [{"name": "train", "rows": 3}] and buffers == []
    asked = {"column": "picture", "row": 0, "path": []}
    assert answered(answers, {"id": 3, "name": "media", "asked": asked}) == (
        {"id": 3, "answer": {"type": "image/png"}},
        [png()],
    )
    assert answered(answers, {"id": 4, "name": "media", "asked": {**asked, "as": "thumb"}})[0]["answer"]["type"] == "image/jpeg"
    assert (
        "cannot be decoded"
        in answered(answers, {"id": 5, "name": "media", "asked": {**asked, "row": 1, "as": "thumb"}})[0]["error"]
    )
    assert "'nothing'" in answered(answers, {"id": 6, "name": "nothing"})[0]["error"]


def test_a_dataset_without_anywidget_shows_its_first_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "anywidget", None)
    assert numbers()._repr_mimebundle_() is None and "<table>" in numbers()._repr_html_()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_widget_answers_what_its_page_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("anywidget")
    sent: list[Any] = []
    for given in (numbers(), DatasetDict({"train": numbers()})):
        made = given.widget()
        monkeypatch.setattr(made, "send", lambda told, buffers=None: sent.append((told, buffers)))
        made._handle_custom_msg({"id": 7, "name": "about"}, [])
        assert sent.pop()[0]["answer"]["title"] == "dataset"
        made.close()
    assert Dataset.from_dict({"a": []})._repr_mimebundle_() is None


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_marimo_is_given_the_table_or_the_first_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    anywidget = pytest.importorskip("anywidget")
    for given in (numbers(), DatasetDict({"train": numbers()})):
        made = given._display_()
        assert isinstance(made, anywidget.AnyWidget)
        made.close()
    assert "<" in Dataset.from_dict({"a": []})._display_()._repr_html_()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    assert "<table>" in numbers()._display_()._repr_html_()
