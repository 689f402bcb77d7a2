"""Why a target was, or was not, fetched (ux 1.4): one answer for any URL, known to the job or not. Only reads."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from holdfast.clock import iso
from holdfast.engine.reference import find, target_of
from holdfast.errors import Corrupt
from holdfast.model.codes import CODES
from holdfast.model.edit import Exclusion
from holdfast.model.job import Job
from holdfast.model.keys import Address, canonical, key_of, seed_address
from holdfast.model.outcome import NOFOLLOW, UNCHANGED
from holdfast.model.target import AttemptRow, TargetRow
from holdfast.policy.exclusion import pattern_of
from holdfast.policy.patterns import Pattern, untried
from holdfast.policy.retry import bare
from holdfast.policy.rewriting import followed_as
from holdfast.policy.robots import read_robots
from holdfast.policy.scope import Scope, patterns_of
from holdfast.policy.traps import LIMIT, SENTENCES
from holdfast.policy.waiting import Wait, clock_time, host_wait, target_wait
from holdfast.ports import Looks, Surveys, Views
from holdfast.recipes.catalogue import kind_of

REDIRECTS = "redirects to "  # how a duplicate that is a redirect begins its because
REFRESHES = "refreshes to "  # and how a page that does so
MOVED = ("duplicate", "page", NOFOLLOW)
SURPLUS = "surplus"
HOPS_MAX = 11
SEEDS_LOOKED_AT = 100
PAGES_NAMED = 3
OTHERS_NAMED = 3
MEANT_BY_FILTERS = '*," '
# What keeps a pending page of a job that stopped at a limit -> the verdict, and the option that goes on.
EXTENDED = {"page_limit": ("over_cap", "--extend-pages 100"), "time_limit": ("waiting", "--extend 30m")}


class _Record(msgspec.Struct):
    """What a page's record says of its links: followed, and beyond the cap."""

    links: int
    limit: int


class ExplainReads(Views, Looks, Surveys, Protocol):
    """The faces of a ledger that an explanation reads."""

    def exclusions(self, job: int) -> list[Exclusion]: ...


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """`verdict` is one word, `because` the sentence; `undo` the command that would change it."""

    url: str
    verdict: str
    status: str | None
    because: str
    rule: str | None = None
    found_on: str | None = None
    depth: int | None = None
    undo: str | None = None
    target: TargetRow | None = None
    attempts: list[AttemptRow] = msgspec.field(default_factory=list)
    not_before: int | None = None

    def document(self) -> dict[str, Any]:
        """The fields of ux 5.2, then what else is known."""
        row = self.target
        return {
            "schema": "holdfast.explain/1",
            "url": self.url,
            "verdict": self.verdict,
            "status": self.status,
            "because": self.because,
            "rule": self.rule,
            "found_on": self.found_on,
            "depth": self.depth,
            "attempts": [attempt_document(each) for each in self.attempts],
            "undo": self.undo,
            "target": None if row is None else f"T-{row.id:x}",
            "key": None if row is None else row.name or row.key.hex(),
            "disposition": None if row is None else row.disposition,
            "code": None if row is None else row.code,
            "not_before": iso(self.not_before),
            "found_at": None if row is None else iso(row.found_at),
            "settled_at": None if row is None else iso(row.settled_at),
        }


def attempt_document(row: AttemptRow) -> dict[str, Any]:
    """One try, in the fields of ux 5.2."""
    return {
        "n": row.n,
        "started_at": iso(row.began_at),
        "worker": row.worker,
        "outcome": row.outcome,
        "code": row.code,
        "message": row.message,
        "http_status": row.status_code,
        "ms": row.ended_at - row.began_at,
    }


def explain(ledger: ExplainReads, job: Job, reference: str, *, now_ms: int) -> Explanation:
    """By target id (`T-9`), key, URL or path. NotFound for an id or a key that is not there."""
    row, address = find(ledger, job, kind_of(job), reference)
    if row is None:
        assert address is not None
        return _unknown(ledger, job, address)
    others = kind_of(job).others_of(ledger, job, row)
    held = [each for each in others if each.status == "succeeded"]
    if (
        row.name == reference and row.status != "succeeded" and held
    ):  # the key means all of them: what is held goes first
        others, row = [row, *(each for each in others if each is not held[-1])], held[-1]
    parent = None if row.parent is None else target_of(ledger, job, row.parent)
    known = _Known(ledger, job, row, None if parent is None else parent.url, now_ms).explained()
    return msgspec.structs.replace(known, because=known.because + _beside(others)) if others else known


