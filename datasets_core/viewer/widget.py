"""The table of the viewer in a notebook, as an anywidget widget, whose connection carries requests and answers."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from datasets_core.errors import DatasetsCoreError
from datasets_core.optional import needed
from datasets_core.viewer.opening import open_rows
from datasets_core.viewer.server import Answers

_STATIC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")
_MODULES = ("dom.js", "cells.js", "charts.js", "facts.js", "table.js", "app.js", "notebook.js")


def script() -> str:
    """Return the page's modules as one module, preceded by the Arrow reader."""
    arrow = _text("vendor", "arrow.js")
    parts = [f"const Arrow = (function () {{ const exports = {{}}, module = {{ exports }};\n{arrow}\nreturn exports; }})();"]
    for name in _MODULES:
        text = re.sub(r"^import [^;]*;\n", "", _text(name), flags=re.MULTILINE)
        parts.append(re.sub(r"^export (?!default)", "", text, flags=re.MULTILINE))
    return "\n".join(parts)


def _text(*names: str) -> str:
    with open(os.path.join(_STATIC, *names), encoding="utf-8") as file:
        return file.read()


def answered(answers: Answers, message: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Return the answer to a message of the widget, and the bytes that accompany it.

    Args:
        answers: the answers of the dataset.
        message: a dict with `id`, `name` and `asked`.
    """
    told: dict[str, Any] = {"id": message.get("id")}
    asked = message.get("asked") or {}
    try:
        if message.get("name") == "media":
            data, kind = answers.medium(asked)
            return {**told, "answer": {"type": kind}}, [data]
        found = answers.answer(str(message.get("name")), asked)
    except DatasetsCoreError as error:
        return {**told, "error": str(error)}, []
    if isinstance(found, bytes):
        return {**told, "answer": None}, [found]
    return {**told, "answer": found}, []


def widget(dataset: Any) -> Any:
    """Return a table of a dataset for a notebook: it scrolls through all rows, and can be filtered by the pictures of its
    columns.

    Args:
        dataset: a `Dataset`, a `DatasetDict`, an `IterableDataset` or an `IterableDatasetDict`.

    Returns:
        A widget of `anywidget`, which Jupyter, VS Code and marimo show.

    Raises:
        MissingDependencyError: the extra `notebook` is not installed.
        ConfigurationError: the dataset has no rows or no columns.
    """
    base: Any = needed("anywidget", "A table in a notebook", "datasets_core[notebook]").AnyWidget
    opened = open_rows(dataset)
    answers = Answers(opened)

    class DatasetWidget(base):  # type: ignore[misc]
        """The table of one dataset."""

        _esm = script()
        _css = _text("style.css")

        def close(self) -> None:
            """Close the widget, and stop all computations."""
            opened.close()
            super().close()

    made = DatasetWidget()

    def on_message(_: Any, message: Any, __: Any) -> None:
        told, buffers = answered(answers, message)
        made.send(told, buffers=buffers)

    made.on_msg(on_message)
    return made
