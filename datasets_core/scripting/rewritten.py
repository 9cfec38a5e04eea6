"""The code of a script's module, with its imports of old libraries turned into imports of their faces."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import CodeType, MappingProxyType

from datasets_core.scripting.collected import COLLECTIONS
from datasets_core.scripting.faces import FACES, face_of

_IMPORTERS = frozenset({"import_module", "__import__"})


def rewritten(text: bytes, path: str, own: Mapping[str, str] = MappingProxyType({})) -> CodeType:
    """Code that does what `text` says, but for its imports: those of old libraries open faces, under the names of the text.

    It holds for every import in the text, in functions and under conditions too, and for `importlib.import_module` and
    `__import__` of a name that stands there.  Lines and columns stay what they are.

    Args:
        text: of the module.
        path: where it was read.
        own: modules of the script, among which are those of its collection, by the names that the text has for them.

    >>> space = {}
    >>> exec(rewritten(b"import os, datasets.features as f; from datasets import Value", "a.py"), space)
    >>> space["Value"] is Value, space["f"].Value is Value
    (True, True)
    """
    tree = ast.parse(text, path)
    own = {name: full for name, full in own.items() if name.partition(".")[0] in COLLECTIONS and name not in FACES}
    for node in ast.walk(tree):  # no recursion: sums of a thousand texts stand in each other
        if isinstance(node, ast.Import):
            node.names = [new for alias in node.names for new in _aliases(alias, own)]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            node.module = own.get(node.module) or face_of(node.module) or node.module
        elif isinstance(node, ast.Call):
            _check_call(node)
    code: CodeType = compile(tree, path, "exec", dont_inherit=True)
    return code


def _check_call(node: ast.Call) -> None:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
    if called in _IMPORTERS and node.args and isinstance(node.args[0], ast.Constant):
        name = node.args[0].value
        face = face_of(name) if isinstance(name, str) else None
        if face is not None:
            _open_face(node, str(name), face, whole=called == "import_module")


def _aliases(alias: ast.alias, own: Mapping[str, str]) -> list[ast.alias]:
    """What `import a.b` becomes: it opens a.b and binds `a`, where `import a.b as c` binds a.b."""
    if alias.asname is not None and alias.name in own:
        return [ast.copy_location(ast.alias(own[alias.name], alias.asname), alias)]
    face = face_of(alias.name)
    if face is None:
        return [alias]
    top = alias.name.partition(".")[0]
    opened = [ast.alias(face, alias.asname or top)]
    if alias.asname is None and top != alias.name:
        opened.append(ast.alias(face_of(top) or top, top))
    return [ast.copy_location(each, alias) for each in opened]


def _open_face(call: ast.Call, name: str, face: str, *, whole: bool) -> None:
    """Have a call of an import function open a face; `__import__("a.b")` gives `a`, unless names of it are asked for."""
    place = call.args[0]
    if not whole and len(call.args) < 4 and not any(keyword.arg == "fromlist" for keyword in call.keywords):
        face = face_of(name.partition(".")[0]) or face
        names = ast.Tuple([ast.Constant("__name__")], ast.Load())
        call.keywords.append(ast.keyword("fromlist", names))
    call.args[0] = ast.Constant(face)
    ast.copy_location(call.args[0], place)
    ast.fix_missing_locations(call)
