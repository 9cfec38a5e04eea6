"""Progress bars are quiet when switched off or away from a terminal."""

import bz2
import gzip
import io
import lzma
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from datasets_core.builders._source import Source
from datasets_core.builders.parquet import Parquet

from datasets_core import DatasetInfo, GeneratorBasedBuilder, SplitGenerator, config, progress
from datasets_core.dataset.dataset import Dataset
from datasets_core.io import save_to_disk
from datasets_core.load import load_dataset
from datasets_core.store.atomic import temporary_folder


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _bars_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.switch, "enabled", True)
    monkeypatch.setattr(progress.switch, "is_forced", False)


def test_a_bar_names_its_stage_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", _Terminal())
    with progress.progress("Building train", total=10) as bar:
        bar.update(10)
    assert "Building train: 100%" in sys.stderr.getvalue()


def test_nothing_is_drawn_away_from_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.progress("Building train", total=10) as bar:
        bar.update(10)
    assert capsys.readouterr().err == ""


def test_nothing_is_drawn_without_a_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress.progress("Building train", total=10) as bar:
            assert bar.update(10) is None


def test_nothing_is_drawn_when_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", _Terminal())
    progress.disable_progress_bars()
    with progress.progress("Building train", total=10) as bar:
        bar.update(10)
    assert sys.stderr.getvalue() == ""
    assert progress.are_progress_bars_disabled()


def test_bars_that_were_enabled_show_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    progress.enable_progress_bars()
    with progress.progress("Building train", total=10) as bar:
        bar.update(10)
    assert "Building train: 100%" in capsys.readouterr().err


def test_a_notebook_shows_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", cell)
    with progress.progress("Building train", total=10) as bar:
        bar.update(10)
    assert "Building train: 100%" in cell.getvalue()


def test_without_a_terminal_lines_are_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("DATASETS_CORE_PROGRESS_SECONDS", "0.000001")
    with progress.progress("Building train", total=1000) as bar:
        bar.update(500)
        bar.update(500)
    first, *_, last = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"Building train: 500 of 1,000 rows \(50%\), \d+ s, about \d+ s left", first)
    assert last.startswith("Building train: 1,000 of 1,000 rows (100%)")


