"""Looks for a token in all that is in its process: environment, objects, memory, and what the parent answers."""

import ctypes
import gc
import os
import re

import datasets

from datasets_core.config import settings

from .attacker import LIBC, WHERE, Attacker, attempt

SECRET = re.compile("-".join(["CANARY", "[0-9a-f]{16}"]))


def _found(text):
    return SECRET.findall(text if isinstance(text, str) else repr(text))


def _environment():
    LIBC.getenv.restype = ctypes.c_char_p
    place = ctypes.POINTER(ctypes.c_char_p).in_dll(LIBC, "environ")
    entries, number = [], 0
    while place and place[number]:
        entries.append(place[number])
        number += 1
    return _found([LIBC.getenv(b"HF_TOKEN"), LIBC.getenv(b"SECRET"), entries])


def _objects():
    found = []
    for each in gc.get_objects():
        values = each.values() if type(each) is dict else each if type(each) in (list, tuple, set) else ()
        for value in list(values):
            if type(value) in (str, bytes):
                found += SECRET.findall(value if type(value) is str else value.decode("latin-1"))
    return found


def _memory():
    found = []
    with open("/proc/self/maps") as file:
        lines = file.read().splitlines()
    for line in lines:
        span, rights, *rest = line.split()
        if "r" not in rights or (len(rest) > 3 and rest[3].startswith(("/", "[v"))):
            continue
        start, end = (int(each, 16) for each in span.split("-"))
        if end - start > 64 << 20:
            continue
        found += re.findall(b"-".join([b"CANARY", b"[0-9a-f]{16}"]), ctypes.string_at(start, end - start))
    return found


def _frames():
    import sys

    texts = []
    for frame in sys._current_frames().values():
        while frame is not None:
            texts += [repr(value)[:10_000] for value in frame.f_locals.values()]
            frame = frame.f_back
    return _found(" ".join(texts))


def _manager():
    manager = WHERE["manager"]
    return _found([vars(manager), vars(manager.download_config), manager.download_config])


def _hub():
    import huggingface_hub

    return _found([huggingface_hub.get_token(), huggingface_hub.constants.HF_TOKEN_PATH])


def _builder():
    builders = [each for each in gc.get_objects() if isinstance(each, datasets.DatasetBuilder)]
    return [_found([vars(each), vars(each.config)]) for each in builders if "CANARY" in repr(vars(each))]


def ways():
    """Each way, with its name."""
    yield "os.environ", lambda: _found(dict(os.environ))
    yield "environ of the library", _environment
    yield "settings", lambda: _found(settings())
    yield "objects", _objects
    yield "memory", _memory
    yield "frames", _frames
    yield "hub", _hub
    yield "builder", _builder
    if "manager" in WHERE:
        yield "manager", _manager


attempt("import", ways)


class ReadToken(Attacker):
    """Looks."""

    ways = staticmethod(ways)
