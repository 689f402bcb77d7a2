"""What a job that fetches nothing waits for, in one sentence: the host, until when, and why (ux 1.6). Reads only."""

from __future__ import annotations

from holdfast.model.host import HostLook
from holdfast.model.job import Counts, Job
from holdfast.model.look import Upcoming
from holdfast.model.units import show_duration
from holdfast.policy.waiting import clock_time
from holdfast.ports import Ledger

NOTABLE_MS = 1500  # shorter waits are the pace of any crawl


def waited_for(ledger: Ledger, job: Job, counts: Counts, now_ms: int) -> str:
    """`waiting for example.org until 12:03:10 UTC (…)`; empty while something is fetched, or may be."""
    if job.status != "in_progress" or job.requested or counts.in_progress or not counts.pending:
        return ""
    for row in ledger.upcoming(job.id, limit=1):
        until = max(row.not_before or 0, row.next_at, row.hold_until)
        if until - now_ms >= NOTABLE_MS:
            return f"waiting for {row.host} until {clock_time(until)} ({_why(ledger, job, row, until, now_ms)})"
    return ""


def hosts_held(ledger: Ledger, job: Job, now_ms: int, limit: int = 3) -> list[str]:
    """Hosts that are left alone for a while although they have pending targets, the fullest first. Users would not
    notice them while the job's other hosts are asked."""
    if job.status != "in_progress":
        return []
    held = [row for row in ledger.hosts_waiting(job.id) if row.pending and row.hold_until - now_ms >= NOTABLE_MS]
    lines = [
        f"{row.host} is left alone until {clock_time(row.hold_until)}, {row.pending} pending there"
        for row in held[:limit]
    ]
    return [*lines, f"and {len(held) - limit} more hosts: holdfast frontier {job.word}"] if len(held) > limit else lines


def _why(ledger: Ledger, job: Job, row: Upcoming, until: int, now_ms: int) -> str:
    if until == row.hold_until:
        looks = ledger.hosts(host=row.host)
        rests = bool(looks) and looks[0].breaker(now_ms) == "open"
        if rests:
            return "it failed again and again, and is left alone"
        return "it asked us to wait: 429, 5xx or a block page"
    if until == row.not_before:
        return row.because or "its next attempt is due then"
    return _pace(ledger.hosts(host=row.host), job)


def _pace(looks: list[HostLook], job: Job) -> str:
    """Whose pace it is: the longest of what robots.txt, `limits set` and the job ask for."""
    asked = [(job.options.delay_ms, "--delay")]
    for look in looks:
        asked += [(look.crawl_delay_ms or 0, "the Crawl-delay of its robots.txt"), (look.delay_ms or 0, "its limit")]
    delay_ms, whose = max(asked)
    return f"{whose}, {show_duration(delay_ms / 1000)}"