@pytest.mark.parametrize("is_forced", [True, False])
def test_bars_show_the_jobs_of_engines(
    is_forced: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATASETS_CORE_PROGRESS_SECONDS", "0.000001")
    if is_forced:
        progress.enable_progress_bars()
    with progress.progress("Building train") as bar:
        progress.show_jobs(1, 4, 2, 10.0)
        time.sleep(0.15)  # a bar is drawn ten times a second
        bar.update(500)
        progress.show_jobs(4, 4, 1, 40.0)
        bar.update(500)
    said = capsys.readouterr().err
    assert "1 of 4 jobs, 2 retries, about 30 s left" in said and "4 of 4 jobs, 1 retry" in said
    progress.show_jobs(1, 2, 0, 1.0)  # without a bar
    assert capsys.readouterr().err == ""


def test_lines_of_progress_can_be_switched_off(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("DATASETS_CORE_PROGRESS_SECONDS", "0")
    with progress.progress("Building train", total=10) as bar:
        bar.update(10)
    assert capsys.readouterr().err == ""


class _Watched(_Terminal):
    """A terminal on which someone waits for some text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text, self.seen = text, threading.Event()

    def write(self, text: str) -> int:
        written = super().write(text)
        if self._text in self.getvalue():
            self.seen.set()
        return written


@pytest.mark.parametrize("verb", ["map", "filter"])
def test_a_bar_moves_while_the_first_rows_are_mapped(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Watched("2.00/3.00")
    monkeypatch.setattr(sys, "stderr", terminal)

    def slow(row: dict[str, int]) -> dict[str, int]:
        if row["a"] == 1:
            assert terminal.seen.wait(20)
        return row

    getattr(Dataset.from_dict({"a": [0, 1, 2]}), verb)(slow, new_fingerprint="slow")


@pytest.mark.parametrize("verb", ["map", "filter"])
def test_a_bar_follows_workers(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = tmp_path / "gate"
    terminal = _Watched("4.00/6.00")
    monkeypatch.setattr(sys, "stderr", terminal)
    made, plain = list[Path](), tempfile.TemporaryDirectory

    def folder(**options: Any) -> Any:
        made.append(Path((found := plain(**options)).name))
        return found

    monkeypatch.setattr(tempfile, "TemporaryDirectory", folder)
    opener = threading.Thread(target=lambda: (terminal.seen.wait(20), gate.touch()), daemon=True)
    opener.start()

    def slow(row: dict[str, int], gate: str) -> dict[str, int]:
        import os
        import time

        while row["a"] % 3 == 1 and not os.path.exists(gate):
            time.sleep(0.01)
        return row

    getattr(Dataset.from_dict({"a": list(range(6))}), verb)(slow, num_proc=2, fn_kwargs={"gate": str(gate)})
    opener.join()

    assert terminal.seen.is_set()
    assert [path.parent for path in made] == [Path(temporary_folder())]  # which is removed after this process was killed


def test_local_files_are_not_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n", encoding="utf-8")
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    load_dataset("csv", data_files=str(tmp_path / "a.csv"), cache_dir=str(tmp_path / "cache"))
    assert "Building train" in terminal.getvalue()
    assert "Downloading" not in terminal.getvalue()


@pytest.mark.parametrize("workers", [None, 2])
def test_a_bar_moves_while_a_script_makes_its_first_rows(
    workers: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate"
    terminal = _Watched("Building train: 3.00 rows" if workers is None else "Building train: 6.00 rows")
    monkeypatch.setattr(sys, "stderr", terminal)

    class Slow(GeneratorBasedBuilder):
        VERSION = "1.0.0"

        def _info(self) -> DatasetInfo:
            return DatasetInfo()

        def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
            return [SplitGenerator("train", {"parts": [0, 1] if workers else [0], "gate": str(gate)})]

        def _generate_examples(self, parts: list[int], gate: str) -> Iterator[tuple[str, dict[str, int]]]:
            import os
            import time

            for part in parts:
                for number in range(3):
                    yield f"{part}-{number}", {"a": number}
                while not os.path.exists(gate):
                    time.sleep(0.01)
                yield f"{part}-3", {"a": 3}

    opener = threading.Thread(target=lambda: (terminal.seen.wait(20), gate.touch()), daemon=True)
    opener.start()
    Slow(cache_dir=str(tmp_path / "cache")).download_and_prepare(num_proc=workers)
    opener.join()
    assert terminal.seen.is_set()


@pytest.mark.parametrize("workers", [None, 2])
def test_a_bar_moves_while_a_generator_makes_its_first_rows(
    workers: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate"
    terminal = _Watched("Generating train: 3.00 rows" if workers is None else "Generating train: 6.00 rows")
    monkeypatch.setattr(sys, "stderr", terminal)

    def slow(parts: list[int], gate: str) -> Iterator[dict[str, int]]:
        import os
        import time

        for _ in parts:
            yield from ({"a": number} for number in range(3))
            while not os.path.exists(gate):
                time.sleep(0.01)
            yield {"a": 3}

    opener = threading.Thread(target=lambda: (terminal.seen.wait(20), gate.touch()), daemon=True)
    opener.start()
    arguments = {"parts": [0, 1] if workers else [0], "gate": str(gate)}
    Dataset.from_generator(slow, gen_kwargs=arguments, num_proc=workers, cache_dir=str(tmp_path / "cache"))
    opener.join()
    assert terminal.seen.is_set()


def test_a_bar_moves_while_a_shard_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = _Watched("10.0k/20.0k")
    monkeypatch.setattr(sys, "stderr", terminal)
    plain = save_to_disk.rows_to_save

    def slow(*arguments: Any) -> Iterator[Any]:
        for number, batch in enumerate(plain(*arguments)):
            assert number != 2 or terminal.seen.wait(20)
            yield batch

    monkeypatch.setattr(save_to_disk, "rows_to_save", slow)
    with config.using(batch_rows=5000):
        Dataset.from_dict({"a": list(range(20_000))}).save_to_disk(tmp_path / "saved")


def test_a_build_of_parquet_files_counts_their_bytes_as_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Dataset.from_dict({"a": list(range(20_000))}).to_parquet(tmp_path / "a.parquet")
    size = (tmp_path / "a.parquet").stat().st_size
    read: list[int] = []
    with progress.metered(progress.FileMeter()) as watched:
        for batch in Parquet(cache_dir=str(tmp_path), batch_size=5000).read(
            Source.of(tmp_path / "a.parquet", "a", streams=True), None
        ):
            read += [watched.done()] if batch.num_rows else []
    assert read == [size * part // 4 for part in range(1, 5)]


def test_a_terminal_that_does_not_know_its_width_shows_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    pty = pytest.importorskip("pty")  # not on Windows
    ours, theirs = pty.openpty()  # of 0 columns, as that of `docker exec -t` without a terminal
    with open(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with progress.progress("Building train", total=10) as bar:
            bar.update(10)
    with open(ours, "rb", buffering=0) as shown:
        assert b"Building train: " in shown.read(4096)


@pytest.mark.parametrize("workers", [None, 2])
def test_a_build_of_text_files_counts_their_bytes(workers: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("a\n" + "1\n" * 500, encoding="utf-8")
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    files = [str(tmp_path / f"{name}.csv") for name in ("a", "b")]
    load_dataset("csv", data_files=files, cache_dir=str(tmp_path / "cache"), num_proc=workers)
    assert re.search(r"Building train: 100%\|.*\| 2\.00k/2\.00k \[.*B/s\]", terminal.getvalue())


@pytest.mark.parametrize("workers", [None, 2])
@pytest.mark.parametrize(("kind", "packed"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_a_build_of_compressed_files_counts_their_own_bytes(
    kind: str, packed: Callable[[bytes], bytes], workers: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = packed("".join(f'{{"a": "{number * 7919 % 10007}"}}\n' for number in range(20_000)).encode())
    (tmp_path / f"a.jsonl.{kind}").write_bytes(data)
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    load_dataset("json", data_files=str(tmp_path / f"a.jsonl.{kind}"), cache_dir=str(tmp_path / "cache"), num_proc=workers)
    size = f"{len(data) / 1000:.3g}k"
    assert f"{size}/{size} [" in terminal.getvalue()
    assert re.search(r"Building train: 100%\|.*B/s\]", terminal.getvalue())


def test_bytes_of_files_that_are_read_again_count_once(tmp_path: Path) -> None:
    found = progress.FileMeter()
    (tmp_path / "a").write_bytes(bytes(100))
    with progress.metered(found) as watched, open(tmp_path / "a", "rb", buffering=0) as file:
        assert progress.meter() is watched
        for path, read in (("a", 10), ("b", 110), ("a", 10)):
            found.opened(path, 100, partial(os.lseek, file.fileno(), 10, os.SEEK_SET))
            assert watched.done() == read
    assert progress.meter() is None
