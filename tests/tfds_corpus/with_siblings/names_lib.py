"""Names."""


def titled(text):
    return text.title()


def key_of(n):
    return f"line-{n:03d}"
