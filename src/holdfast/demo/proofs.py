"""What a demo must show before it may call itself a success: one sentence per proof, held or broken. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from holdfast.audit import witness
from holdfast.demo.sighting import Sighting
from holdfast.demo.stretch import Stretch, asked_again, asked_when_settled, asked_without_cause

FINISHED = (0, 3)  # 3: complete, and something failed; a world may have a dead link on purpose
# What a correct crawl skips, by the oracle's lists, and how that is called.
SKIPPED = {
    "redirects": "moved",
    "robots": "forbidden by robots.txt",
    "soft_404": "missing with status 200",
    "out_of_scope": "moved to another site",
    "limit": "in traps",
    "too_deep": "beyond the depth",
    "robots_files": "robots.txt itself",
}
WAIT_S_MAX = 10.0  # longer than any slow computer needs: then it waited for a dead lease


class DemoProof(msgspec.Struct, frozen=True):
    holds: bool
    says: str


class KilledCrawl(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the demo saw of one crawl that was killed once."""

    killed: Stretch
    resumed: Stretch
    end: Sighting | None
    oracle: dict[str, Any]
    exported: Sequence[tuple[str, str]]
    verify_code: int

    @property
    def stretches(self) -> tuple[Stretch, Stretch]:
        return self.killed, self.resumed


def prove(case: KilledCrawl) -> list[DemoProof]:
    return [_books(case), _pages(case), _price(case), _never_again(case), _at_once(case), _verified(case)]


def _books(case: KilledCrawl) -> DemoProof:
    """`completed` may be said only of books that balance, with exactly the failures that the world has."""
    end = case.end
    if end is None:
        return DemoProof(False, "The ledger has no job.")
    dead = len(case.oracle["missing"])
    left = {word: n for kind, word in SKIPPED.items() if (n := len(case.oracle.get(kind, ())))}
    as_planned = (end.counts.failed, end.counts.skipped) == (dead, sum(left.values()))
    said = case.resumed.code in FINISHED and end.job.status == "completed"
    skipped = ", ".join(f"{n} {word}" for word, n in left.items())
    why = f"The books balance: {dead} failed is what the site has of dead links; skipped: {skipped}."
    return DemoProof(said and as_planned and end.balances, f"{end.books}\n{why}")


def _pages(case: KilledCrawl) -> DemoProof:
    wanted = {row["url"]: row["sha256"] for row in case.oracle["pages"]}
    seen = case.end.seen if case.end else ()
    stored = {row.url: row.sha256 for row in seen if row.status == "succeeded"}
    missing = [url for url, sha256 in wanted.items() if stored.get(url) != sha256]
    exported = dict(case.exported)
    twice = witness.doubled(url for url, _ in case.exported)
    holds = not missing and not twice and wanted.items() <= exported.items()
    if missing:
        return DemoProof(False, f"{len(missing)} of {len(wanted)} pages are missing or differ, such as {missing[0]}")
    return DemoProof(holds, f"All {len(wanted)} pages are there, each once, every byte as it was served (sha256).")


def _price(case: KilledCrawl) -> DemoProof:
    healing = set(case.oracle.get("healing", ()))  # answered badly at first: asked for again, as it should be
    again = asked_again(case.stretches)[0] - healing
    strange = [url for url in asked_without_cause(case.stretches) if url not in healing]
    if strange:
        return DemoProof(False, f"{_pages_were(strange)} asked for again without cause, such as {strange[0]}")
    requests = sum(len(stretch.asks) for stretch in case.stretches)
    twice = f"{_pages_were(sorted(again))} asked for twice, in flight at the kill" if again else "none was repeated"
    return DemoProof(True, f"The site's own log: {requests} requests; {twice}.")


def _never_again(case: KilledCrawl) -> DemoProof:
    late = asked_when_settled(case.stretches)
    done = len(case.killed.left.settled) if case.killed.left else 0
    if late:
        return DemoProof(False, f"{_pages_were(late)} fetched again although done, such as {late[0]}")
    return DemoProof(True, f"None of the {done} that were recorded as done was asked for again.")


def _at_once(case: KilledCrawl) -> DemoProof:
    waited = first_new_page_s(case)
    if waited is None:
        return DemoProof(False, "After the restart no new page was asked for.")
    return DemoProof(waited < WAIT_S_MAX, f"{waited:.1f} s from the restart to the first new page.")


def _verified(case: KilledCrawl) -> DemoProof:
    if case.verify_code:
        return DemoProof(False, f"holdfast verify ended with {case.verify_code}.")
    return DemoProof(True, "holdfast verify: every law of the ledger holds.")


def first_new_page_s(case: KilledCrawl) -> float | None:
    """From exec to the first request for a page that nobody had asked for before."""
    new = [ask["at_ns"] for ask in case.resumed.asks if ask["key"] not in case.killed.urls]
    return (new[0] - case.resumed.began_ns) / 1e9 if new else None


def _pages_were(urls: Sequence[str]) -> str:
    return "1 page was" if len(urls) == 1 else f"{len(urls)} pages were"
