from .classes import COLOURS

_WORDS = {"de": ["rot", "grün", "blau"], "it": ["rosso", "verde", "blu"]}


def in_language(short, language):
    return _WORDS[language][list(COLOURS).index(short)]
