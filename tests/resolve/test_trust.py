"""Who may run: every trust, for every way to come by a script."""

import logging
from typing import Any

import pytest

from datasets_core import config
from datasets_core.errors import ConfigurationError, ConfinementUnavailableError, UntrustedScriptError
from datasets_core.resolve.request import checked_trust
from datasets_core.resolve.script import run_mode
from datasets_core.scripting.sandbox import limits as found_layers
from datasets_core.scripting.sandbox.limits import Layers, layers

NOTHING = Layers(machine=None, landlock=0, seccomp=False, notices=False)
KINDS: tuple[Any, ...] = ("file", "folder", "repository")


@pytest.fixture(params=[True, False], ids=["confined here", "not confined here"])
def can_sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if not request.param:
        monkeypatch.setattr(found_layers, "layers", lambda: NOTHING)
    elif not layers().can_sandbox:
        pytest.skip(layers().reason)
    return bool(request.param)


def way(trust: Any, kind: Any) -> str:
    try:
        return run_mode(trust, kind, "reviews.py", repository="acme/reviews" if kind == "repository" else None, commit="ab12")
    except (UntrustedScriptError, ConfinementUnavailableError) as error:
        return type(error).__name__


def test_every_trust_of_every_kind(can_sandbox: bool) -> None:
    found = {trust: [way(trust, kind) for kind in KINDS] for trust in (None, True, False, "sandbox")}
    refused = "UntrustedScriptError"
    otherwise = "confined" if can_sandbox else refused
    sandbox = "confined" if can_sandbox else "ConfinementUnavailableError"
    assert found == {
        None: ["plain", otherwise, otherwise],
        True: ["plain"] * 3,
        False: [refused] * 3,
        "sandbox": [sandbox] * 3,
    }


def test_a_refusal_says_why_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found_layers, "layers", lambda: NOTHING)
    with pytest.raises(UntrustedScriptError, match=r"cannot confine it: .*then pass trust_remote_code=True or name the \.py"):
        run_mode(None, "folder", "reviews.py")
    with pytest.raises(UntrustedScriptError, match=r"reviews\.py of acme/reviews at commit ab12 .*revision='ab12'"):
        run_mode(None, "repository", "reviews.py", repository="acme/reviews", commit="ab12")
    with pytest.raises(UntrustedScriptError, match=r"trust_remote_code=False runs none\. Pass trust_remote_code='sandbox'"):
        run_mode(False, "file", "reviews.py")


def test_trust_of_a_repository_is_bound_to_its_commit(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "datasets_core"):
        run_mode(True, "repository", "reviews.py", repository="acme/reviews", commit="ab12")
    assert "acme/reviews at commit ab12" in caplog.text


@pytest.mark.parametrize("trust", ["yes", "True", 1, 0, 2, [], "Sandbox"])
def test_what_is_no_trust_is_refused(trust: Any) -> None:
    with pytest.raises(ConfigurationError, match="trust_remote_code is"):
        checked_trust(trust)


def test_the_environment_may_refuse_and_never_trust() -> None:
    assert config.from_environment({"HF_DATASETS_TRUST_REMOTE_CODE": "0"}).refuse_found_scripts
    assert not config.from_environment({"HF_DATASETS_TRUST_REMOTE_CODE": "1"}).refuse_found_scripts
    with config.using(refuse_found_scripts=True):
        assert [way(None, kind) for kind in KINDS] == ["plain", "UntrustedScriptError", "UntrustedScriptError"]
        assert way(True, "folder") == "plain"
