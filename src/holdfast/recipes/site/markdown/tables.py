"""Tables: rows of GFM, or, where a table only arranges the page, what is in its cells, one after another."""

from __future__ import annotations

import re

from holdfast.recipes.site.markdown.inline import Inline
from holdfast.recipes.site.markdown.tree import HEADINGS, Node

SPAN_MAX = 50
CELLS_MAX = 100_000
PARTS = frozenset({"tbody", "thead", "tfoot", "form"})
LARGE = frozenset(HEADINGS) | {"table", "pre", "ul", "ol", "dl", "blockquote"}
_BREAKS_AT_ENDS = re.compile(r"^(?:\s*<br>)+\s*|(?:\s*<br>)+\s*$")
_BAR = re.compile(r"(?<!\\)\|")
_GRID = re.compile(r"(?:^|\s)summary-table (two|three|four)-column-summary(?=$|\s)")
COLUMNS = {"two": 2, "three": 3, "four": 4}
_SPACES = re.compile(r"\s+")

Row = list[Node]


def rows_of(table: Node) -> list[Row]:
    """The cells of every row that has any."""
    found: list[Row] = []
    waiting = list(reversed(list(table.elements())))
    while waiting:
        node = waiting.pop()
        if node.tag == "tr":
            cells = [cell for cell in node.elements() if cell.tag in ("td", "th")]
            if cells:
                found.append(cells)
        elif node.tag in PARTS:
            waiting += reversed(list(node.elements()))
    return found


def grid_of(node: Node) -> list[Row]:
    """The rows of what Javadoc shows as a table and writes as a row of `div`; none where it is no such thing."""
    said = _GRID.search(node.classes)
    if said is None:
        return []
    cells, width = list(node.elements()), COLUMNS[said[1]]
    has_large = any(cell.holds(LARGE) for cell in cells)
    return [] if len(cells) % width or has_large else [cells[at : at + width] for at in range(0, len(cells), width)]


def captions_of(table: Node) -> list[Node]:
    return [node for node in table.elements() if node.tag == "caption"]


def is_layout(table: Node, rows: list[Row]) -> bool:
    """Whether a table arranges blocks on the page instead of showing values in columns."""
    if table.get("role") == "presentation":
        return True
    widest = max((sum(1 for cell in row if cell.length or cell.first("img")) for row in rows), default=0)
    if widest <= 1 or any(cell.first("table") for row in rows for cell in row):
        return True
    has_large = any(cell.holds(LARGE) for row in rows for cell in row)
    has_heads = any(cell.tag == "th" for row in rows for cell in row)
    return has_large and (len(rows) <= 1 or (widest <= 2 and not has_heads))


def table_lines(rows: list[Row], inline: Inline) -> list[str]:
    """A GFM table. Its first row is its head, as GFM has no table without one."""
    grid = _grid(rows, inline)
    width = max(len(row) for row in grid)
    lines = [_line(row, width) for row in grid]
    return [lines[0], "|" + " --- |" * width, *lines[1:]]


def _grid(rows: list[Row], inline: Inline) -> list[list[str]]:
    """Texts by row and column; what spans several columns or rows stands in the first of them."""
    grid: list[list[str]] = []
    taken: dict[int, int] = {}  # by column: in how many rows below it is still covered
    count = 0
    for row in rows:
        texts: list[str] = []
        for cell in row:
            _skip_covered(texts, taken)
            columns, down = _span(cell, "colspan"), _span(cell, "rowspan")
            if down > 1:
                taken.update({len(texts) + column: down for column in range(columns)})
            texts += [_cell(cell, inline), *[""] * (columns - 1)]
        _skip_covered(texts, taken)
        taken = {column: left - 1 for column, left in taken.items() if left > 1}
        grid.append(texts)
        count += len(texts)
        if count > CELLS_MAX:
            break
    return grid


def _skip_covered(texts: list[str], taken: dict[int, int]) -> None:
    """Leave empty what a cell of a row above covers. A cell of this row has covered itself already."""
    while len(texts) in taken and len(texts) < SPAN_MAX * SPAN_MAX:
        texts.append("")


def _span(cell: Node, name: str) -> int:
    said = cell.get(name).strip()
    return min(max(int(said), 1), SPAN_MAX) if said.isascii() and said.isdigit() and len(said) < 9 else 1


def _cell(cell: Node, inline: Inline) -> str:
    text = inline.text(cell.children, in_cell=True)
    text = _BREAKS_AT_ENDS.sub("", _SPACES.sub(" ", text)).strip()
    return _BAR.sub(r"\\|", text)


def _line(row: list[str], width: int) -> str:
    return "| " + " | ".join([*row, *[""] * (width - len(row))]) + " |"
