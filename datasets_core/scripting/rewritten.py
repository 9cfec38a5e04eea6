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
    tree = _Imports(own).visit(ast.parse(text, path))
    code: CodeType = compile(tree, path, "exec", dont_inherit=True)
    return code


class _Imports(ast.NodeTransformer):
    def __init__(self, own: Mapping[str, str]) -> None:
        self.own = {name: full for name, full in own.items() if name.partition(".")[0] in COLLECTIONS and name not in FACES}

    def visit_Import(self, node: ast.Import) -> ast.Import:
        node.names = [new for alias in node.names for new in self._aliases(alias)]
        return node

    def _aliases(self, alias: ast.alias) -> list[ast.alias]:
        own = self.own.get(alias.name) if alias.asname is not None else None
        return _aliases(alias) if own is None else [ast.copy_location(ast.alias(own, alias.asname), alias)]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        if not node.level and node.module:
            node.module = self.own.get(node.module) or face_of(node.module) or node.module
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
        if called in _IMPORTERS and node.args and isinstance(node.args[0], ast.Constant):
            name = node.args[0].value
            face = face_of(name) if isinstance(name, str) else None
            if face is not None:
                _open_face(node, str(name), face, whole=called == "import_module")
        return node


def _aliases(alias: ast.alias) -> list[ast.alias]:
    """What `import a.b` becomes: it opens a.b and binds `a`, where `import a.b as c` binds a.b."""
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
