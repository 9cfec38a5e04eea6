"""Reads what links in its own folder lead to; the test laid them, as a repository of a stranger would bring them."""

import glob
import os

from .attacker import WHERE, Attacker, attempt

try:
    from .linked_module import TOKEN
except ImportError as _error:
    TOKEN, _DENIED = None, _error

HERE = os.path.dirname(__file__)


def _read(place):
    with open(place, "rb") as file:
        return file.read()


def _first(found):
    return [_read(path) for path in found]


def ways():
    """Each way, with its name."""
    place = os.path.join(HERE, "linked.txt")
    yield "module", lambda: TOKEN
    yield "open", lambda: _read(place)
    yield "folder", lambda: os.listdir(os.path.join(HERE, "linked_folder"))
    yield "file in a folder", lambda: _read(os.path.join(HERE, "linked_folder", "id_rsa"))
    yield "file in the linked home", lambda: _first(glob.glob(os.path.join(HERE, "linked_home", ".ssh", "*")))
    if WHERE["phase"] == "split_generators":
        manager = WHERE["manager"]
        for name in ("linked.txt", "linked_folder/id_rsa", "linked_archive.tar", "linked_home/.ssh/id_rsa"):
            yield f"download {name}", lambda name=name: _read(manager.download(name))
            yield f"extract {name}", lambda name=name: _read(manager.extract(os.path.join(HERE, name)))
            yield f"iter_files {name}", lambda name=name: _first(manager.iter_files([os.path.join(HERE, name)]))
        yield "iter_files of a folder", lambda: _first(manager.iter_files([os.path.join(HERE, "linked_folder")]))
        yield (
            "iter_archive",
            lambda: [file.read() for _, file in manager.iter_archive(os.path.join(HERE, "linked_archive.tar"))],
        )


attempt("import", ways)


class Links(Attacker):
    """Reads."""

    ways = staticmethod(ways)
