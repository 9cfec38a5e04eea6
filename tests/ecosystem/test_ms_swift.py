"""ms-swift: its `load_dataset` and preprocessors over files of this disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("swift.dataset")
datasets: Any = pytest.importorskip("datasets")

from swift.dataset import load_dataset  # type: ignore[import-not-found]  # noqa: E402

CHATS = [
    {"messages": [{"role": "user", "content": f"two cats {i}"}, {"role": "assistant", "content": "sleep"}]} for i in range(20)
]
ALPACA = [{"instruction": f"a bird {i}", "input": "", "output": "sings"} for i in range(12)]
SHARED = [
    {"conversations": [{"from": "user", "value": f"a tree {i}"}, {"from": "assistant", "value": "old"}]} for i in range(8)
]
TOOLS = [
    {
        "messages": [
            *chat["messages"],
            {"role": "user", "content": "more"},
            {"role": "assistant", "content": "red", "loss": True},
        ]
    }
    if i % 2
    else chat
    for i, chat in enumerate(CHATS)
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MODELSCOPE_CACHE", str(tmp_path / "modelscope"))
    for name, rows in (("chats", CHATS), ("alpaca", ALPACA), ("shared", SHARED), ("tools", TOOLS)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "alpaca.json").write_text(json.dumps(ALPACA))
    (tmp_path / "pairs.csv").write_text("query,response\na bird,sings\ntwo cats,sleep\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "count"), [("chats.jsonl", 20), ("alpaca.jsonl", 12), ("alpaca.json", 12), ("shared.jsonl", 8), ("pairs.csv", 2)]
)
@pytest.mark.parametrize("streaming", [False, True])
def test_files_become_messages(folder: Path, name: str, count: int, streaming: bool) -> None:
    found, rest = load_dataset(str(folder / name), streaming=streaming, num_proc=1)
    assert rest is None
    assert isinstance(found, datasets.IterableDataset if streaming else datasets.Dataset)
    rows = list(found)
    assert len(rows) == count
    assert [message["role"] for message in rows[0]["messages"]][-2:] == ["user", "assistant"]


def test_messages_of_several_keys(folder: Path) -> None:
    found, _ = load_dataset(str(folder / "tools.jsonl"))
    assert [len(row["messages"]) for row in found] == [2, 4] * 10
    assert found[1]["messages"][3]["content"] == "red"


def test_samples_shares_and_mixtures(folder: Path) -> None:
    train, test = load_dataset(
        [f"{folder}/chats.jsonl#10", f"{folder}/alpaca.jsonl"], split_dataset_ratio=0.25, shuffle=True, num_proc=2
    )
    assert (len(train) + len(test), len(test)) == (22, 5)
    mixed, _ = load_dataset([f"{folder}/chats.jsonl", f"{folder}/alpaca.jsonl"], interleave_prob=[0.5, 0.5])
    assert len(mixed) >= 12
    stream, rest = load_dataset(f"{folder}/chats.jsonl#20", split_dataset_ratio=0.25, streaming=True, shuffle=True)
    assert len(list(stream)) + len(list(rest)) == 20


def test_tokens_of_a_template(folder: Path, tokenizer: Any) -> None:
    from swift.dataset import EncodePreprocessor  # type: ignore[import-not-found]

    class Template:
        def encode(self, row: dict[str, Any], **_: Any) -> dict[str, Any]:
            found = tokenizer(" ".join(each["content"] for each in row["messages"]))["input_ids"]
            return {"input_ids": found, "labels": found}

    train, _ = load_dataset(str(folder / "chats.jsonl"))
    for num_proc in (1, 2):
        encoded = EncodePreprocessor(template=Template())(train, num_proc=num_proc)
        assert len(encoded) == 20
        assert encoded[0]["input_ids"] == tokenizer("two cats 0 sleep")["input_ids"]
