"""URLs as they may be shown: without passwords, tokens and signatures."""

from __future__ import annotations

import re

HIDDEN = "***"

# Compiled by `re` when the first URL is shown: few processes show one.
_SECRET_NAME = (
    r"sig|token|key|secret|auth|cred|passw|pwd|policy|session|jwt|code|^x-(amz|goog|ms|oss)|^se$|^st$|^sp$|^sv$|^hmac|^hdnea"
)
_LONG_VALUE = 40  # characters; no page number or file name, most likely a signature
_CHAIN = r"::(?![^\[]*\])(?<!\[::)"  # between the hops of a chain, and not within an address of IPv6
_URL_IN_TEXT = r"[a-z][a-z0-9+.-]*://[^\s'\"<>\[\]]*(\[[0-9a-f:.]*\][^\s'\"<>\]]*|\[[^\s'\"<>\]]*)?"


def redact(url: str) -> str:
    """`url` with its user-info, its fragment and the secret values of its query hidden; other paths as they are.

    >>> redact("https://me:pw@host/a.zip?download=1&X-Amz-Signature=abc")
    'https://***@host/a.zip?download=1&X-Amz-Signature=***'
    >>> redact("data/train.csv")
    'data/train.csv'
    """
    if "://" not in url and "::" not in url:
        return url
    if "::" in url:
        first, *rest = re.split(_CHAIN, url)
        return "::".join(
            [_redact_one(first), *(_redact_one(part) if "://" in part else part.partition("?")[0] for part in rest)]
        )
    return _redact_one(url)


def _redact_one(url: str) -> str:
    if "://" not in url:
        return url
    from urllib.parse import urlsplit  # 3 ms that local paths do without

    try:
        scheme, netloc, path, query, _ = urlsplit(url)
    except ValueError:  # an address that does not parse is shown up to where a secret could begin
        return url.partition("?")[0].rpartition("@")[2]
    _, mark, host = netloc.rpartition("@")
    shown = "".join(map(_shown, re.split("([&;])", query))) if query else ""
    path = re.sub(";[^/;]*", lambda found: f";{_shown(found.group()[1:])}", path)
    return f"{scheme}://{f'{HIDDEN}@{host}' if mark else netloc}{path}{f'?{shown}' if shown else ''}"


def _shown(part: str) -> str:
    from urllib.parse import unquote

    name, mark, value = part.partition("=")
    if not mark:
        return HIDDEN if len(name) >= _LONG_VALUE else name
    is_secret = re.search(_SECRET_NAME, unquote(name), re.IGNORECASE) or len(value) >= _LONG_VALUE
    return f"{name}={HIDDEN}" if value and is_secret else part


def redact_text(text: str) -> str:
    """`text` with every URL in it redacted."""
    return re.sub(_URL_IN_TEXT, lambda found: redact(found.group()), text, flags=re.IGNORECASE)
