"""What a confined script may be given: files below its own folders, and what public servers give to anybody.

A URL is a way out: what a script has read, it can write into the next URL that it asks for.  So a script that was given
something that not everybody can read is given nothing from outside any more.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from datasets_core import files
from datasets_core.errors import ConfinementUnavailableError, DeniedAccessError
from datasets_core.redact import redact

logger = logging.getLogger(__name__)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_LONGEST_URL = 8192


def check_folder(folder: str, what: str) -> None:
    """Refuse to give a script a folder that holds much else: the root, a home, or what is above it.

    Args:
        folder: it is readable as a whole.
        what: for messages, as the subject of a sentence.

    Raises:
        ConfinementUnavailableError: it does.
    """
    place = os.path.realpath(folder)
    homes = {os.path.realpath(os.path.expanduser("~")), os.path.realpath("/root"), os.path.realpath("/home")}
    if any(home == place or home.startswith(os.path.join(place, "")) for home in homes):
        raise ConfinementUnavailableError(
            f"{what} is {folder}, and a confined script may read all of it", advice="Put the files into a folder of their own"
        )


class Granted:
    """The rules for one script.

    Args:
        script: for messages.
        roots: folders and files that it may read, and cannot write.
        mark: file that says that something among the downloads is not public.
        holds_user_data: the user's own files are among the roots.
    """

    def __init__(self, script: str, roots: Sequence[str], *, mark: str, holds_user_data: bool) -> None:
        self.script, self.roots, self._mark = script, tuple(map(os.path.realpath, roots)), mark
        self.holds_user_data = holds_user_data
        self._has_private = os.path.exists(mark)
        self._told_of: set[str] = set()

    @property
    def has_private(self) -> bool:
        """Whether the script was given something that is not public."""
        return self._has_private

    def path(self, path: str) -> str:
        """A path that the script named, as the parent may open it.

        Raises:
            DeniedAccessError: it lies, or leads, elsewhere.
        """
        place = os.path.realpath(path)
        if not any(place == root or place.startswith(os.path.join(root, "")) for root in self.roots):
            raise DeniedAccessError(f"read {path!r} by its download manager", path=self.script)
        return place

    def folder(self, folder: str | None) -> str | None:
        """The folder of files that were fetched by hand, if the script may read it; else none, since a script may name any."""
        try:
            return None if folder is None or files.is_url(folder) else self.path(os.path.abspath(files.local_path(folder)))
        except DeniedAccessError:
            return None

    def urls(self, urls: Sequence[str]) -> None:
        """See that the parent may fetch URLs that the script asks for at one time.

        Raises:
            DeniedAccessError: it may not: another protocol than http(s), an address of this machine's own link, or any public
                one after what the script was given before.
        """
        private = []
        known: dict[tuple[str | None, int], list[Address]] = {}
        for url in urls:
            parts = urlsplit(url)
            if parts.scheme.lower() not in ("http", "https") or "::" in url or not parts.hostname:
                raise DeniedAccessError(f"fetch {redact(url)!r}, which is no http(s) URL", path=self.script)
            if len(url) > _LONGEST_URL:
                raise DeniedAccessError(f"fetch a URL of {len(url):,} characters", path=self.script)
            if "@" in parts.netloc:
                raise DeniedAccessError(f"fetch {redact(url)!r}, which holds a user's name", path=self.script)
            host = (parts.hostname, _port(url))
            if host not in known:
                known[host] = self._addresses(url)
            is_private = any(not address.is_global for address in known[host])
            private.append(is_private)
            if not is_private and self._has_private:
                raise DeniedAccessError(f"fetch {redact(url)!r} after it was given files that are not public", path=self.script)
        if any(private):
            self.marked()

    def own_url(self, url: str) -> None:
        """See that the parent may ask for a file of the script's own repository, which tells nothing else of it to anybody new.

        Raises:
            DeniedAccessError: the Hub is a public server, and the script was given something that is not public.
        """
        if self._has_private and any(address.is_global for address in self._addresses(url)):
            raise DeniedAccessError(f"fetch {redact(url)!r} after it was given files that are not public", path=self.script)

    def marked(self) -> None:
        """Note that the script is given something that is not public, for this run and all that come."""
        self._has_private = True
        os.makedirs(os.path.dirname(self._mark), exist_ok=True)
        with open(self._mark, "a"):
            pass

    def addresses(self, url: str) -> list[str]:
        """Where to connect to for one hop of a download, in order; nothing where its name has no address.

        Raises:
            DeniedAccessError: it leads to an address of this link, where machines keep their secrets.
        """
        found = self._addresses(url)
        if any(not address.is_global for address in found):
            self.marked()
        return list(dict.fromkeys(map(str, found)))

    def _addresses(self, url: str) -> list[Address]:
        try:
            listed = socket.getaddrinfo(urlsplit(url).hostname, _port(url), type=socket.SOCK_STREAM)
        except (OSError, UnicodeError, ValueError):
            return []  # the download itself says what is wrong
        found = [_plain(ipaddress.ip_address(str(where[0]).partition("%")[0])) for *_, where in listed]
        for address in found:
            if address.is_link_local or address.is_multicast or address.is_unspecified or str(address) in _SECRETS:
                raise DeniedAccessError(f"fetch {redact(url)!r}, an address of this machine's own link", path=self.script)
        parts = urlsplit(redact(url))
        if any(not address.is_global for address in found) and parts.netloc not in self._told_of:
            self._told_of.add(parts.netloc)
            logger.warning(
                "%s asks this machine to fetch from %s://%s, an address that is not public.",
                self.script,
                parts.scheme,
                parts.netloc,
            )
        return found


_SECRETS = frozenset({"fd00:ec2::254", "100.100.100.200", "192.0.0.192"})  # what clouds tell a machine, beside 169.254.169.254


def _port(url: str) -> int:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    return port or (443 if parts.scheme.lower() == "https" else 80)


def _plain(address: Address) -> Address:
    """An IPv4 address that is written as one of IPv6, as itself."""
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped or address.sixtofour or address
    return address


def is_remote(name: str) -> bool:
    """Whether what a script asks for is a URL, and no file of this disk."""
    return files.is_url(name) and not name.startswith("file://")
