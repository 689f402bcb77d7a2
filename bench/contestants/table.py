"""The contestants in the order of the table. The first two are always comparable: all ratios are against `aiohttp`."""

from __future__ import annotations

from bench.contestants import holdfast_rows, scripts
from bench.contestants.crawl import Contestant

YARDSTICK = "aiohttp"
CONTESTANTS = (
    Contestant("holdfast", "Holdfast", "every page", holdfast_rows.one_process),
    Contestant("aiohttp", "aiohttp + set() + selectolax, by hand", "no", scripts.by_hand),
    Contestant("scrapy", "Scrapy with JOBDIR", "on a clean stop only", scripts.scrapy),
    Contestant("processes", "Holdfast, two processes", "every page", holdfast_rows.several_processes),
    Contestant("postgres", "Holdfast on PostgreSQL", "every page", holdfast_rows.on_postgres),
    Contestant("reader", "Holdfast, read 10 times a second", "every page", holdfast_rows.with_reader),
)


def chosen(names: list[str], *, all_others: bool) -> list[Contestant]:
    """The contestants of these names, in the table's order; or all that this version of Holdfast can be."""
    known = {contestant.name: contestant for contestant in CONTESTANTS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"there is no contestant {unknown[0]!r}; there are: {', '.join(known)}")
    if not all_others:
        return [known[name] for name in known if name in names]
    return [one for one in CONTESTANTS if one.name != "processes" or holdfast_rows.knows_processes()]