def _beside(others: Sequence[TargetRow]) -> str:
    """Targets of the same thing, as the end of a sentence."""
    said = [f"T-{each.id:x} ({each.status}) {each.url}" for each in others[:OTHERS_NAMED]]
    more = " and others" if len(others) > OTHERS_NAMED else ""
    return f"; the same under another address: {', '.join(said)}{more}"


class _Known:
    """A target that the job has: its row tells, and what the row does not tell is worked out again."""

    def __init__(self, ledger: ExplainReads, job: Job, row: TargetRow, found_on: str | None, now_ms: int) -> None:
        self._ledger, self._job, self._row, self._found_on, self._now_ms = ledger, job, row, found_on, now_ms

    def explained(self) -> Explanation:
        tell = {
            "succeeded": self._succeeded,
            "failed": self._failed,
            "skipped": self._skipped,
            "pending": self._pending,
            "in_progress": self._in_progress,
            "cancelled": self._cancelled,
        }
        return tell[self._row.status]()

    def _told(self, verdict: str, because: str, **more: Any) -> Explanation:
        row = self._row
        address = canonical(row.url)  # None: a target that is made of what is stored
        if row.status != "skipped" and address is not None:
            because += _untried(self._ledger, self._job, address)
        values = {"depth": row.depth, "found_on": self._found_on, "rule": row.rule, **more}
        return Explanation(
            url=row.url, verdict=verdict, status=row.status, because=because, target=row,
            attempts=self._ledger.attempts(row.id), **values,
        )  # fmt: skip

    def _succeeded(self) -> Explanation:
        if self._row.disposition == UNCHANGED:
            said = f"the site said at {_when(self._row.settled_at)} that it has not changed"
            return self._told("fetched", f"fetched and saved in an earlier run; {said}")
        also = f"; {self._row.because}" if self._row.because else ""
        what = "" if self._row.disposition in (None, "page") else f" ({self._row.disposition})"
        return self._told("fetched", f"saved{what} at {_when(self._row.settled_at)}{also}")

    def _failed(self) -> Explanation:
        code = self._row.code or ""
        meaning = CODES[code].meaning if code in CODES else "unknown"
        said = bare(self._row.because or "-", code, self._row.url)
        because = f"{code} ({meaning}) after {self._tries()}: {said}"
        undo = f"holdfast retry {self._job.word} --where {shlex.quote(_only(self._row))}"
        return self._told("failed", because, undo=undo)

    def _tries(self) -> str:
        """Those that count; a retry counts from nothing, and what is listed below has all of them."""
        since, ever = self._row.attempts, len(self._ledger.attempts(self._row.id))
        return _times(since) if since >= ever else f"{_times(since)}, {ever} in all"

    def _skipped(self) -> Explanation:
        row, job = self._row, self._job
        if row.disposition == "duplicate":
            return self._duplicate()
        if row.disposition == "robots":
            because = f"robots.txt of {row.host} forbids it: {row.rule or row.because or 'Disallow'}"
            return self._told("robots", because, undo=f"{self._start()} --ignore-robots --mode full")
        if row.disposition == "excluded" and row.rule == "depth":
            limit = job.params.get("max_depth")
            because = f"depth {row.depth} is beyond {f'the limit of {limit}' if limit else 'its limit'}"
            undo = f"{self._start()} --max-depth {row.depth} {self._in_another_scope()}"
            return self._told("too_deep", because, undo=undo)
        if row.disposition == "excluded":
            return self._excluded()
        if row.disposition == LIMIT:
            because = f"found, and not followed: {SENTENCES.get(row.rule or '', 'a cap was reached')}"
            return self._told("over_cap", because, undo=f"holdfast crawl {shlex.quote(row.url)}")
        verdict = row.disposition or "skipped"
        if verdict == SURPLUS:
            because = f"not needed when its turn came: {row.rule or 'there was enough'}; more of them may still take it"
            return self._told(verdict, because)
        return self._told(verdict, row.because or f"skipped: {verdict}")

    def _duplicate(self) -> Explanation:
        told = f" ({self._row.rule})" if self._row.rule else ""
        because = self._row.because or f"the same as another target{told}"
        there = because.removeprefix(REDIRECTS)
        undo = f"holdfast explain {self._job.word} {shlex.quote(there)}" if there != because else None
        return self._told("redirected" if undo else "duplicate", because, undo=undo)

    def _excluded(self) -> Explanation:
        """Which pattern it was is worked out again from the job's params; the first that fits is named."""
        address, params, rule = seed_address(self._row.url), self._job.params, self._row.rule or ""
        by_hand = next((each for each in self._ledger.exclusions(self._job.id) if each.rule == rule), None)
        if by_hand is not None and by_hand.removed_at is not None:
            because = f"{told_exclusion(by_hand)}, and removed at {iso(by_hand.removed_at)} when the job was complete"
            return self._told("excluded", because, undo=f"{self._start()} --mode full")
        if by_hand is not None:
            undo = f"holdfast exclude {self._job.word} --remove {by_hand.n}"
            return self._told("excluded", told_exclusion(by_hand), rule=f"{rule}: {by_hand.pattern}", undo=undo)
        scope = _scope_of(params)
        if rule == "exclude" and scope is not None:
            pattern = _fitting(scope.exclude, address.path)
            if pattern is not None:
                others = [each.text for each in scope.exclude if each.text != pattern] or [""]
                words = " ".join(f"--exclude {shlex.quote(text)}" for text in others)
                undo = f"{self._start()} {words} {self._in_another_scope()}"
                return self._told(
                    "excluded", f"the job's exclude pattern {pattern} fits", rule=f"exclude {pattern}", undo=undo
                )
        if rule == "include" and scope is not None:
            patterns = ", ".join(pattern.text for pattern in scope.include)
            because = f"none of the job's include patterns fits: {patterns}"
            return self._told("excluded", because, rule=f"include {patterns}")
        if rule == "scope" and scope is not None:
            return self._told("excluded", f"the job's scope became {scope.kind}, to which it does not belong")
        return self._told("excluded", self._row.because or f"left out by the rule {rule or 'exclude'}")

    def _start(self) -> str:
        return f"holdfast {kind_of(self._job).command} {self._job.word}"

    def _in_another_scope(self) -> str:
        """What a job takes that has come to its end is more than what any other takes."""
        return "--mode full --update" if self._job.status == "completed" else "--update"

    def _pending(self) -> Explanation:
        row, job = self._row, self._job
        if job.stop_reason in EXTENDED:
            verdict, option = EXTENDED[job.stop_reason]
            rule = f"max_pages {job.options.max_pages}" if verdict == "over_cap" else None
            because = f"found, and not fetched: {job.because}"
            return self._told(verdict, because, rule=rule, undo=f"holdfast resume {job.word} {option}")
        if job.status != "in_progress":
            undo = f"holdfast resume {job.word}" if job.status in ("paused", "failed", "timeout") else self._start()
            because = f"not fetched yet: the job is {job.status} ({job.because})"
            return self._told("waiting", because, undo=undo, not_before=row.not_before)
        wait = self._wait()
        if wait.because is None and wait.not_before is None:
            return self._told("queued", "it will be fetched when its turn comes")
        until = (
            f" until {clock_time(wait.not_before)}" if wait.not_before and "until" not in (wait.because or "") else ""
        )
        return self._told("waiting", f"waits{until}: {wait.because or 'to be tried again'}", not_before=wait.not_before)

    def _wait(self) -> Wait:
        hosts = self._ledger.hosts_waiting(self._job.id, host=self._row.host)
        of_host = Wait(None, None)
        if hosts:
            of_host = host_wait(
                hosts[0].host, next_at=hosts[0].next_at, hold_until=hosts[0].hold_until, now_ms=self._now_ms
            )
        return target_wait(Wait(self._row.not_before, self._row.because), of_host, is_suspect=False)

    def _in_progress(self) -> Explanation:
        return self._told("in_progress", f"being fetched, attempt {self._row.attempts}")

    def _cancelled(self) -> Explanation:
        return self._told("cancelled", "the job was cancelled before it was fetched")


