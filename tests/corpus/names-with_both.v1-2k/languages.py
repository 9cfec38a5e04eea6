import datasets

from .classes import COLOURS

LANGUAGES = ["de", "it"]


def describe(language):
    return "%d colours in %s (%s)" % (len(COLOURS), language, datasets.Version("1.0.0"))


def shout(text):
    return text.upper() + "!"
