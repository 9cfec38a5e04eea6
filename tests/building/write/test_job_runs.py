"""The jobs of a split on every engine: results, deadlines, and workers that die."""

import os
import signal
import threading
import time

import pytest

from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.errors import ConfigurationError, ScriptTimeoutError, WorkerDiedError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo


class Parts(GeneratorBasedBuilder):
    """One row for each part, and what else a part says."""

    parts = ("row", "row")

    def _info(self):
        return DatasetInfo(features=Features({"number": Value("int32")}))

    def _split_generators(self, dl_manager):
        return [SplitGenerator("train", {"parts": list(self.parts)})]

    def _generate_examples(self, parts):
        for part in parts:
            yield os.urandom(8), {"number": 1}
            if part == "hang":
                time.sleep(60)
            if part == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if part == "exit":
                os._exit(3)


class HangingPart(Parts):
    parts = ("row", "hang")


class KilledPart(Parts):
    parts = ("row", "kill")


class LeavingPart(Parts):
    parts = ("row", "exit")


@pytest.mark.parametrize("engine", ["serial", "threads", "processes"])
def test_all_engines_give_the_rows_of_all_parts(tmp_path, engine):
    builder = Parts(cache_dir=tmp_path)
    builder.download_and_prepare(engine=engine)

    assert builder.info.splits["train"].num_examples == 2


@pytest.mark.parametrize(("kind", "how"), [(KilledPart, "SIGKILL"), (LeavingPart, "exit code")])
def test_a_worker_that_dies_names_the_part_and_the_dataset(tmp_path, kind, how):
    builder = kind(cache_dir=tmp_path)

    with pytest.raises(WorkerDiedError, match=r"split 'train' \(part 2 of 2\)") as caught:
        builder.download_and_prepare(num_proc=2)

    assert how in str(caught.value)
    assert builder.label in str(caught.value)
    assert caught.value.job == 1


@pytest.mark.parametrize(("seconds", "options"), [(0.3, {}), (1.5, {"num_proc": 2})])
def test_a_part_that_hangs_is_stopped_and_nothing_stays(tmp_path, seconds, options):
    builder = HangingPart(cache_dir=tmp_path)
    begun = time.monotonic()

    with pytest.raises(ScriptTimeoutError, match=r"making the rows of split 'train' \(part \d of 2\)") as caught:
        builder.download_and_prepare(timeout=seconds, **options)

    assert time.monotonic() - begun < 20
    assert (caught.value.path, caught.value.split, caught.value.seconds) == (__file__, "train", seconds)
    assert (caught.value.row == 1 and "part 2" in str(caught.value)) or options  # workers of a busy machine may not have begun
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".lock"] == []


def test_enough_time_changes_nothing(tmp_path):
    builder = Parts(cache_dir=tmp_path)
    builder.download_and_prepare(timeout=600)

    assert builder.info.splits["train"].num_examples == 2


@pytest.mark.parametrize("options", [{}, {"engine": "threads"}])
def test_where_no_code_can_be_stopped_none_is_begun(tmp_path, options):
    raised = []

    def work():
        try:
            HangingPart(cache_dir=tmp_path).download_and_prepare(timeout=1, **options)
        except ConfigurationError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)

    assert "thread" in str(raised[0])
