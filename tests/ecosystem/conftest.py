"""The tests of this folder run on the alias: while a file is imported and its tests run, `import datasets` gives this library.

They skip where a package is missing (`pytest.importorskip`), and where another `datasets` is installed. Those of files whose
names begin with `test_plain` run without the alias. `scripts/ecosystem.py` runs them all, in environments of their own.
"""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import textwrap
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from datasets_core import as_datasets


def _other_datasets() -> str | None:
    """The version of a `datasets` that is installed and is not ours."""
    try:
        version = importlib.metadata.version("datasets")
    except importlib.metadata.PackageNotFoundError:
        return None
    return None if "+core." in version else version


class _Skipped(pytest.Module):
    def collect(self) -> Any:
        pytest.skip(f"datasets {_other_datasets()} is installed, and not the wheel of compat", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> pytest.Module | None:
    """Skip files that need the alias where another `datasets` is installed."""
    if module_path.name.startswith("test_plain") or _other_datasets() is None:
        return None
    return _Skipped.from_parent(parent, path=module_path)


@contextmanager
def _alias(path: Path) -> Iterator[None]:
    """The alias for a file, and the warnings of other libraries as warnings."""
    was_installed = as_datasets.is_installed()
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        if not path.name.startswith("test_plain"):
            as_datasets.install()
        yield
    if not was_installed:
        as_datasets.uninstall()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Import the files of this folder under the alias: libraries look for `datasets` when they are imported."""
    with _alias(collector.path):
        return (yield)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let the warnings of other libraries pass."""
    item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(autouse=True, scope="module")
def _aliased(request: pytest.FixtureRequest) -> Iterator[None]:
    with _alias(request.path):
        yield


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reaches the network."""
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.setenv(name, "1")


_TEXT = "a bird sings in the old tree and two cats sleep on warm red stones"
WORDS = ["<pad>", "<unk>", "<s>", "</s>", "<mask>", *_TEXT.split()]


@pytest.fixture
def tokenizer() -> Any:
    """A fast tokenizer of a few words, made here."""
    tokenizers, transformers = pytest.importorskip("tokenizers"), pytest.importorskip("transformers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    marks = {"pad_token": "<pad>", "unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "mask_token": "<mask>"}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, model_max_length=16, cls_token="<s>", sep_token="</s>", **marks
    )


@pytest.fixture
def causal_model() -> Any:
    """A language model of a few thousand random weights."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=len(WORDS), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
            num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0, bos_token_id=2, eos_token_id=3,
        )
    )  # fmt: skip


@pytest.fixture
def classifier() -> Any:
    """A classifier of texts into two classes, of a few thousand random weights."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(0)
    return transformers.BertForSequenceClassification(
        transformers.BertConfig(
            vocab_size=len(WORDS), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
            max_position_embeddings=64, num_labels=2,
        )
    )  # fmt: skip


@pytest.fixture
def texts() -> list[dict[str, Any]]:
    """Forty rows of a text and a label."""
    return [{"text": " ".join(WORDS[5 + (i + j) % 13] for j in range(3 + i % 5)), "label": i % 2} for i in range(40)]


@pytest.fixture(scope="module")
def two_processes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What two processes of torchrun got in each of the `MODES` of a test file; its `SCRIPT` runs them all."""
    folder = tmp_path_factory.mktemp("processes")
    (folder / "program.py").write_text(textwrap.dedent(request.module.SCRIPT))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "program.py"]
    command += [json.dumps(request.module.MODES), str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]
