"""`DatasetRef`: parser of `owner/name/config:version`; `BuilderName`: references of TensorFlow Datasets; name rules."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from datasets_core.errors import ArgumentTypeError, ReferenceSyntaxError
from datasets_core.files import is_url
from datasets_core.meta.version import check_pattern

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
VERSION_LIKE = r"(?:\d+|\*)(?:\.(?:\d+|\*)){2}"
_VERSIONED = rf"(?s)(?P<path>.+):(?P<version>{VERSION_LIKE})"
_CONFIG = r"[^\s<>:/\\|?*\x00-\x1f][^<>:/\\|?*\x00-\x1f]*"


class DatasetRef(NamedTuple):
    """A dataset by name.

    Attributes:
        name: name of the dataset.
        owner: user or organisation it belongs to, if any.
        config: config of the dataset, if one is named.
        version: version, or a pattern such as `1.*.*`, if one is named.

    >>> DatasetRef.parse("acme/reviews/en:1.*.*")
    DatasetRef(name='reviews', owner='acme', config='en', version='1.*.*')
    """

    name: str
    owner: str | None = None
    config: str | None = None
    version: str | None = None

    @classmethod
    def parse(cls, text: str) -> DatasetRef:
        """Return the reference `name`, `owner/name` or `owner/name/config`, each with an optional `:version`.

        Raises:
            ReferenceSyntaxError: the text is none of these.
        """
        path, colon, version = text.partition(":")
        parts = path.split("/")
        if len(parts) > 3:
            raise _wrong(text, "it has more than three parts")
        if colon:
            check_pattern(version)
        owner, name = (None, parts[0]) if len(parts) == 1 else parts[:2]
        for part in parts[:2]:
            if re.fullmatch(_NAME, part) is None or ".." in part or "--" in part:
                raise _wrong(text, f"{part!r} is not a valid name")
        if len(parts) == 3 and re.fullmatch(_CONFIG, parts[2]) is None:
            raise _wrong(text, f"{parts[2]!r} is not a valid config name")
        return cls(name, owner, parts[2] if len(parts) == 3 else None, version if colon else None)

    @property
    def repository(self) -> str:
        """`owner/name`, or the name alone."""
        return f"{self.owner}/{self.name}" if self.owner else self.name

    def __str__(self) -> str:
        config = f"/{self.config}" if self.config else ""
        return self.repository + config + (f":{self.version}" if self.version else "")


def split_version(path: str) -> tuple[str, str | None]:
    """Return a path, and the version or pattern that follows it after a colon; None if none does. A URL has none.

    Raises:
        ReferenceSyntaxError: a number of the version has leading zeros.

    >>> split_version("data/reviews.py:1.*.*"), split_version("C:/reviews"), split_version("reviews:latest")
    (('data/reviews.py', '1.*.*'), ('C:/reviews', None), ('reviews:latest', None))
    """
    found = re.fullmatch(_VERSIONED, path)
    if found is None or (is_url(path) and not path.startswith("file://")):
        return path, None
    return found["path"], check_pattern(found["version"])


def _wrong(text: str, reason: str) -> ReferenceSyntaxError:
    return ReferenceSyntaxError(
        f"{text!r} is not a valid dataset name: {reason}", advice="Write 'owner/name' or 'owner/name/config:1.0.0'", value=text
    )


# `BuilderName`: parses names as TensorFlow Datasets writes them, `namespace:name/config:version/option=value,…`.


_BUILDER_NAME = (
    r"(?:(?P<namespace>[^\W\d][\w\-]*):)?"
    r"(?P<name>[^\W\d]\w*)"
    r"(?:/(?P<config>[\w+\-.]+))?"
    rf"(?::(?P<version>{VERSION_LIKE}))?"
    r"(?:/(?P<options>\w+=[^,]+(?:,\w+=[^,]+)*))?"
)
_BEGINS_WORD = r"(?s)(?<=.)(?=[A-Z][a-z\d])|(?<=[a-z\d])(?=[A-Z])"


@dataclass(frozen=True, slots=True)
class BuilderName:
    """A dataset reference in the syntax of TensorFlow Datasets.

    Attributes:
        namespace: the part before the name and a colon, if any.
        name: name of the dataset, in snake case.
        kwargs: arguments of its builder: config, version, and options.
    """

    name: str
    namespace: str | None = None
    kwargs: dict[str, Any] = field(default_factory=dict)


def parse_builder_name(text: str, given: Mapping[str, Any] | None = None) -> BuilderName:
    """Return the dataset of a reference, and the arguments for its builder.

    After a colon comes a version or a pattern such as `1.*.*`; before any other word it ends a namespace: `ds:latest` is the
    dataset `latest` of the namespace `ds`, and the highest version of `ds` is `ds:*.*.*`.

    Args:
        text: `name`, `name/config`, `name:1.0.0`, `name/config:1.*.*/option=value`, `namespace:name`.
        given: arguments besides the text.

    Raises:
        ReferenceSyntaxError: the text has another form, or an argument twice.
        ArgumentTypeError: an argument in both the text and `given`.

    >>> parse_builder_name("MyDataset/en:1.*.*/lower=True")
    BuilderName(name='my_dataset', namespace=None, kwargs={'lower': True, 'config': 'en', 'version': '1.*.*'})
    """
    found = re.fullmatch(_BUILDER_NAME, text) if isinstance(text, str) else None
    if found is None:
        raise ReferenceSyntaxError(
            f"{text!r} is not a valid dataset name",
            advice="Write 'name', 'name/config:1.0.0' or 'name/option=value'",
            value=text,
        )
    kwargs: dict[str, Any] = {}
    named = [(option, _value(value)) for option, _, value in (part.partition("=") for part in _parts(found["options"]))]
    named += [(part, found[part]) for part in ("config", "version") if found[part] is not None]
    for option, value in named:
        if option in kwargs:
            raise ReferenceSyntaxError(f"{text!r} gives {option!r} twice", advice="Give it once", value=text)
        if given and given.get(option) is not None:
            raise ArgumentTypeError(f"{option!r} is given in {text!r} and as an argument", advice="Give it once", value=option)
        kwargs[option] = value
    return BuilderName(tfds_name(found["name"]), found["namespace"], {**(given or {}), **kwargs})


def tfds_name(class_name: str) -> str:
    """Return the name of a class in TensorFlow Datasets: unlike Hugging Face, it does not join digits to the capitals before
    them.

    >>> tfds_name("HTTPServer2Data"), tfds_name("QM9")
    ('http_server2_data', 'q_m9')
    """
    return re.sub(_BEGINS_WORD, "_", class_name).lower()


def _parts(options: str | None) -> list[str]:
    return options.split(",") if options else []


def _value(text: str) -> Any:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


# Names of datasets, and of their classes and files.


_WORD_BEFORE_CAPITALISED = r"([A-Z]+)([A-Z][a-z])"
_LOWER_BEFORE_UPPER = r"([a-z\d])([A-Z])"
_LONE_UNDERSCORE = r"(?<!_)_(?!_)"
_UNDERSCORES = r"(_{2,})"


def camelcase_to_snakecase(name: str) -> str:
    """Return the name of a dataset by the name of its class.

    >>> camelcase_to_snakecase("HTTPServer2Data")
    'http_server2_data'
    """
    name = re.sub(_WORD_BEFORE_CAPITALISED, r"\1_\2", name)
    return re.sub(_LOWER_BEFORE_UPPER, r"\1_\2", name).lower()


def snakecase_to_camelcase(name: str) -> str:
    """Return the name of a class by the name of its dataset; runs of underscores stay.

    >>> snakecase_to_camelcase("http_server2_data")
    'HttpServer2Data'
    """
    words = [word for part in re.split(_LONE_UNDERSCORE, name) for word in re.split(_UNDERSCORES, part)]
    return "".join(word.capitalize() for word in words)


OF_TFDS = "_dataset_builder"  # what TFDS adds to the name of a folder for that of the script in it


def script_in(folder: str) -> str | None:
    """Return the script of a folder: it has the name of the folder, or the name that TFDS uses; None if there is none.

    >>> script_in("/no/such/folder")
    """
    name = os.path.basename(folder)
    files = (os.path.join(folder, f"{name}{end}.py") for end in ("", OF_TFDS))
    return next((file for file in files if os.path.isfile(file)), None)
