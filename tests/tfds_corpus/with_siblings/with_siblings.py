"""A builder whose base class and helpers stand in modules beside it."""

from absl import logging
import tensorflow_datasets.public_api as tfds

from . import names_lib
from .base_lib import LinesBuilder


class WithSiblings(LinesBuilder):
    VERSION = tfds.core.Version("1.0.0")
    FILE = "lines.txt"

    def _clean(self, line):
        logging.info("A line of %d characters", len(line))
        return names_lib.titled(line)
