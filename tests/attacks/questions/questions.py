"""Asks the parent for what it may not have: addresses of this link, other protocols, files; directly, and by its manager."""

import gc

from datasets_core.scripting.sandbox.protocol import Channel

from .attacker import WHERE, Attacker, attempt

PORT, SECRET = WHERE["port"], WHERE["secret"]
NAMES = {
    "absolute path": SECRET,
    "path with dots": "../" * 12 + SECRET.lstrip("/"),
    "file": f"file://{SECRET}",
    "file of a host": f"file://localhost{SECRET}",
    "file in capitals": f"FILE://{SECRET}",
    "file without slashes": f"file:{SECRET}",
    "home": "~/.ssh/id_rsa",
    "archive": f"zip://a::{SECRET}",
    "archive of an archive": f"zip://*::gzip://::file://{SECRET}",
    "cached": f"simplecache::file://{SECRET}",
    "local": f"local://{SECRET}",
    "filecache of the web": "filecache::http://example.com/",
    "s3": "s3://bucket/key",
    "gcs": "gs://bucket/key",
    "hub": "hf://datasets/user/private/data.csv",
    "ftp": "ftp://127.0.0.1/x",
    "ssh": "ssh://127.0.0.1/etc/passwd",
    "data": "data:,secret",
    "memory": "memory://x",
    "github": "github://user:repo@/x",
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "metadata in capitals": "HTTP://169.254.169.254/",
    "metadata as a number": "http://2852039166/",
    "metadata as octal": "http://0251.0376.0251.0376/",
    "metadata as hex": "http://0xa9fea9fe/",
    "metadata in IPv6": "http://[::ffff:169.254.169.254]/",
    "metadata in 6to4": "http://[2002:a9fe:a9fe::1]/",
    "metadata with a zone": "http://[fe80::1%25lo]/",
    "metadata of others": "http://[fd00:ec2::254]/",
    "metadata with a user": "http://user@169.254.169.254/",
    "metadata after a user": "http://127.0.0.1@169.254.169.254/",
    "everything": "http://0.0.0.0/",
    "redirect to metadata": f"http://127.0.0.1:{WHERE['redirects']}/?http://169.254.169.254/latest",
    "redirect to a file": f"http://127.0.0.1:{WHERE['redirects']}/?file://{SECRET}",
    "redirect to ftp": f"http://127.0.0.1:{WHERE['redirects']}/?ftp://127.0.0.1/x",
    "public after private": "http://8.8.8.8/?stolen",
    "no host": "http://",
    "no port": "http://127.0.0.1:99999/",
    "backslash": "http:\\\\169.254.169.254\\",
    "escapes": "http://\x1b[31m/",
    "null byte": "beside\0",
    "surrogates": "\ud800",
    "long": "http://127.0.0.1/" + "x" * 100_000,
    "device": "/dev/zero",
    "memory of the process": "/proc/self/mem",
    "environment of the process": "/proc/self/environ",
    "other scripts": WHERE["other_scratch"],
}


def _channel():
    return next(each for each in gc.get_objects() if isinstance(each, Channel))


def _asked(what, name):
    answer = _channel().question({"ask": what, "names": [name]})
    if "error" in answer:
        raise PermissionError(f"{answer['error']['class']}: {answer['error']['message']}")
    for place in answer["places"]:
        with open(place, "rb") as file:
            return file.read(1000)
    return answer


def _question(question):
    answer = _channel().question(question)
    if "error" in answer:
        raise PermissionError(answer["error"]["message"])
    return answer


QUESTIONS = {
    "no names": {"ask": "download"},
    "names of no text": {"ask": "download", "names": [1, {"a": 2}]},
    "something else": {"ask": "__class__", "names": []},
    "nothing": {},
    "a number": {"ask": 3, "names": ["a"]},
    "a list": {"ask": ["download"], "names": ["a"]},
    "what only streams ask": {"ask": "fetch", "names": [f"file://{SECRET}"]},
    "what only streams open": {"ask": "open", "names": [SECRET]},
    "another's handle": {"ask": "read", "handle": 3, "size": 1 << 62, "offset": -1},
    "settings of the manager": {"ask": "download_config", "names": ["token"]},
}


def ways():
    """Each way, with its name."""
    if WHERE["mode"]:
        yield WHERE["mode"], lambda: _question(QUESTIONS[WHERE["mode"]])
        return
    yield "private first", lambda: not WHERE["manager"].download(f"http://127.0.0.1:{WHERE['redirects']}/private")
    for name, text in NAMES.items():
        yield name, lambda text=text: WHERE["manager"].download(text)
    for name in ("absolute path", "file", "redirect to a file", "device", "metadata", "archive", "hub"):
        yield f"{name}, extracted", lambda name=name: _asked("extract", NAMES[name])
        yield f"{name}, asked", lambda name=name: _asked("download", NAMES[name])


attempt("import", ways)


class Questions(Attacker):
    """Asks."""

    ways = staticmethod(ways)
