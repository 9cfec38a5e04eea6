"""The door to the top-level folder `builders/`; a wheel carries that folder itself in this place."""

import os

__path__ = [os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), "builders")]
