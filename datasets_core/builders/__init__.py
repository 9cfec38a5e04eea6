"""The door to the top-level folder `builders/`; a wheel carries that folder itself in this place."""

__path__ = [__file__.replace("datasets_core/builders/__init__.py", "builders").replace("datasets_core\\builders\\__init__.py", "builders")]
