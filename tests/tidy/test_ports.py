"""A seam that many parts fulfil stays small: no protocol of `ports` has ten methods of its own."""

from __future__ import annotations

import ast

from tidy.source_tree import our_package

METHODS_MAX = 9


def methods_of(protocol: ast.ClassDef) -> int:
    return sum(isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) for part in protocol.body)


def test_protocols_have_fewer_than_ten_methods() -> None:
    sizes = {
        node.name: methods_of(node)
        for module in our_package().values()
        if module.part == "ports"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    }
    assert {name: size for name, size in sizes.items() if size > METHODS_MAX} == {}
    assert sizes
