"""Who may run: what `trust_remote_code` means for a script that was named, or found in a folder or a repository."""

from __future__ import annotations

import logging
from typing import Literal

from datasets_core.config import settings
from datasets_core.errors import ConfinementUnavailableError, UntrustedScriptError
from datasets_core.resolve.request import Kind, Trust

logger = logging.getLogger(__name__)

Way = Literal["plain", "confined"]


def way_of(trust: Trust, kind: Kind, script: str, *, repository: str | None = None, commit: str | None = None) -> Way:
    """How a script runs: as it is, or confined.

    | `trust_remote_code` | a file that is named | found in a folder | found in a repository |
    |---|---|---|---|
    | None | plain | confined, else refused | confined, else refused |
    | True | plain | plain | plain, at this commit |
    | False | refused | refused | refused |
    | "sandbox" | confined, else an error | confined, else an error | confined, else an error |

    `HF_DATASETS_TRUST_REMOTE_CODE` is heeded as far as it is careful: where it says no, None means False for what is found.
    Where it says yes, it was said of another library, of all scripts and for ever, and nothing follows from it.

    Args:
        trust: what the user says.
        kind: how the script was come by.
        script: the script.
        repository: where it comes from.
        commit: the commit of that repository, to which the user's consent is bound.

    Raises:
        UntrustedScriptError: it must not run.
        ConfinementUnavailableError: it is to be confined, and cannot be.

    >>> way_of(None, "file", "reviews.py"), way_of(True, "folder", "reviews/reviews.py")
    ('plain', 'plain')
    """
    if trust is None and kind != "file" and settings().refuse_found_scripts:
        by = "HF_DATASETS_TRUST_REMOTE_CODE=0 (setting refuse_found_scripts)"
        raise UntrustedScriptError(script, repository=repository, commit=commit, is_refused=True, by=by)
    if trust is False:
        raise UntrustedScriptError(script, repository=repository, commit=commit, is_refused=True)
    if trust is True or (trust is None and kind == "file"):
        if kind == "repository":
            logger.warning(
                "Running %s of %s at commit %s as it is, since trust_remote_code=True says so. That holds for this commit: "
                "read what has changed before you say so of another.",
                *(script, repository, commit or "unknown"),
            )
        return "plain"
    from datasets_core.confine.layers import layers  # 5 ms that a trusted script does without

    reason = layers().reason
    if not reason:
        return "confined"
    if trust == "sandbox":
        raise ConfinementUnavailableError(reason)
    raise UntrustedScriptError(script, repository=repository, commit=commit, reason=reason)
