"""How records are read: what is known of their columns before, and which bytes are undone."""

from __future__ import annotations

import bz2
import gzip
import zlib

import pytest
from datasets_core.builders._tfrecord_rows import TfRecordReading, kind_of_compression

from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.records.frames import frame
from datasets_core.records.specs.specs import FixedLenFeature


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (gzip.compress(b"", mtime=0), "GZIP"),
        (zlib.compress(b"some records"), "ZLIB"),
        (bz2.compress(b""), "bz2"),
        (frame(b"one"), ""),
        (frame(bytes(0x5A42)), ""),
        (b"", ""),
    ],
    ids=["gzip", "zlib", "bz2", "plain", "plain-like-a-magic-number", "empty"],
)
def test_the_first_bytes_tell_the_compression(data: bytes, kind: str) -> None:
    assert kind_of_compression(data) == kind


@pytest.mark.parametrize(
    ("reading", "columns"),
    [
        (TfRecordReading(), None),
        (TfRecordReading(spec={"n": FixedLenFeature([], "int64")}), {"n": Value("int64")}),
        (TfRecordReading(features=Features({"n": Value("int8")})), {"n": Value("int8")}),
        (TfRecordReading(message="bytes"), {"record": Value("binary")}),
    ],
    ids=["records", "spec", "features", "bytes"],
)
def test_features_that_no_record_tells_are_known(reading: TfRecordReading, columns: dict[str, Value] | None) -> None:
    assert reading.known_features == columns


def test_readings_are_told_apart_by_what_they_give() -> None:
    readings = [
        TfRecordReading(),
        TfRecordReading(verify=False),
        TfRecordReading(columns=("n",)),
        TfRecordReading(message="bytes"),
    ]
    assert len({reading.identity for reading in readings}) == len(readings)
    assert TfRecordReading().identity == readings[0].identity
