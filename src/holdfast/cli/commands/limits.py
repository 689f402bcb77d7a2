"""`holdfast limits [set HOST]`: what each host is owed, and setting it for all jobs, also while they run."""

from __future__ import annotations

from typing import Any

from holdfast.cli.call import Call
from holdfast.cli.parser import Parser
from holdfast.cli.screen.listing import Listing, limit_argument, show
from holdfast.cli.screen.values import duration, show_duration, whole
from holdfast.errors import NotFound, UsageError
from holdfast.model.keys import seed_address
from holdfast.views.documents import every_host, host_document

EPILOG = (
    "What is set holds for every job that meets the host, from the next request on. Of a host's own limits, a job's\n"
    "--delay and --per-host, and the host's Crawl-delay, the stricter one holds: --delay 0s leaves it to the others.\n"
    "It holds until it is set again, here or by another value in holdfast.toml."
)
FIELDS = (
    "host", "delay_seconds", "concurrency", "crawl_delay_seconds", "in_flight", "backs_off_until", "breaker",
    "failures", "robots_at",
)  # fmt: skip
HEAD = ("HOST", "DELAY", "AT ONCE", "CRAWL-DELAY", "IN FLIGHT", "BACKS OFF UNTIL", "BREAKER", "ROBOTS.TXT READ")


def arguments(parser: Parser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("words", nargs="*", metavar="[set] HOST", help="one host; with `set`, to limit it")
    parser.add_argument("--delay", type=duration(0, 3600), metavar="DUR", help="the shortest time between its requests")
    parser.add_argument("--concurrency", type=whole(1, 256), metavar="N", help="at most so many requests at once")
    limit_argument(parser)


def run(call: Call) -> int:
    options = call.options
    host, sets = _read(options.words)
    if sets:
        if options.delay is None and options.concurrency is None:
            raise UsageError(f"what is to be set for {host}?", hint=f"holdfast limits set {host} --delay 2s")
        return _set(call, host)
    if options.delay is not None or options.concurrency is not None:
        raise UsageError("limits are set by: limits set HOST", hint="holdfast limits set judicial.ky --delay 2s")
    with call.existing_ledger() as ledger:
        if host and not ledger.hosts(host=host):
            raise NotFound(f"no job has met the host {host}", hint="holdfast limits")
        rows = (host_document(look, call.clock.wall_ms()) for look in every_host(ledger, host or None))
        show(call, LISTING, rows, options.limit)
    return 0


def host_of(text: str) -> str:
    """The host that a person names, by itself or in a URL; a port belongs to it."""
    return seed_address(text).host


def _read(words: list[str]) -> tuple[str, bool]:
    sets = words[:1] == ["set"]
    names = words[1:] if sets else words
    if len(names) > 1 or (sets and not names):
        raise UsageError("limits takes one host", hint="holdfast limits set judicial.ky --delay 2s --concurrency 1")
    return host_of(names[0]) if names else "", sets


def _set(call: Call, host: str) -> int:
    delay, concurrency = call.options.delay, call.options.concurrency
    delay_ms = None if delay is None else round(delay * 1000)
    typed = [] if delay is None else [f"delay {show_duration(delay)}"]
    typed += [] if concurrency is None else [f"concurrency {concurrency}"]
    because = f"{host}: {', '.join(typed)}"
    with call.ledger() as ledger:
        look = ledger.limit_host(host, delay_ms=delay_ms, concurrency=concurrency, actor="cli", because=because)
    if call.globals.json or call.globals.jsonl:
        call.console.document({"schema": "holdfast.host/1", **host_document(look, call.clock.wall_ms())})
    else:
        pace = [] if look.delay_ms is None else [f"at least {show_duration(look.delay_ms / 1000)} between requests"]
        pace += [] if look.concurrency is None else [f"at most {look.concurrency} at once"]
        call.console.say(f"{host}: {', '.join(pace)}, for every job from the next request on.")
    return 0


def _cells(row: dict[str, Any]) -> list[str]:
    delay, crawl_delay = row["delay_seconds"], row["crawl_delay_seconds"]
    return [
        row["host"],
        "-" if delay is None else show_duration(delay),
        str(row["concurrency"] or "-"),
        "-" if crawl_delay is None else show_duration(crawl_delay),
        str(row["in_flight"]),
        row["backs_off_until"] or "-",
        row["breaker"],
        row["robots_at"] or "-",
    ]


LISTING = Listing(
    noun="hosts",
    fields=FIELDS,
    head=HEAD,
    cells=_cells,
    empty="No job has met a host yet.",
    cursor=lambda row: str(row["host"]),
)
