"""Runs a program for which `import datasets` returns this library.

python -m datasets_core.as_datasets script.py [arguments]
python -m datasets_core.as_datasets -m module [arguments]
"""

from __future__ import annotations

import os
import runpy
import sys

from datasets_core import as_datasets

_USAGE = """usage: python -m datasets_core.as_datasets script.py [arguments]
       python -m datasets_core.as_datasets -m module [arguments]

Runs a program for which `import datasets` returns datasets_core."""


def main(arguments: list[str]) -> None:
    """Run a script or a module.

    Args:
        arguments: the script, or `-m` and the module, followed by its arguments.

    Raises:
        SystemExit: no program was given, or the program exits.
    """
    if not arguments or arguments == ["-m"] or (arguments[0].startswith("-") and arguments[0] != "-m"):
        print(_USAGE, file=sys.stderr)
        raise SystemExit(0 if arguments in (["-h"], ["--help"]) else 2)
    if arguments[0] != "-m" and not os.path.exists(arguments[0]):
        print(f"The script {arguments[0]!r} does not exist.", file=sys.stderr)
        raise SystemExit(2)
    as_datasets.install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
