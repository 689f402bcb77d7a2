"""Reads the source of a package as syntax trees: what each file is called, imports and refers to. Never runs it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "holdfast"


@dataclass(frozen=True, slots=True)
class Module:
    """One file: `path` below the package (`engine/worker.py`), dotted `name`, and its tree."""

    path: str
    name: str
    is_package: bool
    tree: ast.Module
    text: str

    @property
    def part(self) -> str:
        """The word of the layer table: `engine` of holdfast.engine.worker, empty for the package itself."""
        return self.name.removeprefix(PACKAGE).lstrip(".").partition(".")[0]


@dataclass(frozen=True, slots=True)
class Import:
    """One import of one of our modules. `lazy` inside a function, `typing` under TYPE_CHECKING."""

    importer: Module
    imported: str
    line: int
    lazy: bool
    typing: bool

    @property
    def part(self) -> str:
        return self.imported.removeprefix(PACKAGE).lstrip(".").partition(".")[0]

    def __str__(self) -> str:
        return f"{self.importer.path}:{self.line} imports {self.imported}"


def read_package(source: Path) -> dict[str, Module]:
    """Every module below `source` (a folder that holds the package), by dotted name."""
    modules = [_read(source, file) for file in sorted(source.rglob("*.py"))]
    return {module.name: module for module in modules}


@cache
def our_package() -> dict[str, Module]:
    found = read_package(ROOT / "src")
    assert PACKAGE in found, f"no package {PACKAGE} below {ROOT / 'src'}"
    return found


def _read(source: Path, file: Path) -> Module:
    below = file.relative_to(source)
    is_package = below.name == "__init__.py"
    parts = below.parent.parts if is_package else (*below.parent.parts, below.stem)
    text = file.read_text(encoding="utf-8")
    return Module("/".join(below.parts[1:]), ".".join(parts), is_package, ast.parse(text, str(file)), text)


def imports_of(module: Module, known: dict[str, Module]) -> list[Import]:
    """All imports of our own modules: at the top, in functions, under TYPE_CHECKING, and by `import_module("…")`."""
    return [
        Import(module, name, getattr(node, "lineno", 0), lazy, typing)
        for node, lazy, typing in walk_with_context(module.tree)
        for name in _imported_names(node, module, known)
        if name == PACKAGE or name.startswith(PACKAGE + ".")
    ]


def walk_with_context(tree: ast.AST, lazy: bool = False, typing: bool = False) -> Iterator[tuple[ast.AST, bool, bool]]:
    """Every node, with whether it stands inside a function, and whether inside `if TYPE_CHECKING:`."""
    for field, value in ast.iter_fields(tree):
        only_typing = isinstance(tree, ast.If) and field == "body" and _is_type_checking(tree.test)
        in_function = isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                context = (lazy or in_function, typing or only_typing)
                yield child, *context
                yield from walk_with_context(child, *context)


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _imported_names(node: ast.AST, module: Module, known: dict[str, Module]) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [_nearest(alias.name, known) for alias in names]
        case ast.ImportFrom(names=names):
            origin = _origin(node, module)
            return [_nearest(f"{origin}.{alias.name}", known) for alias in names]
        case ast.Call(func=ast.Name(id="import_module" | "__import__"), args=[ast.Constant(value=str(name)), *_]):
            return [_nearest(name, known)]
        case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name)), *_]):
            return [_nearest(name, known)]
    return []


def _origin(node: ast.ImportFrom, module: Module) -> str:
    """The module after `from`, with leading dots resolved."""
    if not node.level:
        return node.module or ""
    package = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    base = package[: len(package) - (node.level - 1)]
    return ".".join([*base, *([node.module] if node.module else [])])


def _nearest(name: str, known: dict[str, Module]) -> str:
    """`holdfast.ports.Work` is a name in the module holdfast.ports: the longest known prefix is what is imported.

    An import of something that is not there yet keeps its own name, so that its layer is judged all the same.
    """
    candidate = name
    while candidate and candidate != PACKAGE:
        if candidate in known:
            return candidate
        candidate = candidate.rpartition(".")[0]
    return PACKAGE if candidate == PACKAGE and name.count(".") == 1 else name


def references(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Every use of an imported or built-in name, spelled in full (`time.sleep` however it was imported).

    What is imported under TYPE_CHECKING does not exist when the program runs, so it is not a use.
    """
    aliases: dict[str, str] = {}
    for node, _lazy, typing in walk_with_context(tree):
        if not typing:
            aliases |= _names_bound_by(node)
    for node, _lazy, typing in walk_with_context(tree):
        match node:
            case ast.Attribute():
                if (base := _leftmost(node)) in aliases:
                    yield node, f"{aliases[base]}.{ast.unparse(node).partition('.')[2]}"
            case ast.Name(id=name, ctx=ast.Load()) if name in aliases or hasattr(builtins, name):
                yield node, aliases.get(name, name)
            case ast.Import() | ast.ImportFrom() if not typing:
                for full_name in _names_bound_by(node).values():
                    yield node, full_name


def _leftmost(node: ast.expr) -> str:
    """The name that a chain of attributes begins with; empty where it begins with something else."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _names_bound_by(node: ast.AST) -> dict[str, str]:
    """What each imported name stands for: `from time import sleep as nap` gives nap -> time.sleep."""
    match node:
        case ast.Import(names=names):
            firsts = [(alias, alias.name.partition(".")[0]) for alias in names]
            return {alias.asname or first: alias.name if alias.asname else first for alias, first in firsts}
        case ast.ImportFrom(module=str(origin), level=0, names=names):
            return {alias.asname or alias.name: f"{origin}.{alias.name}" for alias in names}
    return {}


def string_constants(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every string in the code except docstrings, with its line; the constant parts of an f-string are one string."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside.add(id(node.value))  # a docstring
        if isinstance(node, ast.JoinedStr):
            inside.update(id(value) for value in node.values)
            yield node.lineno, "".join(_text(value) for value in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, node.value


def _text(value: ast.expr) -> str:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else "{}"
