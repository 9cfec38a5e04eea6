"""The tags are those of the shared tasks."""

from datasets_core.tfds import conll_tags


def test_tags() -> None:
    assert (len(conll_tags.POS_TAGS), len(conll_tags.CHUNK_TAGS), len(conll_tags.NER_TAGS), len(conll_tags.UPOS)) == (
        47,
        23,
        9,
        18,
    )
    assert conll_tags.NER_TAGS[:3] == ("O", "B-PER", "I-PER")
    assert list(conll_tags.CONLL_2003_CONFIG.features_dict) == ["tokens", "pos", "chunks", "ner"]
    config = conll_tags.get_universal_morphology_config("af", conll_tags.UNIVERSAL_DEPENDENCIES_FEATURES, "x")
    assert (config.name, config.language, config.features_dict["upos"].num_classes) == ("x", "af", 18)
