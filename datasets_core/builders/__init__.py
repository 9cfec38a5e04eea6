"""Import path of the formats: in a checkout it points to the top-level folder `builders/`, which a wheel installs here."""

import os

__path__ = [os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), "builders")]
