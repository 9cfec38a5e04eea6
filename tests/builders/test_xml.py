"""XML: the text of a file, untouched."""

import pytest

from datasets_core.errors import FileFormatError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features

BOMB = b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>\r\n<a>&b;</a>\n'


def test_each_file_is_a_row_and_no_entity_is_followed(build):
    rows = build("xml", {"a.xml": BOMB, "b.xml": b"", "c.xml": "\ufeff<c>é</c>".encode()})
    assert list(rows) == [{"xml": BOMB.decode().replace("\r\n", "\n")}, {"xml": ""}, {"xml": "<c>é</c>"}]


def test_the_column_has_the_name_that_is_asked_for(build):
    rows = build("xml", {"a.xml": "<é/>".encode("latin-1")}, features=Features({"t": Value("string")}), encoding="latin-1")
    assert list(rows) == [{"t": "<é/>"}]


@pytest.mark.parametrize("content", [b"<a>\xff</a>", b"\0\1", b"PAR1"])
def test_what_is_no_text_is_an_error(build, content):
    with pytest.raises(FileFormatError) as caught:
        build("xml", {"a.xml": content})
    assert str(caught.value.file).endswith("a.xml")
