"""A list in its three forms (ux 3.4): a table for people, one JSON document, or one JSON object per line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.text import table
from holdfast.cli.screen.values import whole

TABLE_ROWS = 50
Row = dict[str, Any]


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """What a list is made of. `cells` makes a table's line of a row, `cursor` what the next page goes on after."""

    noun: str
    fields: Sequence[str]
    head: Sequence[str]
    cells: Callable[[Row], Sequence[str]]
    empty: str
    cursor: Callable[[Row], str]


def limit_argument(parser: Parser) -> None:
    parser.add_argument("--limit", type=whole(1, 10**12), metavar="N", help=f"at most N (all; {TABLE_ROWS} as a table)")


def show(call: Call, listing: Listing, rows: Iterable[Row], limit: int | None = None) -> None:
    """Show the rows, at most `limit` of them; a table says where it left some out."""
    call.console.fields(listing.fields)
    if call.globals.jsonl:
        for row in islice(rows, limit):
            call.console.document(row)
        return
    as_json = call.globals.json
    shown, more = _first(iter(rows), limit if as_json else limit or TABLE_ROWS)
    if as_json:
        call.console.listing(listing.noun, shown, next_cursor=listing.cursor(shown[-1]) if more else None)
    elif not shown:
        call.console.say(listing.empty)
    else:
        call.console.data(table(listing.head, [listing.cells(row) for row in shown]))
        if more:
            call.console.say(f"The first {len(shown)} are shown. More: --limit N, all of them: --jsonl")


def _first(rows: Iterator[Row], limit: int | None) -> tuple[list[Row], bool]:
    """Up to `limit` rows, and whether there are more."""
    if limit is None:
        return list(rows), False
    shown = list(islice(rows, limit))
    return shown, len(shown) == limit and next(rows, None) is not None
