"""`BuilderName`: parses names as TensorFlow Datasets writes them, `namespace:name/config:version/option=value,…`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from datasets_core.errors import ArgumentTypeError, ReferenceSyntaxError
from datasets_core.meta.reference import VERSION_LIKE

_NAME = re.compile(
    r"(?:(?P<namespace>[^\W\d][\w\-]*):)?"
    r"(?P<name>[^\W\d]\w*)"
    r"(?:/(?P<config>[\w+\-.]+))?"
    rf"(?::(?P<version>{VERSION_LIKE}))?"
    r"(?:/(?P<options>\w+=[^,]+(?:,\w+=[^,]+)*))?"
)
_BEGINS_WORD = re.compile(r"(?<=.)(?=[A-Z][a-z\d])|(?<=[a-z\d])(?=[A-Z])", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BuilderName:
    """A dataset as TensorFlow Datasets names it.

    Attributes:
        namespace: what stands before the name and a colon, if anything.
        name: name of the dataset, in snake case.
        kwargs: arguments of its builder: config, version, and options.
    """

    name: str
    namespace: str | None = None
    kwargs: dict[str, Any] = field(default_factory=dict)


def parse_builder_name(text: str, given: Mapping[str, Any] | None = None) -> BuilderName:
    """The dataset that a text means, and the arguments for its builder.

    After a colon stands a version or a pattern such as `1.*.*`; before any other word it ends a namespace: `ds:latest` is the
    dataset `latest` of the namespace `ds`, and the highest version of `ds` is `ds:*.*.*`.

    Args:
        text: `name`, `name/config`, `name:1.0.0`, `name/config:1.*.*/option=value`, `namespace:name`.
        given: arguments that are given beside the text.

    Raises:
        ReferenceSyntaxError: the text is none of these, or says one argument twice.
        ArgumentTypeError: text and `given` say the same argument.

    >>> parse_builder_name("MyDataset/en:1.*.*/lower=True")
    BuilderName(name='my_dataset', namespace=None, kwargs={'lower': True, 'config': 'en', 'version': '1.*.*'})
    """
    found = _NAME.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ReferenceSyntaxError(f"{text!r} names no dataset. Write 'name', 'name/config:1.0.0' or 'name/option=value'.")
    kwargs: dict[str, Any] = {}
    named = [(option, _value(value)) for option, _, value in (part.partition("=") for part in _parts(found["options"]))]
    named += [(part, found[part]) for part in ("config", "version") if found[part] is not None]
    for option, value in named:
        if option in kwargs:
            raise ReferenceSyntaxError(f"{text!r} says {option!r} twice. Say it once.")
        if given and given.get(option) is not None:
            raise ArgumentTypeError(f"{option!r} is said in {text!r} and as an argument. Say it once.")
        kwargs[option] = value
    return BuilderName(tfds_name(found["name"]), found["namespace"], {**(given or {}), **kwargs})


def tfds_name(class_name: str) -> str:
    """The name that TensorFlow Datasets gives a class: Hugging Face joins digits to the capitals before them, and it does not.

    >>> tfds_name("HTTPServer2Data"), tfds_name("QM9")
    ('http_server2_data', 'q_m9')
    """
    return _BEGINS_WORD.sub("_", class_name).lower()


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
