"""What separates the cells of a list: found out, never asked for."""

from __future__ import annotations

import csv
import io

DELIMITERS = ",;\t|"
LINES_LOOKED_AT = 20


def header_cells(text: str, delimiter: str) -> list[str]:
    """The cells of the first row of a text; none where it cannot be read so."""
    start = "".join(text.lstrip().splitlines(keepends=True)[:LINES_LOOKED_AT])
    try:
        return next(csv.reader(io.StringIO(start, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return []


def delimiter_of(text: str) -> str:
    """The one that splits the header into most cells, quotes respected; a list of one column has a comma."""
    return max(DELIMITERS, key=lambda delimiter: len(header_cells(text, delimiter)))  # the first of equals
