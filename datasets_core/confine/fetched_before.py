"""`FetchedBefore`: what was fetched before a script could read the user's files, which is all that it is given from then on.

Whatever is asked of a server tells it something.  So a run that cannot see the user's files says what is needed, all of that is
fetched whole and in its order, and the run that sees them has its answers from here, without a single request.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from datasets_core.errors import DatasetsCoreError, DeniedAccessError, DownloadError
from datasets_core.fetch.http import TransientError
from datasets_core.redact import redact


class FetchedBefore:
    """Files by their URLs.

    Args:
        script: for messages.
        asked: URLs that the run which saw nothing asked for, in its order.
        manager: fetches them.
    """

    def __init__(self, script: str, asked: Iterable[str], manager: Any) -> None:
        self._script = script
        self._places: dict[str, str | DatasetsCoreError] = {url: _fetched(url, manager) for url in asked}
        known = getattr(manager, "known", None)
        if known is not None:  # so that it asks for none of them again
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


def _fetched(url: str, manager: Any) -> str | DatasetsCoreError:
    try:
        return str(manager.fetch(url) if getattr(manager, "is_streaming", False) else manager.download([url])[0])
    except DatasetsCoreError as error:
        return error
    except (OSError, ValueError, TransientError) as error:
        return DownloadError(redact(url), str(error))
