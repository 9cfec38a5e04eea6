"""The door to the top-level folder `builders/`; a wheel carries that folder itself in this place."""

from pathlib import Path

__path__ = [str(Path(__file__).resolve().parents[2] / "builders")]
