"""Whether files can go to a Hub by Xet: the client takes it for granted, and tries for minutes where they cannot."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import quote, urlsplit

from datasets_core.errors import DownloadError
from datasets_core.fetch import hub_write_failures as failures_of
from datasets_core.fetch.hub import Hub, UnansweredError, client_package

_DOMAIN = "huggingface.co"
_NAMES = {"x-xet-cas-url": "casUrl", "x-xet-access-token": "accessToken", "x-xet-token-expiration": "exp"}


def sends_by_xet() -> bool:
    """Whether the client sends by Xet what is no open file."""
    return not client_package().constants.HF_HUB_DISABLE_XET and find_spec("hf_xet") is not None


def is_offered(hub: Hub) -> bool:
    """Whether a Hub is known to take files by Xet, so that it need not be asked.

    >>> from datasets_core.fetch.hub_cache import HubCache
    >>> is_offered(Hub("https://huggingface.co", HubCache("/hub"))), is_offered(Hub("https://mirror", HubCache("/hub")))
    (True, False)
    """
    host = urlsplit(hub.endpoint).hostname or ""
    return host == _DOMAIN or host.endswith(f".{_DOMAIN}")


def hindrance(hub: Hub, repo_id: str, branch: str, *, create_pr: bool) -> str | None:
    """Why files cannot go to a repository by Xet; None where they can, for all that can be asked shortly.

    Args:
        hub: the Hub, and who asks.
        repo_id: the repository.
        branch: where they are to be committed to.
        create_pr: as a pull request.
    """
    asked = f"{hub.endpoint}/api/datasets/{repo_id}/xet-write-token/{quote(branch, safe='')}"
    try:
        answer = hub.answer(f"{asked}?create_pr=1" if create_pr else asked)
        if answer.status != 200:
            return f"it answers {answer.status}"
        store = _store(answer.headers, answer.body)
        if store is None:
            return "its answer names no store"
        hub.answer(store)
    except (UnansweredError, DownloadError) as error:
        return failures_of.shown(error)
    return None


def _store(headers: Mapping[str, str], body: bytes) -> str | None:
    """The address of the store, where it is told with a token that holds for a while."""
    try:
        form: Any = json.loads(body)
    except (ValueError, RecursionError):
        form = {}
    form = form if isinstance(form, dict) else {}
    address, token, end = (headers.get(name) or form.get(key) for name, key in _NAMES.items())
    try:
        holds = int(end) > time.time()
    except (TypeError, ValueError):
        return None
    is_url = isinstance(address, str) and urlsplit(address).scheme in ("http", "https")
    return address if is_url and token and holds else None
