"""Which feature stores an object of a package that decodes media: told by its class, without importing the package."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from datasets_core.features.audio import Audio, is_audio_decoder
from datasets_core.features.forms import feature_to_json
from datasets_core.features.image import Image, is_pillow_image
from datasets_core.features.media import Media
from datasets_core.features.nesting import struct_array, struct_parts
from datasets_core.features.pdf import Pdf, is_document
from datasets_core.features.sound import Sound
from datasets_core.features.stored_media import MARK
from datasets_core.features.video import Video, is_video_decoder

_KINDS: tuple[tuple[Callable[[Any], bool], Media], ...] = (
    (is_pillow_image, Image()),
    (lambda value: isinstance(value, Sound) or is_audio_decoder(value), Audio()),
    (is_video_decoder, Video()),
    (is_document, Pdf()),
)


def feature_of(values: Iterable[Any]) -> Media | None:
    """The feature of the first object of a medium among some values; None where there is none.

    >>> feature_of([None, 1, "x.png"]) is None
    True
    """
    seen: set[type] = set()
    for value in values:
        if type(value) not in seen:
            seen.add(type(value))
            for matches, feature in _KINDS:
                if matches(value):
                    return feature
    return None


def marked(array: pa.Array, feature: Media) -> pa.Array:
    """A stored array whose type says the feature, so that it is known again wherever the type is nested."""
    valid, fields = struct_parts(array)
    form = {MARK: json.dumps(feature_to_json(feature))}
    arrow_type = pa.struct([pa.field("bytes", pa.binary(), metadata=form), pa.field("path", pa.string())])
    return struct_array(arrow_type, len(array), valid, [fields["bytes"], fields["path"]])