def _unknown(ledger: ExplainReads, job: Job, address: Address) -> Explanation:
    """A URL that the job has no target for: out of its scope, or never found. The scope is asked again."""
    if job.params.get("seeds") == []:
        because = "the job takes the HTML pages of its WARC files, and they have none under this URL"
        return Explanation(url=address.url, verdict="never_found", status=None, because=because)
    rule, because = _scope_says(ledger, job, address)
    finder = ledger.link_out(job.id, key_of(address, ledger.salt()))
    if finder is not None:
        page = target_of(ledger, job, finder)
        return Explanation(
            url=address.url, verdict="out_of_scope", status=None, because=f"it was found and not followed: {because}",
            rule=rule, found_on=None if page is None else page.url,
        )  # fmt: skip
    by_links = rule is None and kind_of(job).follows_links
    cut = _cut_short(ledger, job) if by_links else None
    if cut is not None:
        return Explanation(url=address.url, verdict="over_cap", status=None, rule="links per page", because=cut)
    left = _left_alone(ledger, job) if by_links else None
    if left is not None:
        undo = f"holdfast {kind_of(job).command} {job.word} --nofollow off --mode full"
        return Explanation(url=address.url, verdict="robots", status=None, rule=NOFOLLOW, because=left, undo=undo)
    unread = _unread(ledger, job)
    return Explanation(
        url=address.url, verdict="never_found", status=None, rule=rule,
        because=f"no page that was read leads to it{unread}. If one did: {because}",
    )  # fmt: skip


