"""What a machine offers decides whether scripts of strangers run, and why not."""

import pytest

from datasets_core.scripting.sandbox.limits import Layers, layers

FULL = Layers("x86_64", 7, True, True)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (FULL, ""),
        (Layers("aarch64", 1, True, False), ""),
        (Layers("x86_64", 0, True, True, "/usr/bin/bwrap"), ""),
        (Layers("x86_64", 0, True, True), "has no Landlock, and bwrap is not there"),
        (Layers("x86_64", 7, False, False), "no filters of system calls"),
        (Layers(None, 7, True, True), "are not known here"),
    ],
)
def test_a_reason_says_what_is_missing(found: Layers, reason: str) -> None:
    assert reason in found.reason
    assert found.can_sandbox is not bool(reason)


def test_another_system_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    assert FULL.reason == "Darwin has neither Landlock nor seccomp"


@pytest.mark.parametrize(
    ("found", "last"),
    [
        (FULL, ["Landlock ABI 7", "seccomp with notices"]),
        (Layers("x86_64", 0, True, False, "/usr/bin/bwrap"), ["bwrap", "seccomp"]),
    ],
)
def test_the_layers_have_names_for_people(found: Layers, last: list[str]) -> None:
    assert found.words()[-2:] == last


def test_they_are_looked_up_once() -> None:
    assert layers() is layers()
