"""`FetchedBefore`: what was fetched before a script could read the user's files, which is all that it is given from then on.

Whatever is asked of a server tells it something.  So a run that cannot see the user's files says what is needed, all of that is
fetched whole and in its order, and the run that sees them has its answers from here, without a single request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from datasets_core.errors import DatasetsCoreError, DeniedAccessError, DownloadError
from datasets_core.fetch.http import TransientError
from datasets_core.redact import redact


class FetchedBefore:
    """Files by their URLs.

    Args:
        script: for messages.
        asked: URLs that the run which saw nothing asked for, in its order.
        fetch: gives the place of one of them.
        manager: what fetches them, which is told so that it asks for none of them again.
    """

    def __init__(self, script: str, asked: Iterable[str], fetch: Callable[[str], str], manager: Any) -> None:
        self._script = script
        self._places: dict[str, str | DatasetsCoreError] = {url: _fetched(url, fetch) for url in asked}
        known = getattr(manager, "known", None)
        if known is not None:
            known.fetched.update({url: place for url, place in self._places.items() if isinstance(place, str)})

    def place(self, url: str) -> str:
        """Where the file of a URL is.

        Raises:
            DeniedAccessError: nobody asked for it before.
            DatasetsCoreError: it could not be fetched then.
        """
        found = self._places.get(url)
        if found is None:
            raise DeniedAccessError(f"fetch {redact(url)!r} after it could read your own files", path=self._script)
        if isinstance(found, DatasetsCoreError):
            raise found
        return found


def _fetched(url: str, fetch: Callable[[str], str]) -> str | DatasetsCoreError:
    try:
        return fetch(url)
    except DatasetsCoreError as error:
        return error
    except (OSError, ValueError, TransientError) as error:
        return DownloadError(redact(url), str(error))
