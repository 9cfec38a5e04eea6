"""A report is one file that asks for nothing, and finds what is wrong with splits."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import ClassLabel, Dataset, DatasetDict, Features, Value
from datasets_core.cli.main import main
from datasets_core.errors import ConfigurationError
from datasets_core.viewer.report import row_hashes

from .conftest import ATTACK, SVG, every_kind, numbers


class _Page(HTMLParser):
    """The elements and attributes of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action", "data")]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def _written(dataset: Dataset | DatasetDict, tmp_path: Path) -> tuple[str, _Page]:
    path = dataset.report(tmp_path / "report.html")
    text = Path(path).read_text(encoding="utf-8")
    return text, _Page(text)


def test_a_report_of_every_kind_of_column_asks_for_nothing(tmp_path: Path) -> None:
    text, page = _written(every_kind(), tmp_path)
    assert page.links and all(link.startswith("data:") for link in page.links)
    assert "default-src 'none'" in text and "script" not in page.tags and "url(" not in text and "@import" not in text
    shown = " ".join(page.words)
    for name in every_kind().column_names:
        assert name in shown
    assert "cannot be decoded" in shown and "<img" in text and "<audio" in text


def test_the_numbers_are_those_of_describe(tmp_path: Path) -> None:
    rows = numbers(500)
    shown = " ".join(_written(rows, tmp_path)[1].words)
    for column in rows.describe():
        if column.mean is not None:
            assert f"{column.mean:.6g}" in shown


def test_leaks_repeated_rows_and_odd_columns_are_told(tmp_path: Path) -> None:
    features = Features(
        {"text": Value("string"), "y": ClassLabel(names=["no", "yes"]), "one": Value("int8"), "none": Value("int8")}
    )
    train = [{"text": f"sentence {n}", "y": n % 2, "one": 1, "none": None} for n in range(50)]
    test = [{"text": f"sentence {n}", "y": n % 2 if n < 45 else 1 - n % 2, "one": 1, "none": None} for n in range(40, 60)]
    splits = DatasetDict(
        {"train": Dataset.from_list([*train, train[0]], features=features), "test": Dataset.from_list(test, features=features)}
    )
    shown = re.sub(r"\s+", " ", "".join(_written(splits, tmp_path)[1].words))
    assert "5 rows of test (25.0%) are also in train" in shown
    assert "10 values of text of test (50.0%) are also in train" in shown
    assert "1 rows of train repeat an earlier row" in shown
    assert "one has one value in all rows" in shown and "none has nulls only" in shown
    assert "sentence 49" in shown and "Balance over the splits" in shown


def test_correlations_are_those_of_numpy(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=400)
    rows = {"x": x, "y": x + random.normal(size=400), "z": [None if n % 5 == 0 else float(n) for n in range(400)]}
    text = _written(Dataset.from_dict(rows), tmp_path)[0]
    assert f">{np.corrcoef(rows['x'], rows['y'])[0, 1]:.2f}<" in text
    kept = [n for n in range(400) if n % 5]
    assert f">{np.corrcoef(x[kept], kept)[0, 1]:.2f}<" in text


def test_attacks_stay_texts(tmp_path: Path) -> None:
    rows = Dataset.from_list([{ATTACK: ATTACK, "svg": {"bytes": SVG, "path": f"{ATTACK}.svg"}, "bell": "\x1b[31m\x07"}] * 3)
    text, page = _written(DatasetDict({"train": rows}), tmp_path)
    assert "script" not in page.tags and "\x1b" not in text and "\x07" not in text and page.tags.count("img") == 0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.none()
        | st.lists(st.none() | st.dictionaries(st.sampled_from(["a", "b"]), st.none() | st.text(max_size=90)), max_size=3),
        min_size=1,
        max_size=12,
    )
)
def test_hashes_are_equal_where_values_are(values: list[object]) -> None:
    column = pa.array(values, pa.list_(pa.struct({"a": pa.string(), "b": pa.string()})))
    found = row_hashes(column, None).tolist()
    plain = [repr(value) for value in column.to_pylist()]
    for one, a in zip(found, plain, strict=True):
        for other, b in zip(found, plain, strict=True):
            assert (one == other) == (a == b)
    assert row_hashes(column.slice(1), None).tolist() == found[1:]


def test_a_report_of_a_million_rows_is_small(tmp_path: Path) -> None:
    size = 120_000  # the page does not grow with the rows
    rows = Dataset(pa.table({f"c{n}": np.random.default_rng(n).normal(size=size) for n in range(6)}))
    text, _ = _written(rows, tmp_path)
    assert len(text) < 200_000


def test_the_command_writes_a_report_and_refuses_what_has_no_rows(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = ["--cache-dir", str(tmp_path / "cache")]
    assert main(["report", table, "--split", "train[:2]", "-o", str(tmp_path / "r.html"), *cache]) == 0
    assert "brno" in (tmp_path / "r.html").read_text() and "ciro" not in (tmp_path / "r.html").read_text()
    assert capsys.readouterr().out.startswith(str(tmp_path / "r.html"))
    assert main(["report", table, "-o", str(tmp_path / "no" / "r.html"), *cache]) == 1
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    with pytest.raises(ConfigurationError, match="no rows"):
        Dataset.from_dict({"a": []}).report(tmp_path / "r.html")
