"""Optional packages: imported on use, with an error that names the extra to install if they are missing."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

from datasets_core.errors import MissingDependencyError

_DISTRIBUTIONS = {
    "Bio": "biopython", "Crypto": "pycryptodome", "Levenshtein": "python-Levenshtein", "MeCab": "mecab-python3",
    "OpenSSL": "pyOpenSSL", "PIL": "pillow", "Xlib": "python-xlib", "apache_beam": "apache-beam", "attr": "attrs",
    "bs4": "beautifulsoup4", "cld3": "pycld3", "cv2": "opencv-python", "dateutil": "python-dateutil",
    "docx": "python-docx", "dotenv": "python-dotenv", "faiss": "faiss-cpu", "fitz": "pymupdf", "flatten_json": "flatten-json",
    "absl": "absl-py", "google": "protobuf", "tree": "dm-tree",
    "git": "GitPython", "jwt": "PyJWT", "magic": "python-magic",
    "nacl": "pynacl", "osgeo": "gdal", "pkg_resources": "setuptools", "pptx": "python-pptx",
    "ruamel": "ruamel.yaml",
    "serial": "pyserial", "skimage": "scikit-image", "sklearn": "scikit-learn", "slugify": "python-slugify",
    "snappy": "python-snappy", "socks": "PySocks", "tensorflow_datasets": "tensorflow-datasets", "umap": "umap-learn",
    "websocket": "websocket-client",
    "yaml": "pyyaml", "zmq": "pyzmq",
    # what Python had once
    "aifc": "standard-aifc", "asynchat": "pyasynchat", "asyncore": "pyasyncore", "audioop": "audioop-lts", "cgi": "legacy-cgi",
    "cgitb": "legacy-cgi", "chunk": "standard-chunk", "crypt": "standard-crypt", "distutils": "setuptools",
    "imghdr": "standard-imghdr", "mailcap": "standard-mailcap", "nntplib": "standard-nntplib", "pipes": "standard-pipes",
    "sndhdr": "standard-sndhdr", "sunau": "standard-sunau", "telnetlib": "standard-telnetlib", "uu": "standard-uu",
    "xdrlib": "standard-xdrlib",
}  # fmt: skip


def distribution(package: str) -> str:
    """Return the name for pip of an imported package.

    >>> distribution("sklearn"), distribution("conllu")
    ('scikit-learn', 'conllu')
    """
    return _DISTRIBUTIONS.get(package, package)


def is_installed(package: str) -> bool:
    """Return True if a top-level package can be imported; this does not import it.

    >>> is_installed("json"), is_installed("no_such_package")
    (True, False)
    """
    if package in sys.modules or package in sys.builtin_module_names:
        return sys.modules.get(package, ...) is not None
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def missing_package(error: BaseException) -> str | None:
    """Return the package whose absence caused an error; None for other errors, such as a module missing in a package.

    >>> missing_package(ModuleNotFoundError("No module named 'no_such.part'", name="no_such.part"))
    'no_such'
    """
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    package = error.name.partition(".")[0]
    return None if is_installed(package) else package


def needed(package: str, needed_for: str, install: str | None = None) -> Any:
    """Import and return an optional package, or a module of one.

    Args:
        package: its name for an import.
        needed_for: what needs it, as the subject of a sentence.
        install: its name for pip; by default, the extra of the library that is named like the package.

    Raises:
        MissingDependencyError: the package is not installed.

    >>> needed("json", "This line").__name__
    'json'
    """
    name = package.partition(".")[0]
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name not in (name, package):
            raise  # the package is there, and lacks another
        raise MissingDependencyError(name, needed_for=needed_for, install=install or f"datasets_core[{name}]") from error


def is_hugging_face(given: object) -> bool:
    """Return True for an object of the package `datasets`, not of this library under its name.

    >>> is_hugging_face([])
    False
    """
    return type(given).__module__.partition(".")[0] == "datasets"


def named_kind(given: object, advice: str) -> tuple[str, str]:
    """Return the name of a value's type, and advice: for an object of the package `datasets`, how to convert it.

    >>> named_kind([], "Give a Dataset")
    ('list', 'Give a Dataset')
    """
    name = type(given).__name__
    if not is_hugging_face(given):
        return name, advice
    if name in ("Dataset", "DatasetDict"):
        return f"datasets.{name}", f"Convert it with {name}.from_hf()"
    return f"datasets.{name}", "Pass a function that yields its rows to IterableDataset.from_generator()"
