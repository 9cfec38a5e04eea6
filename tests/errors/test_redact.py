"""What of a URL may be seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import redact, redact_text

SECRET = "s3cr3t"


@pytest.mark.parametrize(
    "url",
    [
        f"https://user:{SECRET}@host/a",
        f"https://{SECRET}@host/a",
        f"https://host/a?X-Amz-Signature={SECRET}&X-Amz-Date={SECRET}",
        f"https://host/a?sig={SECRET}&se={SECRET}",
        f"https://host/a?access_token={SECRET}",
        f"https://host/a?AWSAccessKeyId={SECRET}&Signature={SECRET}",
        f"https://host/a?x={SECRET * 10}",
        f"https://host/a?{SECRET * 10}",
        f"https://host/a#{SECRET}",
        f"zip://in/a.csv::https://u:{SECRET}@host/a.zip",
        f"https://[bad:{SECRET}@host/a?sig={SECRET}",
        f"https://[::1]:8080/a?token={SECRET}",
        f"https://[fe80::2::3/a?token={SECRET}",
        f"https://[::1/a?token={SECRET}",
        f"zip://in/a.csv::https://u:{SECRET}@[2001:db8::1]/a.zip?token={SECRET}",
        f"https://host/a?x=1;token={SECRET}",
        f"https://host/a;jsessionid={SECRET}/b",
        f"https://host/a?%74oken={SECRET}",
    ],
)
def test_secrets_are_hidden(url):
    assert SECRET not in redact(url)
    assert SECRET not in redact_text(f"failed: '{url}' (twice)")


@pytest.mark.parametrize(
    "url", ["https://host/a.csv?download=1&page=2", "/x/y@z?b", "s3://bucket/a b.csv", "memory:///a/b.csv", "file:///a", "a\\b"]
)
def test_the_rest_is_shown(url):
    assert redact(url) == url


@given(st.text())
def test_redacting_twice_changes_nothing(url):
    assert redact(redact(url)) == redact(url)
