"""The attacks are data of `tests/flows/test_attacks.py`; nothing here is collected."""

collect_ignore_glob = ["*.py", "*/*.py"]
