"""What the template does when an import starts threads, and with whom it ends."""

import os
import threading

import pytest

from datasets_core.scripting.sandbox import template
from datasets_core.scripting.sandbox import template as forks
from datasets_core.scripting.sandbox.limits import layers

pytestmark = pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")


def test_threads_are_counted() -> None:
    before = forks.num_threads()
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    during = forks.num_threads()
    done.set()
    thread.join()
    assert during == before + 1


def test_only_well_known_modules_are_imported_on_request() -> None:
    assert {"pandas", "PIL.Image"} <= forks.PRELOADS
    assert not any(name.startswith(("os", "datasets_core")) for name in forks.PRELOADS)


def test_a_module_that_starts_threads_is_left_to_another_template(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    asked: list[tuple[str, ...]] = []

    class Threaded(template.Template):
        def fork(self, descriptors: object, **options: object) -> template.Forked | None:  # type: ignore[override]
            asked.append(options["preload"])  # type: ignore[arg-type]
            return None if options["preload"] else template.Forked(self, 1, os.getpid(), -1)

    monkeypatch.setattr(template, "Template", Threaded)
    template.stop()
    try:
        template.fork([], scratch=str(tmp_path), serve="x:y", preload=["pandas"])
        template.fork([], scratch=str(tmp_path), serve="x:y", preload=["pandas"])
        assert asked == [("pandas",), (), ()]
    finally:
        template.stop()
        template._threaded.clear()
