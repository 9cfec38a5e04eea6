"""The tags are those of the shared tasks."""

from datasets_core.tfds import utils as conll


def test_tags() -> None:
    assert (len(conll.POS_TAGS), len(conll.CHUNK_TAGS), len(conll.NER_TAGS), len(conll.UPOS)) == (
        47,
        23,
        9,
        18,
    )
    assert conll.NER_TAGS[:3] == ("O", "B-PER", "I-PER")
    assert list(conll.CONLL_2003_CONFIG.features_dict) == ["tokens", "pos", "chunks", "ner"]
    config = conll.get_universal_morphology_config("af", conll.UNIVERSAL_DEPENDENCIES_FEATURES, "x")
    assert (config.name, config.language, config.features_dict["upos"].num_classes) == ("x", "af", 18)