def _cut_short(ledger: ExplainReads, job: Job) -> str | None:
    """Where it may stand all the same: behind the last link of a page that has more than are followed."""
    rows = ledger.cut_short(job.id, limit=PAGES_NAMED + 1)
    if not rows:
        return None
    pages = [page for target, _ in rows[:PAGES_NAMED] if (page := target_of(ledger, job, target)) is not None]
    marks = _marks(*rows[0])
    more = " and others" if len(rows) > PAGES_NAMED else ""
    return (
        f"no link that was followed leads to it, but not every one was: {pages[0].url} has {marks.links + marks.limit} "
        f"of them and {marks.links} are followed on a page. Pages with more: {', '.join(p.url for p in pages)}{more}"
    )


def _left_alone(ledger: ExplainReads, job: Job) -> str | None:
    """Where it may stand all the same: on a page whose links were left, or among the links that were."""
    by_page = [("disposition", True, (NOFOLLOW,))]
    by_link = [("rule", True, (NOFOLLOW,)), ("status", True, ("succeeded",))]
    rows = [*ledger.targets(job.id, where=by_page, limit=PAGES_NAMED + 1)]
    rows += ledger.targets(job.id, where=by_link, limit=PAGES_NAMED + 1) if not rows else ()
    if not rows:
        return None
    more = " and others" if len(rows) > PAGES_NAMED else ""
    pages = ", ".join(row.url for row in rows[:PAGES_NAMED])
    return f"no link that was followed leads to it, but nofollow kept links from being followed on {pages}{more}"


