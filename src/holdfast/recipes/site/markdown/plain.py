"""The content of a page as plain text: blocks on lines of their own, code as it is, no marks."""

from __future__ import annotations

from holdfast.recipes.site.markdown.boilerplate import is_certain
from holdfast.recipes.site.markdown.code import code_text, is_code_block
from holdfast.recipes.site.markdown.escaping import spaced
from holdfast.recipes.site.markdown.tree import BLOCKS, Node

CELLS = frozenset({"td", "th"})


def plain_text(node: Node) -> str:
    """Lines of text, none of them empty but within code."""
    lines: list[str] = []
    run: list[str] = []
    _gather(node, lines, run)
    _flush(lines, run)
    return "\n".join(lines)


def _gather(node: Node, lines: list[str], run: list[str]) -> None:
    for child in node.children:
        if isinstance(child, str):
            run.append(child)
        elif child.tag == "br":
            _flush(lines, run)
        elif child.tag in CELLS:
            _gather(child, lines, run)
            run.append(" ")
        elif is_code_block(child):
            _flush(lines, run)
            code = "\n".join(line.rstrip() for line in code_text(child).replace("\xa0", " ").splitlines()).strip("\n")
            lines += [code] if code.strip() else []
        elif child.tag in BLOCKS:
            _flush(lines, run)
            _gather(child, lines, run)
            _flush(lines, run)
        elif not (is_certain(child) and child.tag not in ("a", "span")):
            _gather(child, lines, run)


def _flush(lines: list[str], run: list[str]) -> None:
    text = spaced("".join(run)).strip()
    run.clear()
    if text:
        lines.append(text)
