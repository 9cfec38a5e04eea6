"""Leaves in its own folder what is hard to remove, or would lead whoever removes it elsewhere."""

import os

from .attacker import WHERE, Attacker, attempt

HERE = os.getcwd()


def _deep():
    try:
        for _ in range(400):
            os.mkdir("x" * 200)
            os.chdir("x" * 200)
    finally:
        os.chdir(HERE)


def _named():
    for name in (b"\xff\xfe", b"new\nline", b"-rf", b" ", b"\x1b[31m", b"x" * 255, b"*"):
        os.mkdir(name)
        with open(os.path.join(name, b"file"), "wb") as file:
            file.write(b"x")


def _closed():
    os.makedirs("closed/inner")
    os.chmod("closed/inner", 0)
    os.chmod("closed", 0)
    os.chmod(".", 0)


def _many():
    for number in range(1000):
        os.mkdir(f"many{number}")


def _moved():
    for number in range(300):
        os.makedirs(f"{number}.moved/{number + 1}.moved/inner")


def _swapped():
    """The folder itself, for a link to the home."""
    os.rename(HERE, f"{HERE}.gone")
    return True


def _linked():
    os.symlink(WHERE["home"], "home/link")
    return True


def _linked_inside():
    os.link(WHERE["target"], "home/link")
    return True


def _removed():
    os.rmdir("tmp")
    os.symlink(WHERE["home"], "tmp")
    return True


def _fifo():
    os.mkfifo("fifo")
    return True


def _threads():
    """Make files as long as the process lives."""
    import threading

    def run():
        number = 0
        while True:
            number += 1
            os.makedirs(f"racing/{number % 50}", exist_ok=True)

    threading.Thread(target=run, daemon=True).start()


def ways():
    """Each way, with its name: those that give nothing may work, and must be cleared away."""
    for way in (_deep, _named, _closed, _many, _moved, _swapped, _linked, _linked_inside, _removed, _fifo, _threads):
        yield way.__name__.strip("_"), way


attempt("import", ways)


class ScratchGames(Attacker):
    """Leaves."""

    ways = staticmethod(ways)
