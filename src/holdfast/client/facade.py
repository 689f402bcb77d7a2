"""A job in Python: what `holdfast VERB JOB` does, as methods. Every look reads the ledger anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from holdfast import wiring
from holdfast.client.arguments import refuses_wrong_kinds
from holdfast.client.asking import ACTOR
from holdfast.client.card import card
from holdfast.client.several import work_by_several
from holdfast.client.streaming import stream
from holdfast.client.values import Row, Run
from holdfast.client.working import Halt, OnProgress, work
from holdfast.clock import SystemClock, iso, pause_thread
from holdfast.config import Settings
from holdfast.config.results_file import writable
from holdfast.control import exclude as exclusions
from holdfast.control import reopen, retry, stopping
from holdfast.control.rollback import foretell, rollback, rollback_document
from holdfast.control.rollback import fork as forked
from holdfast.control.submit import same_inputs, second_job
from holdfast.engine import recovery
from holdfast.engine.waits import waited_for
from holdfast.errors import BadParams, NotFound, Refused
from holdfast.model import job as model
from holdfast.model import units
from holdfast.model.look import RunLook
from holdfast.model.target import TargetRow
from holdfast.policy import filters, limits
from holdfast.policy.marks import check_word
from holdfast.ports import Ledger
from holdfast.recipe.kind import CASES
from holdfast.recipes import catalogue
from holdfast.views import standing
from holdfast.views.breakdown import breakdown_document
from holdfast.views.documents import change_document, failures_document, run_document, target_document
from holdfast.views.explain import explain
from holdfast.views.history import checkpoint_document, every_checkpoint
from holdfast.views.job import average_rate, job_document
from holdfast.views.ordering import by_number, parse_sort
from holdfast.views.past import past_of
from holdfast.views.results import Fields, parse_fields

POLL_S = 0.05
ROWS_AT_ONCE = 500
MODES = ("full", "new", "resume")
FORMS = {".jsonl": "jsonl", ".csv": "csv", ".warc.gz": "warc"}


@refuses_wrong_kinds("_run", "_stream")  # these two are what an async program calls
class Job:
    """A job of a ledger; the object holds its place there and nothing else, so it is never out of date."""

    def __init__(self, settings: Settings, row: model.Job) -> None:
        self._settings, self._key = settings, row.id
        self.id, self.name, self.kind = row.uid, row.name, row.recipe

    # How it stands

    @property
    def status(self) -> str:
        return self._row().status

    @property
    def because(self) -> str:
        """Why it is as it is, in a sentence."""
        return str(self.document()["because"])

    @property
    def counts(self) -> model.Counts:
        """`discovered` is the sum of the other six, at every instant."""
        with self._ledger() as ledger:
            return ledger.books(self._key)[1]

    @property
    def health(self) -> str | None:
        """Of a finished run: ok, partial, failed or suspicious."""
        return self._row().health

    def document(self) -> dict[str, Any]:
        """What `holdfast status JOB --json` gives."""
        with self._ledger() as ledger:
            job, counts, point = ledger.books(self._key)
            worked, now_ms = recovery.holder_of(ledger, job) is not None, SystemClock().wall_ms()
            life_s = self._settings.lease_s
            job = standing.as_it_stands(ledger, job, is_worked=worked, now_ms=now_ms, life_s=life_s)
            waits, rate = waited_for(ledger, job, counts, now_ms), average_rate(job, counts)
            past = past_of(ledger, job.id, now_ms)
            return job_document(
                job, counts, point, rate_per_second=rate, is_worked=worked, waiting=waits, now_ms=now_ms, past=past
            )

    # What can be done with it

    def run(self, *, mode: str | None = None, on_progress: OnProgress | None = None, processes: int = 1) -> Run:
        """Work the job until it ends; one that is unfinished goes on, one that is complete is left as it is.

        With `mode="full"` or `"new"` a complete job is scanned again, as a whole or for what is new or changed.
        Ctrl-C pauses and returns the run. `on_progress` is called in this thread, a few times a second. With several
        `processes` it is worked by a command of its own, `holdfast resume --processes N`.
        """
        return self._run(mode, on_progress, Halt(), processes=processes)

    def _run(
        self,
        mode: str | None,
        on_progress: OnProgress | None,
        halt: Halt,
        *,
        processes: int,
    ) -> Run:
        if mode not in (None, *MODES):
            raise BadParams(f"there is no mode {mode!r}; there are: {', '.join(MODES)}")
        with self._ledger() as ledger:
            job = ledger.books(self._key)[0]
            if mode in ("full", "new") and job.status == "completed":
                reopen.rescan(ledger, job, mode=mode, actor=ACTOR)
            if mode == "new" and job.run == 0:
                _refuse_second(ledger, job)
        if processes == 1:
            work(self._settings, self._key, on_progress, halt)
        else:
            work_by_several(self._settings, self._key, processes, on_progress, halt)
        return self._latest()

    def pause(self) -> None:
        """Finish the pages in hand, checkpoint, stop. Returns when that is done."""
        self._request(stopping.pause, "paused")

    def cancel(self, *, now: bool = False) -> None:
        """Stop for good: pending becomes cancelled, results stay. `now`: so are the pages in hand."""
        self._request(partial(stopping.cancel, now=now), "cancelled")

    def resume(
        self,
        *,
        extend: float | str | None = None,
        extend_pages: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> Run:
        """Go on, with so much more active time or so many more pages where a limit was reached."""
        if extend is not None or extend_pages is not None:
            more_s = None if extend is None else _seconds(extend)
            with self._ledger() as ledger:
                job, counts, _ = ledger.books(self._key)
                options = limits.extended(job, counts, more_s, extend_pages)
                ledger.amend(job, options=options, actor=ACTOR, because="limits raised by a call")
        return self.run(on_progress=on_progress)

    def retry(self, where: str = "status:failed", *, dry_run: bool = False) -> int:
        """Queue failed targets that fit the filter again; how many. `run` works them. `dry_run`: only how many."""
        with self._ledger() as ledger:
            job = ledger.books(self._key)[0]
            if dry_run:
                return retry.foretell(ledger, job, _conditions(where)).requeues
            return reopen.retry(ledger, job, _conditions(where), actor=ACTOR, because=f"retry {where}")[1]

    def exclude(self, pattern: str, *, regex: bool = False, this_run: bool = False, dry_run: bool = False) -> int:
        """Stop fetching URLs that fit, also while the job runs; how many pending ones were left out.

        With `dry_run` nothing is changed: how many would be.
        """
        with self._ledger() as ledger:
            job = ledger.books(self._key)[0]
            syntax = "regex" if regex else "glob"
            if dry_run:
                return exclusions.foretell(ledger, job, pattern, syntax=syntax).removes
            return exclusions.exclude(ledger, job, pattern, syntax=syntax, this_run=this_run, actor=ACTOR)[1]

    def label(self, target: str, word: str | None) -> None:
        """Mark a target (`T-9`, its key or its URL) with a word such as `rejected`; None takes the mark away."""
        with self._ledger() as ledger:
            job = ledger.books(self._key)[0]
            row = explain(ledger, job, target, now_ms=SystemClock().wall_ms()).target
            if row is None:
                raise NotFound(f"{self.name} has no target {target}")
            ledger.label(self._key, [row.id], None if word is None else check_word(word), actor=ACTOR)

    def rollback(self, checkpoint: int, *, dry_run: bool = False, fork: bool | str = False) -> Row:
        """Take a snapshot and go back to a checkpoint: what was found and settled since is undone, the job is paused.

        With `dry_run` nothing is changed: the answer says what would be. With `fork` this job stays as it is and a new
        one goes back, of that name or of one like `docs-57`; `client.job(answer["job"])` is it.
        """
        with self._ledger() as ledger:
            job = ledger.books(self._key)[0]
            if dry_run:
                return Row(rollback_document(job, foretell(ledger, job, checkpoint), dry_run=True))
            if fork:
                name = fork if isinstance(fork, str) else f"{job.name}-{checkpoint}"
                copy = partial(wiring.copy_job, self._settings, ledger, actor=ACTOR)
                made, done = forked(ledger, job, checkpoint, name, actor=ACTOR, copy=copy)
                return Row(rollback_document(made, done, dry_run=False, fork_of=job))
            done, snapshot = rollback(
                ledger,
                job,
                checkpoint,
                actor=ACTOR,
                take_snapshot=lambda at_rest: wiring.take_snapshot(self._settings, ledger, at_rest, with_bodies=False)[
                    0
                ],
            )
            return Row(rollback_document(job, done, dry_run=False, snapshot=snapshot))

    # What it has found

    def targets(self, where: str = "", *, sort: str = "") -> Iterator[Row]:
        """Targets by a filter such as `status:failed -code:http_404`; cases by their numbers, unless sorted by a field.

        `sort` as `--sort`: `depth`, or `-settled_at` from the newest on.
        """
        rows = self._targets(_conditions(where))
        if sort:
            rows = wiring.sorted_targets(self._settings, rows, parse_sort(sort))
        elif self.kind == CASES:
            rows = by_number(rows, lambda row: row.name)
        return (Row(target_document(row)) for row in rows)

    def _targets(self, conditions: list[filters.Condition]) -> Iterator[TargetRow]:
        after = 0
        while True:
            with self._ledger() as ledger:
                rows = ledger.targets(self._key, where=conditions, after=after, limit=ROWS_AT_ONCE)
            if not rows:
                return
            yield from rows
            after = rows[-1].id

    def errors(self) -> list[Row]:
        """Failures by code and host, the most frequent first, each with an example."""
        with self._ledger() as ledger:
            job = ledger.books(self._key)[0]
            return [Row(failures_document(job, group)) for group in ledger.failures(self._key)]

    def explain(self, url: str) -> Row:
        """Why a target (URL, key or `T-9`) was, or was not, fetched; also a URL that the job never saw."""
        with self._ledger() as ledger:
            job = ledger.books(self._key)[0]
            return Row(explain(ledger, job, url, now_ms=SystemClock().wall_ms()).document())

    def breakdown(self, by: str) -> dict[str, Any]:
        """The counts split by host, code, disposition, depth or type."""
        with self._ledger() as ledger:
            return breakdown_document(ledger, ledger.books(self._key)[0], by)

    def checkpoints(self) -> list[Row]:
        """Restore points, newest first."""
        with self._ledger() as ledger:
            return [Row(checkpoint_document(row)) for row in every_checkpoint(ledger, self._key)]

    def runs(self) -> list[Run]:
        """Executions, newest first."""
        with self._ledger() as ledger:
            job, counts, _ = ledger.books(self._key)
            found = sorted(ledger.runs(self._key), key=lambda run: -run.n)
            return [_run(row, job, counts) for row in found]

    def diff(self, before: str, after: str) -> list[Row]:
        """What changed between two runs, such as `R-3` and `R-4`."""
        with self._ledger() as ledger:
            runs = {f"R-{row.n}": row for row in ledger.runs(self._key)}
            for name in (before, after):
                if name not in runs:
                    raise NotFound(f"{self.name} has no run {name!r}; it has: {', '.join(runs) or 'none'}")
            found: list[Row] = []
            place: int | None = 0
            while place is not None:
                changes, place = ledger.changes(self._key, runs[before], runs[after], after=place, limit=ROWS_AT_ONCE)
                found += [Row(change_document(change)) for change in changes]
            return found

    def verify(self) -> list[str]:
        """The audit's checks of this job; what it finds wrong, one sentence each. Empty is good."""
        from holdfast.audit.verify import verify

        with self._ledger() as ledger:
            return [f"{finding.check}: {finding.sentence}" for finding in verify(ledger.query, self._key)]

    # Results

    def records(self, where: str = "", fields: str = "", *, distinct: bool = False) -> Iterator[Row]:
        """Results in the order of discovery: pages of a site, records of a recipe. `fields` as `--fields`.

        `distinct`: of pages with the same bytes only the first that was found.
        """
        return self._records(_conditions(where), parse_fields(fields) if fields else None, distinct)

    def _records(self, where: list[filters.Condition], chosen: Fields | None, distinct: bool) -> Iterator[Row]:
        with self._ledger() as ledger:
            job = ledger.books(self._key)[0]
            with wiring.results_of(
                self._settings, ledger, job, where=where, fields=chosen, distinct=distinct
            ) as results:
                for row in results.rows():
                    yield Row(results.shaped(row))

    def stream(self, consumer: str | None = None, *, fields: str = "", work: bool = True) -> Iterator[Row]:
        """Results as they are committed, until the job ends; it is worked meanwhile, if nobody else does.

        A named consumer goes on where it was saved last, at least once: what it was handed when it died comes again.
        With `work=False` it only follows, and ends also when nobody works the job any more.
        """
        return self._stream(consumer, fields, work, Halt())

    def _stream(self, consumer: str | None, fields: str, work: bool, halt: Halt) -> Iterator[Row]:
        return stream(self._settings, self._key, consumer, fields, work=work, halt=halt)

    def export(
        self,
        path: str | Path,
        *,
        format: str | None = None,
        where: str = "",
        fields: str = "",
        distinct: bool = False,
    ) -> int:
        """Write results to a file, whole or not at all; how many. The form is the suffix's, unless it is named.

        `distinct`: of pages with the same bytes only the first that was found.
        """
        form = format or next((form for suffix, form in FORMS.items() if str(path).endswith(suffix)), "")
        if form not in FORMS.values():
            raise BadParams(f"{path}: there is no form {form or 'of that suffix'}; there are: jsonl, csv, warc")
        file_path, written = writable(Path(path), self._settings.data), 0
        with self._ledger() as ledger:
            job = ledger.books(self._key)[0]
            chosen = parse_fields(fields) if fields else None
            with wiring.exporter(
                self._settings, ledger, job, where=_conditions(where), fields=chosen, distinct=distinct
            ) as write_form:

                def write(file: BinaryIO) -> None:
                    nonlocal written
                    written = write_form(form, file.write)

                wiring.publish(file_path, write)
        return written

    def snapshot(self, path: str | Path | None = None, *, with_artifacts: bool = True) -> Path:
        """Write the portable form to a new file, with the stored pages unless told otherwise; which file.

        `holdfast.restore` makes a job of it, here or elsewhere. Nobody may be working the job.
        """
        wanted = None if path is None else Path(path).absolute()
        with self._ledger() as ledger:
            job = ledger.books(self._key)[0]
            return wiring.take_snapshot(self._settings, ledger, job, wanted, with_bodies=with_artifacts)[0]

    # How it shows itself

    def __repr__(self) -> str:
        document = self.document()
        counts = document["counts"]
        left = counts["pending"] + counts["in_progress"]
        numbers = f"{counts['succeeded']} done, {left} left, {counts['failed']} failed"
        return f"<Job {self.name} {self.id} {self.kind} {document['status']}: {numbers}; {document['because']}>"

    def _repr_html_(self) -> str:
        return card(self.document())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and (other.id, other._settings.data) == (self.id, self._settings.data)

    def __hash__(self) -> int:
        return hash(self.id)

    # Within

    @contextmanager
    def _ledger(self) -> Iterator[Ledger]:
        """A connection for one call: a ledger belongs to one thread, and a Job may be used in several.

        Where the folder cannot be written, whoever only reads is served, and whoever writes is told so.
        """
        with closing(wiring.open_to_look(self._settings)) as ledger:
            yield ledger

    def _row(self) -> model.Job:
        with self._ledger() as ledger:
            return ledger.books(self._key)[0]

    def _latest(self) -> Run:
        runs = self.runs()
        if runs:
            return runs[0]
        raise Refused(f"{self.name} is {self.status} and was never run", hint=self.because)

    def _request(self, verb: Callable[..., model.Job], wanted: str) -> None:
        """Ask, and wait until the worker has done it; one that died meanwhile is stood in for."""
        with self._ledger() as ledger:
            job = verb(ledger, ledger.books(self._key)[0], actor=ACTOR)
            while job.status == "in_progress":
                pause_thread(POLL_S)
                job = ledger.books(self._key)[0]
                row = recovery.outlook(ledger, job, recipe_known=True, asked=False)
                if row.action == "acknowledge":
                    job = recovery.make_ready(ledger, job, row, actor=ACTOR)
            if job.status != wanted:
                raise Refused(f"{job.name} is {job.status} already: it ended before it could be {wanted}")


