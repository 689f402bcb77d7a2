"""Blocks of Markdown: paragraphs, headings, lists, quotations, code, tables. A block is a list of lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from holdfast.recipes.site.markdown.addresses import Addresses
from holdfast.recipes.site.markdown.code import code_text, is_code_block, language_of
from holdfast.recipes.site.markdown.escaping import SPACES, escaped_start, fenced
from holdfast.recipes.site.markdown.inline import Inline
from holdfast.recipes.site.markdown.tables import captions_of, grid_of, is_layout, rows_of, table_lines
from holdfast.recipes.site.markdown.tree import BLOCKS, HEADINGS, Node

Block = list[str]
LISTS = frozenset({"ul", "ol", "menu", "dir"})
TITLES = frozenset({"dt", "summary", "legend"})  # lines that head what follows them
_TITLE_CLASS = re.compile(r"(?:^|\s)(?:admonition-title|admonitionheading)(?=$|\s)")
_BREAKS = re.compile(r"[ \t]*\n[ \t]*")
_BREAKS_AT_ENDS = re.compile(r"^(?:  \n)+|(?:  \n)+$")
_GAPS = re.compile(r" {2,}(?!\n|$)")
_ITEM = re.compile(r"(?:- |\d+\. )")


class BlockWriter:
    """Writes the blocks of one page."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._inline = Inline(addresses)
        self._href = ""  # of a link around blocks: the first of them becomes the link
        self._writers = {
            "hr": lambda _: [["---"]],
            "blockquote": self._quotation,
            "table": self._table,
            **dict.fromkeys(HEADINGS, self._heading),
            **dict.fromkeys(LISTS, self._list),
            **dict.fromkeys(TITLES, self._title),
        }

    def of(self, node: Node) -> list[Block]:
        """The blocks that an element makes."""
        if is_code_block(node):
            return _each(fenced(code_text(node), language_of(_innermost(node))))
        writer = self._writers.get(node.tag)
        if writer is not None:
            return writer(node)
        if node.tag == "p" and not node.has_block:
            return self._title(node) if _TITLE_CLASS.search(node.classes) else _each(self._paragraph(node.children))
        grid = grid_of(node) if node.tag == "div" and node.has_block else []
        return [table_lines(grid, self._inline)] if grid else self.within(node)

    def within(self, node: Node) -> list[Block]:
        """The blocks of what is in an element; running text between its blocks is paragraphs."""
        blocks: list[Block] = []
        run: list[Node | str] = []
        for child in node.children:
            if isinstance(child, str) or (child.tag not in BLOCKS and not child.has_block):
                run.append(child)
                continue
            blocks += self._flushed(run)
            if child.tag in BLOCKS:
                blocks += self.of(child)
            elif child.tag == "a":
                blocks += self._linked(child)
            else:
                blocks += self.within(child)
        return blocks + self._flushed(run)

    def _flushed(self, run: list[Node | str]) -> list[Block]:
        blocks = _each(self._paragraph(run)) if run else []
        run.clear()
        return blocks

    def _paragraph(self, children: Sequence[Node | str]) -> Block:
        text = self._linked_text(self._inline.text(children, in_link=bool(self._href)))
        text = text.strip(" \n")
        if "\n" in text:
            text = _BREAKS_AT_ENDS.sub("", _BREAKS.sub("  \n", text))
        if not text.strip():
            return []
        return [escaped_start(_GAPS.sub(" ", line) if "  " in line else line) for line in text.split("\n")]

    def _linked(self, node: Node) -> list[Block]:
        """A link around blocks, such as a card. A link cannot hold blocks in Markdown: its first one becomes it."""
        outer, self._href = self._href, self._addresses.absolute(node.get("href")) or self._href
        blocks = self.within(node)
        self._href = outer
        return blocks

    def _linked_text(self, text: str) -> str:
        if not self._href or not text.strip():
            return text
        href, self._href = self._href, ""
        return f"[{SPACES.sub(' ', text).strip()}]({href})"

    def _heading(self, node: Node) -> list[Block]:
        text = self._linked_text(self._inline.text(node.children, in_link=bool(self._href)))
        text = SPACES.sub(" ", text).strip()
        if text.endswith("#"):
            text = text[:-1] + "\\#"
        return [[f"{'#' * HEADINGS[node.tag]} {text}"]] if text else []

    def _title(self, node: Node) -> list[Block]:
        """A line in bold, where it is one line; else its blocks."""
        if node.has_block:
            return self.within(node)
        text = SPACES.sub(" ", self._linked_text(self._inline.text(node.children, plain=True))).strip()
        return [[f"**{text}**"]] if text else []

    def _quotation(self, node: Node) -> list[Block]:
        return _each([f"> {line}" if line else ">" for line in joined(self.within(node))])

    def _table(self, node: Node) -> list[Block]:
        blocks = [block for caption in captions_of(node) for block in self.within(caption)]
        rows = rows_of(node)
        if is_layout(node, rows):
            return blocks + [block for row in rows for cell in row for block in self.within(cell)]
        return blocks + _each(table_lines(rows, self._inline))

    def _list(self, node: Node) -> list[Block]:
        number = _start(node) if node.tag == "ol" else None
        items: list[Block] = []
        loose: list[Block] = []
        for child in node.children:
            if isinstance(child, str):
                loose += _each(self._paragraph([child])) if child.strip() else []
                continue
            if child.tag in LISTS and items:  # a list directly in a list belongs to the item before it
                items[-1] += [f"  {line}" if line else "" for line in joined(self._list(child))]
                continue
            if child.tag == "li":
                blocks = self.within(child)
            elif child.tag in BLOCKS:  # a table directly in a list, as older javadoc writes it, is a table
                blocks = self.of(child)
            else:
                blocks = _each(self._paragraph([child]))
            if not blocks:
                continue
            items.append(_item(blocks, "- " if number is None else f"{number}. "))
            number = None if number is None else number + 1
        return loose + _each(_spaced(items))


def joined(blocks: Iterable[Block], *, tight: bool = False) -> Block:
    """The lines of all blocks, an empty line between two of them."""
    lines: Block = []
    for block in blocks:
        if lines and not tight:
            lines.append("")
        lines += block
    return lines


def _item(blocks: list[Block], mark: str) -> Block:
    """An item of a list. A list directly behind its text needs no empty line before it."""
    is_tight = all(at == 0 or _ITEM.match(block[0]) for at, block in enumerate(blocks))
    lines = joined(blocks, tight=is_tight)
    indent = " " * len(mark)
    return [mark + lines[0], *(indent + line if line else "" for line in lines[1:])]


def _spaced(items: list[Block]) -> Block:
    """The items; with empty lines between them where any of them has one."""
    return joined(items, tight=not any("" in item for item in items))


def _each(block: Block) -> list[Block]:
    return [block] if block else []


def _start(node: Node) -> int:
    said = node.get("start").strip()
    return int(said) if said.isascii() and said.isdigit() and len(said) < 9 else 1


def _innermost(node: Node) -> Node:
    """mdBook and others put a `pre` into a `pre`."""
    return next((child for child in node.elements() if child.tag == "pre"), node)