def _marks(target: int, doc: bytes) -> _Record:
    try:
        return msgspec.json.decode(doc, type=_Record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Corrupt(f"the page record of T-{target:x} cannot be read: {error}") from error


def _unread(ledger: ExplainReads, job: Job) -> str:
    """Pages that nobody read yet may lead anywhere."""
    pending = ledger.books(job.id)[1].left
    return f"; {pending} found ones are not read yet" if pending else ""


def _scope_says(ledger: ExplainReads, job: Job, address: Address) -> tuple[str | None, str]:
    """(rule, sentence) for an address that would be found on a page of a seed's host."""
    scope = _scope_of(job.params)
    if scope is None:
        return None, f"the recipe {job.recipe} would decide"
    hosts = sorted({*scope.hosts, *_final_hosts(ledger, job)})
    rulings = [scope.judge(address, page_host=host, depth=0) for host in hosts]
    ruling = next((ruling for ruling in rulings if ruling.kind != "external"), rulings[0])
    if ruling.kind == "external":
        reach = f"the scope {scope.kind} of {', '.join(hosts)} does not reach {address.host}"
        return f"scope {scope.kind}", reach + _prefix(scope, address)
    if ruling.rule == "exclude":
        pattern = _fitting(scope.exclude, address.path)
        return f"exclude {pattern}", f"the exclude pattern {pattern} would leave it out"
    if ruling.rule == "include":
        patterns = ", ".join(pattern.text for pattern in scope.include)
        return f"include {patterns}", f"no include pattern fits it: {patterns}"
    there = followed_as(address)
    if there != address and ruling.rule not in SENTENCES:
        return "followed as", f"a link to it is followed as {there.url} (a session in the URL, or a view of a file)"
    if ruling.rule in SENTENCES:
        return ruling.rule, f"it would not be followed: {SENTENCES[ruling.rule]}"
    barred = _barred(ledger, job, address)
    if barred is not None:
        return barred
    depth = "" if scope.max_depth is None else f", if it were found at depth {scope.max_depth} at most"
    return None, f"it is in scope and would be fetched{depth}{_untried(ledger, job, address)}"


def _untried(ledger: ExplainReads, job: Job, address: Address) -> str:
    """The patterns of a job that are not tried on so long a path, as the end of a sentence."""
    active = [each for each in ledger.exclusions(job.id) if each.is_active(job.generation)]
    patterns = (*patterns_of(job.params), *map(pattern_of, active))
    return "".join(f"; {untried(pattern)}" for pattern in patterns if pattern.leaves_untried(address.path))


def _barred(ledger: ExplainReads, job: Job, address: Address) -> tuple[str, str] | None:
    """What would leave an address out that is in scope: an exclusion, or what is kept of its robots.txt."""
    active = [each for each in ledger.exclusions(job.id) if each.is_active(job.generation)]
    excluded = next((each for each in active if pattern_of(each).matches(address.path)), None)
    if excluded is not None:
        return f"{excluded.rule}: {excluded.pattern}", told_exclusion(excluded)
    text = None if job.options.ignore_robots else ledger.robots_text(address.origin)
    rule = "" if text is None else read_robots(text).barring(address.path)
    return (rule, f"robots.txt of {address.host} forbids it: {rule}") if rule else None


def told_exclusion(exclusion: Exclusion) -> str:
    """Who added it, and when."""
    return f"exclusion {exclusion.n}, {exclusion.pattern}, was added by {exclusion.actor} at {iso(exclusion.at)}"


def _final_hosts(ledger: ExplainReads, job: Job) -> set[str]:
    """Where the seeds led: scope follows a seed's final host."""
    found, salt = set(), ledger.salt()
    for url in job.params["seeds"][:SEEDS_LOOKED_AT]:
        for _ in range(HOPS_MAX):
            row = ledger.find(job.id, key_of(seed_address(url), salt))
            if row is None:
                break
            found.add(seed_address(row.url).host)  # the row of an archived page has no host
            there = (row.because or "").removeprefix(REDIRECTS).removeprefix(REFRESHES)
            if there == (row.because or "") or row.disposition not in MOVED:
                break
            url, more, _ = there.partition(" ")
            url = url.removesuffix(";") if more else url
    return found


def _prefix(scope: Scope, address: Address) -> str:
    return f"{address.path}: it begins with none of {', '.join(scope.prefixes)}" if scope.kind == "prefix" else ""


def _scope_of(params: dict[str, Any]) -> Scope | None:
    """The scope of a job that has one: other recipes decide in their steps."""
    if not {"scope", "seeds", "include", "exclude", "max_depth"} <= set(params):
        return None
    return Scope.of(params)


def _fitting(patterns: tuple[Pattern, ...], path: str) -> str | None:
    return next((pattern.text for pattern in patterns if pattern.matches(path)), None)


def _only(row: TargetRow) -> str:
    """The filter that fits this target alone: its URL, unless a filter reads that as more, or others may have it."""
    is_plain = row.name is None and not set(row.url) & set(MEANT_BY_FILTERS)
    return f"url:{row.url}" if is_plain else f"id:T-{row.id:x}"


def _times(n: int) -> str:
    return "1 attempt" if n == 1 else f"{n} attempts"


def _when(wall_ms: int | None) -> str:
    return iso(wall_ms) or "an unknown time"
