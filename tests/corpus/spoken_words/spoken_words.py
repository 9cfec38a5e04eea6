"""Tones that stand for words."""

import os

import datasets
from datasets.tasks import AutomaticSpeechRecognition


class SpokenWords(datasets.GeneratorBasedBuilder):
    DEFAULT_WRITER_BATCH_SIZE = 3

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {
                    "file": datasets.Value("string"),
                    "audio": datasets.Audio(sampling_rate=8_000),
                    "text": datasets.Value("string"),
                    "speaker_id": datasets.Value("int64"),
                }
            ),
            supervised_keys=("file", "text"),
            task_templates=[AutomaticSpeechRecognition(audio_column="audio", transcription_column="text")],
        )

    def _split_generators(self, dl_manager):
        folder = dl_manager.download_and_extract("words.zip")
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"folder": os.path.join(folder, "words")})]

    def _generate_examples(self, folder):
        with open(os.path.join(folder, "transcripts.txt"), encoding="utf-8") as f:
            for line in f:
                name, speaker, text = line.rstrip("\n").split("|")
                path = os.path.join(folder, "wav", name + ".wav")
                yield name, {"file": name + ".wav", "audio": path, "text": text, "speaker_id": int(speaker)}
