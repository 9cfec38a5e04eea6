"""Lets the parent unpack archives that would write elsewhere, or do not come to an end."""

import os

from .attacker import WHERE, Attacker, attempt

HERE = os.path.dirname(__file__)


def _texts(place):
    found = []
    for folder, _, names in os.walk(place):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                found.append(file.read(1000))
    return found


def ways():
    """Each way, with its name."""
    if WHERE["phase"] == "split_generators":
        for name in sorted(os.listdir(os.path.join(HERE, "archives"))):
            place = os.path.join(HERE, "archives", name)
            yield f"extract {name}", lambda place=place: _texts(WHERE["manager"].extract(place))
            yield f"walk {name}", lambda place=place: [file.read(1000) for _, file in WHERE["manager"].iter_archive(place)]


attempt("import", ways)


class Unpack(Attacker):
    """Unpacks."""

    ways = staticmethod(ways)
