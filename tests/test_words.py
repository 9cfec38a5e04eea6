"""Messages, public docstrings, module docstrings and pages use plain technical English."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Phrases of a private English, with what to write instead.
PHRASES = {
    r"(?<!there )(?<!There )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|such\b|way\b|need\b)": "is not a",
    r"\b(?:is|are|was|were|been|be) told\b": "is given, is passed, is reported",
    r"\bstands? (?:in|at|for itself|beside)\b": "is in, contains",
    r"\bof (?:which|whom)\b": "two sentences",
    r"\bgoes on\b|\bgo on\b|\bwent on\b": "continues",
    r"\b[Nn]obody\b|\b[Ss]omebody\b": "no process, a user",
    r"\bMend\b|\bmend(?:s|ed)?\b": "fix",
    r"\b(?:is|are|was|were) gone\b": "no longer exists, was deleted",
    r"\b(?:say|says|said) so\b": "names it",
    r"\b[Nn]owhere\b": "in no file",
    r"\b[Ww]hatever\b|\b[Ww]hoever\b": "any",
    r"(?<!by )\bhands? (?:out|over|back|it|them)\b": "returns, passes",
    r"\bkin\b": "similar functions",
    r"\bheir\b|\bguest\b|\bshelf\b|\bcage\b": "the term of the glossary",
    r"\bbeside\b": "next to",
    r"\bwherefore\b|\bthereof\b|\bwhereof\b|\bhereof\b": "of it",
    r"\bknows? (?:nothing|none|no)\b": "does not support",
    r"\bknow(?:s)? of no\b": "does not have",
    r"\bin vain\b": "without success",
    r"^Have \b|(?<=\. )Have \b": "the verb itself: synchronize, fetch, submit",
    r"^Say \b": "announce, log, set",
    r"\bcomes? out\b|\bgoes in\b": "is returned, is written",
    r"\blook(?:s|ed)? into\b|\ba look at\b": "reads, checks",
    r"\bfor good\b": "permanently",
    r"\bput together\b|\btaken apart\b": "joined, built, parsed",
    r"\bof theirs\b|\bof so many\b|\b(?:in|every|each) so many\b": "the noun, the name of the number",
    r"\b[Ll]et go\b|\b[Gg]i(?:ve|ves|ven) back\b": "release, close, return",
    r"\bon (?:its|their) way\b": "in progress",
    r"\bspoke of\b|\bspeaks? of\b": "announced, names",
    r"\bmeans nothing\b": "is invalid",
    r"\bbut (?:for|that)\b(?! (?:has|have|is|are|this|needs?|fits?)\b)": "except, without",
    r"\bfor want of\b|\bwants? (?:the|a|an|no|to)\b": "for lack of, needs",
    r"\bhas gone\b|, gone\b": "has ended, was removed",
    r"\bmakes? of (?:a|an|the|it|them|each)\b": "converts, returns for",
    r"\b[Nn]othing of (?:it|them|the|a)\b": "no part of",
}
RAISING = {"warn", "warning", "info", "debug", "error", "exception", "critical", "add_note"}


def files() -> list[Path]:
    paths = sorted([*(ROOT / "datasets_core").rglob("*.py"), *(ROOT / "builders").rglob("*.py")])
    return [path for path in paths if not path.is_relative_to(ROOT / "datasets_core" / "builders")]


def messages(tree: ast.AST) -> list[tuple[int, str]]:
    """Each text passed to an exception, a warning or a log, an f-string as one text with ``{}`` for its values."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and is_message(node):
            for part in [*node.args, *(keyword.value for keyword in node.keywords)]:
                found += [(line, text) for line, text in texts(part) if " " in text]
    return found


def is_message(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return (
        name in RAISING
        or bool(re.search(r"(?:Error|Warning|Exception|Mismatch|Interrupt|NotFound)$", name))
        or name == "__init__"
    )


def texts(node: ast.AST) -> list[tuple[int, str]]:
    if isinstance(node, ast.Constant):
        return [(node.lineno, node.value)] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        values = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        whole = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        return [(node.lineno, whole), *(found for value in values for found in texts(value.value))]
    return [found for child in ast.iter_child_nodes(node) for found in texts(child)]


def docstrings(tree: ast.Module) -> list[tuple[int, str]]:
    """The docstrings of the module and of its public classes and functions, without code."""
    found = []

    def add(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if text := ast.get_docstring(node):
            found.append((getattr(node, "lineno", 1), re.sub(r"(?m)^\s*>>>.*(?:\n\s*\S.*)*|``[^`]*``|`[^`]*`", "", text)))
        for part in node.body:
            if isinstance(part, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and not part.name.startswith("_"):
                add(part)

    add(tree)
    return found


def odd(text: str) -> list[str]:
    """Each phrase of `PHRASES` in a text, with what to write instead."""
    flat = " ".join(text.split())
    return [f"{match[0]!r}: write {instead!r}" for phrase, instead in PHRASES.items() for match in re.finditer(phrase, flat)]


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_plain_english(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = sorted({*messages(tree), *docstrings(tree)})
    refused = [f"{path.name}:{line}: {what} in {' '.join(text.split())!r}" for line, text in found for what in odd(text)]
    assert not refused, "\n".join(refused)


PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if not {"_build", "reference"} & set(page.relative_to(ROOT).parts)),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_have_plain_english(page: Path) -> None:
    text = re.sub(r"(?ms)^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"))
    assert not odd(text)


@pytest.mark.parametrize(
    "text",
    [
        "'tran' is no split of 'acme/reviews'",
        "Mend the file",
        "The lock is gone",
        "{} are no columns",
        "shards, of which two are read",
    ],
)
def test_odd_phrases_are_refused(text: str) -> None:
    assert odd(text)


@pytest.mark.parametrize(
    "text", ["There is no file {}.", "The file no longer exists.", "The rank is no longer used.", "Fix the file."]
)
def test_plain_phrases_are_allowed(text: str) -> None:
    assert not odd(text)


def test_messages_and_docstrings_are_found() -> None:
    tree = ast.parse(
        '"""Is no module."""\ndef f(x):\n    """Is told."""\n    raise ValueError(f"{x} is no " "thing" if x else "It is lost")'
    )
    assert [text for _, text in messages(tree)] == ["{} is no thing", "It is lost"]
    assert [text for _, text in docstrings(tree)] == ["Is no module.", "Is told."]
