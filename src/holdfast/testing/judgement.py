"""What the evidence of a trial says: one line per promise, held or broken. Pure; shares no code with the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from holdfast.audit import witness
from holdfast.demo.stretch import (
    asked_again,
    asked_when_settled,
    asked_without_cause,
    percentile,
    prices,
    restarts_s,
    takeovers_s,
)
from holdfast.testing.trial import CONCURRENCY, Evidence, TrialPlan

AGAIN_MAX = 2 * CONCURRENCY
FIRST_FETCH_S_P95 = 1.5
FIRST_FETCH_S_MAX = 3.0
FIRST_FETCH_S_STUCK = 10.0  # no slow computer explains this: it waits for something, such as a dead lease
KILLED = -9
FINISHED = (0, 3)
SAYS_DONE = "completed"


class Line(msgspec.Struct, frozen=True):
    """One promise, whether it held, and what was found."""

    promise: str
    holds: bool
    found: str


class SelftestJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """All lines, and the numbers behind them as `--json` gives them."""

    lines: tuple[Line, ...]
    numbers: dict[str, Any]

    @property
    def holds(self) -> bool:
        return all(line.holds for line in self.lines)


def judge(plan: TrialPlan, evidence: Evidence) -> SelftestJudgement:
    """Every promise of the selftest, in the order in which people ask."""
    lines = (
        *_kills(plan, evidence),
        *_results(plan, evidence),
        *_fetches(plan, evidence),
        *_restarts(plan, evidence),
        *_ending(evidence),
    )
    return SelftestJudgement(lines=lines, numbers=_numbers(plan, evidence))


def _kills(plan: TrialPlan, evidence: Evidence) -> list[Line]:
    delivered, seen = _delivered(evidence), _checked(evidence)
    found, looked = (
        f"{delivered} of {plan.kills}: alive before, dead of signal 9",
        "the ledger read before each restart",
    )
    if plan.processes > 1:
        ones = _ones(evidence)
        found += f"; {ones} of one worker, {delivered - ones} of all {plan.processes} and their supervisor"
        looked = "the ledger read at each death"
    return [
        Line("kills delivered", delivered == plan.kills, found),
        Line("deaths looked at", seen == delivered, f"{seen}: {looked}"),
    ]


def _results(plan: TrialPlan, evidence: Evidence) -> list[Line]:
    lost, doubled, wrong = _lost(evidence), _doubled(evidence), _wrong_bytes(evidence)
    poisoned = evidence.end.poisoned if evidence.end else 0
    right = f"{len(evidence.exported)} results exported, each URL once"
    return [
        Line("pages lost", not lost, _some(lost, f"0 of {plan.pages}")),
        Line("results doubled", not doubled and len(evidence.exported) == plan.pages, _some(doubled, f"0: {right}")),
        Line("wrong bytes", not wrong, _some(wrong, "0: every sha256 is that of the site")),
        Line("pages poisoned", poisoned == 0, str(poisoned)),
    ]


def _fetches(plan: TrialPlan, evidence: Evidence) -> list[Line]:
    paid, no_cause = _again(plan, evidence)
    most = max(paid, default=0)
    late, unclaimed = asked_when_settled(evidence.stretches), _unclaimed(evidence)
    found = f"{sum(paid)}, at most {most} per kill ({AGAIN_MAX} allowed)"
    return [
        Line("fetched again", most <= AGAIN_MAX, found),
        Line("… without cause", not no_cause, _some(no_cause, "0: each was in progress when its worker died")),
        Line("fetched once done", not late, _some(late, "0")),
        Line("fetched unclaimed", not unclaimed, _some(unclaimed, "0: no page has more requests than attempts")),
    ]


def _again(plan: TrialPlan, evidence: Evidence) -> tuple[list[int], list[str]]:
    """Per kill how many pages were fetched again, and which ones without cause."""
    if plan.processes > 1:
        paid, no_cause = prices(evidence.stretches)
        return [len(urls) for urls in paid], sorted({*no_cause})
    return [len(urls) for urls in asked_again(evidence.stretches)], asked_without_cause(evidence.stretches)


def _restarts(plan: TrialPlan, evidence: Evidence) -> list[Line]:
    """From exec to the first request; and where one worker died, from its death to the first one for its chunks."""
    lines = [_in_time("restart to first fetch", restarts_s(evidence.stretches))]
    if plan.processes > 1:
        lines.append(_in_time("takeover to first fetch", takeovers_s(evidence.stretches, evidence.chunk_of)))
    return lines


def _in_time(promise: str, waits: Sequence[float]) -> Line:
    p50, p95, most = percentile(waits, 0.5), percentile(waits, 0.95), max(waits, default=0.0)
    in_goal = p95 < FIRST_FETCH_S_P95 and most < FIRST_FETCH_S_MAX
    goal = "" if in_goal else f"; above the goal (p95 {FIRST_FETCH_S_P95} s, max {FIRST_FETCH_S_MAX:g} s)"
    found = f"p50 {p50:.2f} s, p95 {p95:.2f} s, max {most:.2f} s ({len(waits)} measured){goal}"
    return Line(promise, most < FIRST_FETCH_S_STUCK, found)


def _ending(evidence: Evidence) -> list[Line]:
    code, end = evidence.stretches[-1].code, evidence.end
    early = _early(evidence)
    return [
        Line("finished too early", not early, "said finished with pages missing" if early else "never"),
        Line("last exit code", code == 0, str(code)),
        Line("books", end is not None and _is_done(end.job.status) and end.balances, end.books if end else "no job"),
        Line("holdfast verify", evidence.verify_code == 0, f"exit {evidence.verify_code}"),
    ]


def _numbers(plan: TrialPlan, evidence: Evidence) -> dict[str, Any]:
    paid, no_cause = _again(plan, evidence)
    delivered = _delivered(evidence)
    kills = {"planned": plan.kills, "delivered": delivered, "checked": _checked(evidence)}
    return {
        "pages": plan.pages,
        "processes": plan.processes,
        "seed": plan.seed,
        "kills": kills | ({"of_one_worker": _ones(evidence)} if plan.processes > 1 else {}),
        "lost": len(_lost(evidence)),
        "doubled": len(_doubled(evidence)),
        "wrong_bytes": len(_wrong_bytes(evidence)),
        "poisoned": evidence.end.poisoned if evidence.end else 0,
        "fetched_again": {"total": sum(paid), "max_per_kill": max(paid, default=0), "allowed_per_kill": AGAIN_MAX},
        "fetched_again_without_cause": len(no_cause),
        "fetched_once_done": len(asked_when_settled(evidence.stretches)),
        "fetched_unclaimed": len(_unclaimed(evidence)),
        "restart_to_first_fetch_s": _quantiles(restarts_s(evidence.stretches)),
        "takeover_to_first_fetch_s": _quantiles(takeovers_s(evidence.stretches, evidence.chunk_of)),
        "finished_too_early": _early(evidence),
        "counts": evidence.end.counts.seven() if evidence.end else None,
        "verify_exit_code": evidence.verify_code,
        "loss_per_kill_below": round(min(1.0, 3 / delivered), 6) if delivered else None,
        "seconds": round(evidence.seconds, 1),
    }


def _quantiles(waits: Sequence[float]) -> dict[str, float]:
    shown = {"p50": percentile(waits, 0.5), "p95": percentile(waits, 0.95), "max": max(waits, default=0.0)}
    return {name: round(seconds, 3) for name, seconds in shown.items()} | {"measured": len(waits)}


def _ones(evidence: Evidence) -> int:
    return sum(stretch.code == KILLED and stretch.fallen is not None for stretch in evidence.stretches)


def _delivered(evidence: Evidence) -> int:
    return sum(stretch.code == KILLED for stretch in evidence.stretches)


def _checked(evidence: Evidence) -> int:
    return sum(stretch.left is not None for stretch in evidence.stretches)


def _lost(evidence: Evidence) -> list[str]:
    return witness.lost(evidence.oracle, evidence.end.seen if evidence.end else ())


def _doubled(evidence: Evidence) -> list[str]:
    return witness.doubled(url for url, _ in evidence.exported)


def _wrong_bytes(evidence: Evidence) -> list[str]:
    """Stored or exported with other bytes than the site served, or a page that the site does not have."""
    stored = (
        [(row.url, row.sha256 or "") for row in evidence.end.seen if row.status == "succeeded"] if evidence.end else []
    )
    return sorted({url for url, sha256 in [*stored, *evidence.exported] if evidence.oracle.get(url) != sha256})


def _unclaimed(evidence: Evidence) -> list[str]:
    asks = [ask for stretch in evidence.stretches for ask in stretch.asks]
    seen = evidence.end.seen if evidence.end else ()
    return [url for url, _, _ in witness.asked_more_than_attempts(asks, seen)]


def _early(evidence: Evidence) -> bool:
    return evidence.stretches[-1].code in FINISHED and bool(_lost(evidence))


def _is_done(status: str) -> bool:
    return status == SAYS_DONE


def _some(urls: Sequence[str], none: str) -> str:
    return f"{len(urls)}: {', '.join(urls[:3])}{' …' if len(urls) > 3 else ''}" if urls else none