def _refuse_second(ledger: Ledger, job: model.Job) -> None:
    """A first run has nothing to compare with; another job of the same inputs is what was meant."""
    others = same_inputs(ledger, catalogue.recipe_for(job), job.params, but=job.id)
    if others:
        raise second_job(others, way=f'job("{others[0].name}").run(mode="new")', otherwise="run it without a mode")


def _run(row: RunLook, job: model.Job, counts: model.Counts) -> Run:
    """The latest one has the job's books of now, an earlier one those of its end."""
    latest = row.n == job.run
    books = counts if latest else row.counts
    document = run_document(row, job, books)
    return Run(
        id=f"R-{row.n}",
        mode=row.mode,
        trigger=row.trigger,
        status=row.status,
        started_at=iso(row.started_at),
        ended_at=iso(row.ended_at),
        stop_reason=row.stop_reason,
        counts=books,
        health=job.health if latest else row.health,
        error_counts=document["error_counts"],
        error_summary=document["error_summary"],
        document=document,
    )


def _conditions(where: str) -> list[filters.Condition]:
    """A filter; ages in it are those of this moment."""
    return filters.resolved(filters.parse(where), SystemClock().wall_ms())


def _seconds(value: float | str) -> float:
    try:
        return units.duration(0.001, 10**9)(str(value))
    except ValueError as error:
        raise BadParams(f"extend: {error}") from None
