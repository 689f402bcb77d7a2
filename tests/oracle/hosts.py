"""Politeness in memory: turns at hosts that no claim stands for, and robots.txt, kept for all jobs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from holdfast.errors import LostLease
from holdfast.model.host import FORBADE, Breaker, HostLook, KeptRobots, RobotsAnswer, Turn, Visited
from holdfast.model.states import State
from holdfast.model.target import Claimed
from holdfast.policy.politeness import breaker
from oracle.books import add_event, chunk_of, read_job
from oracle.state import HostRow, RobotsRow, Tables, Visit

BUSY_POLL_MS = 50  # nobody can say when a full host gets a free place
LEAP_MS = 1_000


def host_row(tables: Tables, host: str) -> HostRow:
    return tables.hosts.get(host, HostRow())


def busy(tables: Tables, host: str) -> int:
    """How many requests the host may have to answer just now: targets in hand, and visits from elsewhere."""
    in_hand = sum(row.state == State.HELD and row.found.host == host for row in tables.targets.values())
    return in_hand + sum(visit.host == host for visit in tables.visits.values())


def is_full(tables: Tables, host: str, per_host: int) -> bool:
    conc = host_row(tables, host).conc
    return busy(tables, host) >= (min(per_host, conc) if conc else per_host)


def turn(
    tables: Tables,
    host: str,
    claimed: Claimed | None,
    *,
    ticket: str,
    delay_ms: int,
    per_host: int,
    patience_ms: int,
) -> Turn:
    """The host's next moment, if it is near enough. Elsewhere than at the target's own host a lease takes a slot."""
    if claimed is not None:
        _hold_fast(tables, claimed)
    if ticket in tables.visits:
        return Turn(True, delay_ms)
    row, now, away = host_row(tables, host), tables.at.wall_ms, claimed is not None and host != claimed.host
    if away and is_full(tables, host, per_host):
        return Turn(False, BUSY_POLL_MS)
    at = max(row.ready_at, now)
    if at - now > patience_ms:
        return Turn(False, at - now)
    tables.hosts[host] = replace(row, next_at=at + max(delay_ms, row.own_delay_ms))
    if away and claimed is not None:
        tables.visits[ticket] = Visit(host, claimed.chunk)
    return Turn(True, at - now)


def leave(tables: Tables, ticket: str, visited: Visited) -> None:
    visit = tables.visits.pop(ticket, None)
    if visit is not None:
        tell(tables, visit.host, visited)


def tell(tables: Tables, host: str, visited: Visited) -> None:
    if visited.heard is not None:
        turn_breaker(tables, host, [visited.heard])
    if visited.hold_ms:
        row = host_row(tables, host)
        until = max(row.hold_until, tables.at.wall_ms + visited.hold_ms)
        tables.hosts[host] = replace(row, hold_until=until)


def end_visits(tables: Tables, chunk: int) -> None:
    """Called by whatever ends a lease."""
    for ticket in [ticket for ticket, visit in tables.visits.items() if visit.chunk == chunk]:
        del tables.visits[ticket]


def robots(tables: Tables, origin: str, agent: str, claimed: Claimed, *, insist: bool) -> RobotsAnswer:
    """What is kept, or whose turn it is to ask: one asker at a time, while its lease lasts."""
    row = tables.robots.get((origin, agent), RobotsRow())
    now = tables.at.wall_ms
    if row.kept is not None and row.expires_at > now and row.fetched_at <= now + LEAP_MS:
        kept = KeptRobots(
            status=row.kept.status,
            body=row.kept.body,
            tries=row.kept.tries,
            because=row.kept.because,
            life_ms=row.expires_at - now,
        )
        return RobotsAnswer(kept)
    _hold_fast(tables, claimed)
    mine = (claimed.chunk, claimed.epoch)
    if not insist and row.asker is not None and row.asker != mine and _is_held(tables, *row.asker):
        return RobotsAnswer()
    tables.robots[origin, agent] = replace(row, asker=mine)
    return RobotsAnswer(ask=True, tries=row.kept.tries if row.kept else 0)


def keep_robots(tables: Tables, origin: str, host: str, agent: str, kept: KeptRobots | None) -> None:
    row = tables.robots.get((origin, agent))
    if row is None:
        return
    if kept is None:
        tables.robots[origin, agent] = replace(row, asker=None)
        return
    now = tables.at.wall_ms
    tables.robots[origin, agent] = RobotsRow(kept, now, now + kept.life_ms)
    if kept.status:
        tables.hosts[host] = replace(host_row(tables, host), crawl_delay_ms=kept.crawl_delay_ms)


def turn_breaker(tables: Tables, host: str, heard: Sequence[str]) -> int:
    """A host that failed five times in a row rests; one that answers is as good as new. How often it said 403."""
    row, now = host_row(tables, host), tables.at.wall_ms
    before = Breaker(row.fails, row.trips, bool(row.trips) and row.hold_until > now, row.forbade)
    after, rest_ms = breaker(before, heard)
    hold_until = max(row.hold_until, now + rest_ms) if rest_ms else row.hold_until
    tables.hosts[host] = replace(
        row, fails=after.fails, trips=after.trips, forbade=after.forbade, hold_until=hold_until
    )
    return after.forbade if FORBADE in heard else 0


def limit_host(
    tables: Tables, host: str, *, delay_ms: int | None, concurrency: int | None, actor: str, because: str
) -> HostLook:
    for job in sorted({row.job for row in tables.targets.values() if row.found.host == host}):
        before = read_job(tables, job)
        if (status := before.status) not in ("completed", "cancelled"):
            control = chunk_of(tables, job, "control").id
            add_event(tables, control, "job", "limit", status, status, actor=actor, because=because)
            tables.jobs[job] = replace(before, version=before.version + 1)
    row = host_row(tables, host)
    tables.hosts[host] = replace(
        row,
        delay_ms=row.delay_ms if delay_ms is None else delay_ms,
        conc=row.conc if concurrency is None else concurrency,
    )
    return hosts(tables, host=host, after="", limit=1)[0]


def configure_host(tables: Tables, host: str, *, delay_ms: int | None, concurrency: int | None) -> HostLook:
    """What a file says; where it says what it said before, what people set since stays."""
    row = host_row(tables, host)
    if delay_ms not in (None, row.said_delay_ms):
        row = replace(row, delay_ms=delay_ms, said_delay_ms=delay_ms)
    if concurrency not in (None, row.said_conc):
        row = replace(row, conc=concurrency, said_conc=concurrency)
    tables.hosts[host] = row
    return hosts(tables, host=host, after="", limit=1)[0]


def hosts(tables: Tables, *, host: str | None, after: str, limit: int) -> list[HostLook]:
    """Hosts by name, page by page, or the one that is named."""
    found = {row.found.host for row in tables.targets.values() if row.found.host} | set(tables.hosts)
    wanted = sorted(name for name in found if (name > after if host is None else name == host))
    return [_look(tables, name) for name in wanted[:limit]]


def _look(tables: Tables, host: str) -> HostLook:
    row = host_row(tables, host)
    rows = [tables.robots.get((f"{scheme}://{host}", "holdfast")) for scheme in ("http", "https")]
    fetched = [each.fetched_at for each in rows if each is not None and each.kept is not None and each.kept.status]
    return HostLook(
        host=host,
        delay_ms=row.delay_ms,
        concurrency=row.conc,
        crawl_delay_ms=row.crawl_delay_ms,
        in_flight=busy(tables, host),
        next_at=row.next_at,
        hold_until=row.hold_until,
        fails=row.fails,
        trips=row.trips,
        robots_at=max(fetched, default=None),
    )


def _hold_fast(tables: Tables, claimed: Claimed) -> None:
    if not _is_held(tables, claimed.chunk, claimed.epoch):
        raise LostLease(f"chunk {claimed.chunk} is held by another worker now")


def _is_held(tables: Tables, chunk: int, epoch: int) -> bool:
    row = tables.chunks.get(chunk)
    return row is not None and row.is_held_under(epoch)
