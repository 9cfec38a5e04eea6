"""The scripts of the corpus are data of `tests/flows/test_tfds_corpus.py`; nothing here is collected."""

collect_ignore_glob = ["*.py", "*/*.py"]
