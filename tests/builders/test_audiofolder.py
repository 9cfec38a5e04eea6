"""Sounds in folders: known by their extensions, decoded, labelled by folder."""

import io

import numpy as np
import pytest

from datasets_core.features.media.audio import Audio
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel


@pytest.mark.optional("soundfile")
@pytest.mark.parametrize("extension", ["wav", "flac", "ogg"])
def test_a_folder_of_sounds_gives_samples_and_their_labels(from_folder, extension):
    import soundfile

    def sound(seconds):
        sink = io.BytesIO()
        soundfile.write(sink, np.zeros(int(8000 * seconds)), 8000, format=extension.upper())
        return sink.getvalue()

    rows = from_folder({f"long/b.{extension}": sound(0.5), f"short/a.{extension}": sound(0.25)})

    assert rows.features == Features({"audio": Audio(), "label": ClassLabel(names=["long", "short"])})
    assert [(row["audio"]["sampling_rate"], len(row["audio"]["array"]), row["label"]) for row in rows] == [
        (8000, 4000, 0),
        (8000, 2000, 1),
    ]
