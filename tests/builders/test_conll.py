"""CoNLL: sentences as rows, parted at empty lines, whatever the size of the blocks that are read."""

import gzip

import pytest
from datasets_core.builders._source import Source
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.builders import conll
from datasets_core.errors import ConfigurationError, FileFormatError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.resolve.registry import format_of

SENTENCES = st.lists(
    st.lists(st.lists(st.text("aé#-", min_size=1, max_size=3), min_size=2, max_size=2), min_size=1), max_size=4
)


@given(SENTENCES, st.integers(1, 30), st.sampled_from(["\n", "\r\n"]), st.sampled_from([" ", "\t"]))
def test_sentences_come_back(tmp_path_factory, sentences, block_bytes, end, delimiter):
    path = tmp_path_factory.getbasetemp() / "x.conll"
    path.write_bytes(end.join(end.join(map(delimiter.join, tokens)) + end for tokens in sentences).encode())
    options = conll.ConllConfig(column_names=["w", "t"], delimiter=delimiter)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conll, "_BLOCK_BYTES", block_bytes)
        patch.setattr(conll, "_BATCH_TOKENS", block_bytes)
        found = [row for batch in conll.read_conll(Source(str(path), "x.conll"), options) for row in batch.to_pylist()]
    assert found == [{"w": [word for word, _ in tokens], "t": [tag for _, tag in tokens]} for tokens in sentences]


@pytest.mark.parametrize(
    ("options", "content", "expected"),
    [
        ({}, "-DOCSTART- -X-\n\nEU NNP\nrejects VBZ\n\n \n\nPeter NNP", [["EU", "rejects"], ["Peter"]]),
        ({"skip_docstart": False}, "-DOCSTART- O\n\na b\n", [["-DOCSTART-"], ["a"]]),
        ({"comment_prefix": "#"}, "# 1\na\n#b\nc\n", [["a", "c"]]),
        ({}, "# 1\na\n", [["#", "a"]]),
        ({"delimiter": "\t"}, "a b\tc\n", [["a b"]]),
        ({"encoding": "latin-1"}, "é x\n".encode("latin-1"), [["é"]]),
        ({}, gzip.compress(b"a b\n", mtime=0), [["a"]]),
        ({}, "", []),
    ],
)
def test_options(build, options, content, expected):
    rows = build("conll", {"a.conll": content if isinstance(content, bytes) else content.encode()}, **options)
    assert rows.features == Features({"tokens": List(Value("string"))})
    assert [row["tokens"] for row in rows] == expected


def test_missing_fields_are_empty_and_surplus_ones_left_out(build):
    rows = build("conll", {"a.conll": b"a b\nc\n\nd e f\n"}, column_names=["w", "n"])
    assert list(rows) == [{"w": ["a", "c"], "n": ["b", ""]}, {"w": ["d"], "n": ["e"]}]


def test_the_extension_tells_of_comments():
    assert format_of("a.conllu.gz") == ("conll", {"comment_prefix": "#"})


@pytest.mark.parametrize(
    "options", [{"column_names": "w"}, {"column_names": []}, {"column_names": ["a", "a"]}, {"delimiter": ""}]
)
def test_options_that_mean_nothing_are_errors(options):
    with pytest.raises(ConfigurationError):
        conll.ConllConfig(**options)


@pytest.mark.parametrize(("content", "message"), [(b"a b\n\xff c\n", r"line 2: byte 0xff at offset 4"), (b"\0\1", "NUL bytes")])
def test_what_is_no_text_is_an_error_with_its_line(build, content, message):
    with pytest.raises(FileFormatError, match=rf"a\.conll.*{message}"):
        build("conll", {"a.conll": content})
