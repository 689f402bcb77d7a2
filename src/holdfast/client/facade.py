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
from holdfast.client.streaming import stream
from holdfast.client.values import Row, Run
from holdfast.client.working import Halt, OnProgress, work
from holdfast.clock import SystemClock, iso, pause_thread
from holdfast.config import Settings
from holdfast.config.results_file import writable, writable_folder
from holdfast.control import exclude as exclusions
from holdfast.control import reopen, retry, snapshot_file, stopping
from holdfast.control.label import label as mark
from holdfast.control.rescope import refill
from holdfast.control.rollback import foretell, rollback, rollback_document
from holdfast.control.rollback import fork as forked
from holdfast.control.submit import same_inputs, second_job
from holdfast.engine import recovery
from holdfast.errors import BadParams, NotFound, Refused
from holdfast.model import job as model
from holdfast.model import units
from holdfast.model.look import RunLook
from holdfast.model.target import TargetRow
from holdfast.policy import filters, limits
from holdfast.policy.marks import REJECTED, check_word
from holdfast.ports import Ledger, Storage
from holdfast.recipes import catalogue
from holdfast.views.breakdown import breakdown_document
from holdfast.views.documents import change_document, failures_document, run_document, target_document
from holdfast.views.explain import explain
from holdfast.views.exports.exporter import export_folder, exporter, names_beside, results_of
from holdfast.views.exports.forms import FORMS, NAMES, form_by_ending, refuse_shards
from holdfast.views.exports.inputs import refuse_input
from holdfast.views.history import checkpoint_document, every_checkpoint, whole_checkpoint
from holdfast.views.job_view import job_view
from holdfast.views.levels import level_documents
from holdfast.views.ordering import as_planned, parse_sort
from holdfast.views.results import Fields, parse_fields
from holdfast.views.resume import resume_answer
from holdfast.views.sorting import sorted_targets

POLL_S = 0.05
ROWS_AT_ONCE = 500
MODES = ("full", "new", "resume")


@refuses_wrong_kinds("_run", "_stream")  # these two are what an async program calls
class JobHandle:
    """A job of a ledger, `holdfast.Job` to its users. It holds its place there and nothing else, so it is never out of
    date.
    """

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
            return job_view(ledger, self._key, now_ms=SystemClock().wall_ms(), life_s=self._settings.lease_s)

    # What can be done with it

    def run(
        self,
        *,
        mode: str | None = None,
        on_progress: OnProgress | None = None,
        processes: int = 1,
        trigger: str = ACTOR,
        limit: int | None = None,
    ) -> Run:
        """Work the job until it ends; one that is unfinished goes on, one that is complete is left as it is.

        With `mode="full"` or `"new"` a complete job is scanned again, as a whole or for what is new or changed.
        Ctrl-C pauses and returns the run. `on_progress` is called in this thread, a few times a second. With several
        `processes` it is worked by worker processes, which end with this program. `trigger` says in its history what
        started the run. Of a documents job, `limit` takes so many now, and a webhook takes 50 new ones at most.
        """
        return self._run(mode, on_progress, Halt(), processes=processes, trigger=trigger, limit=limit)

    def _run(
        self,
        mode: str | None,
        on_progress: OnProgress | None,
        halt: Halt,
        *,
        processes: int,
        trigger: str = ACTOR,
        limit: int | None = None,
    ) -> Run:
        if mode not in (None, *MODES):
            raise BadParams(f"there is no mode {mode!r}; there are: {', '.join(MODES)}")
        with self._ledger() as ledger:
            job = ledger.job(self._key)
            if catalogue.kind_of(job).has_list:
                from holdfast.client.documents import look_again
                from holdfast.control.webhook import WEBHOOK

                mode = "new" if trigger == WEBHOOK else mode
                job = look_again(self._settings, ledger, job, mode, trigger=trigger, limit=limit)
            if mode in ("full", "new") and job.status == "completed":
                kind, now_ms = catalogue.kind_of(job), SystemClock().wall_ms()
                where = kind.scanned(ledger, job, mode, self._settings.artifacts, now_ms)
                reopen.rescan(ledger, job, mode=mode, where=where, actor=ACTOR)
            if mode == "new" and job.run == 0:
                _refuse_second(ledger, job)
        work(self._settings, self._key, on_progress, halt, processes=processes, trigger=trigger)
        return self._latest()

    def webhook(self, *, new_limit: int | None = None) -> Row:
        """The run that a change-detection webhook starts: at most 50 new documents of the job's list. The answer has
        `ok`, `entrypoint`, `mode`, `target_source`, `run_id`, `csv_version_id` and a `summary` of the run: `processed`,
        `downloaded`, `skipped`, `failed`."""
        from holdfast.control.webhook import WEBHOOK, answer

        with self._ledger() as ledger:
            job = ledger.job(self._key)
        if not catalogue.kind_of(job).has_list:
            raise BadParams(f"{job.name} follows no list")
        self.run(trigger=WEBHOOK, limit=new_limit)
        with self._ledger() as ledger:
            storage = self._storage()
            return Row(answer(ledger, ledger.job(self._key), storage.artifacts, storage.write_file))

    def reprocess(self, where: str = "", *, on_progress: OnProgress | None = None) -> Run:
        """Run the recipe again over the stored pages that fit; nothing is fetched. One that was cut short goes on."""
        with self._ledger() as ledger:
            reopen.reprocess(ledger, ledger.job(self._key), filters.parse(where), actor=ACTOR)
        return self._run(None, on_progress, Halt(), processes=1)

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
            job = ledger.job(self._key)
            if dry_run:
                return retry.foretell(ledger, job, _conditions(where)).requeues
            return reopen.retry(ledger, job, _conditions(where), actor=ACTOR, because=f"retry {where}")[1]

    def exclude(self, pattern: str, *, regex: bool = False, this_run: bool = False, dry_run: bool = False) -> int:
        """Stop fetching URLs that fit, also while the job runs; how many pending ones were left out.

        With `dry_run` nothing is changed: how many would be.
        """
        with self._ledger() as ledger:
            job = ledger.job(self._key)
            syntax = "regex" if regex else "glob"
            if dry_run:
                return exclusions.foretell(ledger, job, pattern, syntax=syntax).removes
            return exclusions.exclude(ledger, job, pattern, syntax=syntax, this_run=this_run, actor=ACTOR)[1]

    def label(self, target: str, word: str | None) -> None:
        """Mark a target (`T-9`, its key or its URL) with a word such as `rejected`; None takes the mark away."""
        with self._ledger() as ledger:
            job = ledger.job(self._key)
            mark(ledger, job, [target], None if word is None else check_word(word), actor=ACTOR)
            if word == REJECTED:
                refill(ledger, ledger.job(self._key), actor=ACTOR)

    def rollback(self, checkpoint: int, *, dry_run: bool = False, fork: bool | str = False) -> Row:
        """Take a snapshot and go back to a checkpoint: what was found and settled since is undone, the job is paused.

        With `dry_run` nothing is changed: the answer says what would be. With `fork` this job stays as it is and a new
        one goes back, of that name or of one like `docs-57`; `client.job(answer["job"])` is it.
        """
        with self._ledger() as ledger:
            job = ledger.job(self._key)
            if dry_run:
                return Row(rollback_document(job, foretell(ledger, job, checkpoint), dry_run=True))
            if fork:
                name = fork if isinstance(fork, str) else f"{job.name}-{checkpoint}"
                copy = partial(snapshot_file.copy_job, self._storage(), ledger, actor=ACTOR)
                made, done = forked(ledger, job, checkpoint, name, actor=ACTOR, copy=copy)
                return Row(rollback_document(made, done, dry_run=False, fork_of=job))

            def take_snapshot(at_rest: model.Job) -> Path:
                return snapshot_file.take_snapshot(self._storage(), ledger, at_rest, with_bodies=False)[0]

            done, snapshot = rollback(ledger, job, checkpoint, actor=ACTOR, take_snapshot=take_snapshot)
            return Row(rollback_document(job, done, dry_run=False, snapshot=snapshot))

    # What it has found

    def targets(self, where: str = "", *, sort: str = "") -> Iterator[Row]:
        """Targets by a filter such as `status:failed -code:http_404`; cases by their numbers, unless sorted by a field.

        `sort` as `--sort`: `depth`, or `-settled_at` from the newest on.
        """
        rows = self._targets(_conditions(where))
        if sort:
            rows = sorted_targets(self._storage(), rows, parse_sort(sort))
        else:
            rows = as_planned(rows, catalogue.kind(self.kind))
        with self._ledger() as ledger:
            chunks = ledger.chunk_names(self._key)
        return (Row(target_document(row, chunks)) for row in rows)

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
            job = ledger.job(self._key)
            return [Row(failures_document(job, group)) for group in ledger.failures(self._key)]

    def explain(self, url: str) -> Row:
        """Why a target (URL, key or `T-9`) was, or was not, fetched; also a URL that the job never saw."""
        with self._ledger() as ledger:
            job = ledger.job(self._key)
            return Row(explain(ledger, job, url, now_ms=SystemClock().wall_ms()).document())

    def breakdown(self, *by: str) -> dict[str, Any]:
        """The counts split by host, code, disposition, depth or chunk; of an images job by `"keyword"`, `"engine"` or
        both."""
        with self._ledger() as ledger:
            return breakdown_document(ledger, ledger.job(self._key), ",".join(by))

    def checkpoints(self) -> list[Row]:
        """Restore points, newest first."""
        with self._ledger() as ledger:
            return [Row(checkpoint_document(row)) for row in every_checkpoint(ledger, self._key)]

    def resume_answer(self) -> dict[str, Any]:
        """What a resume would do now: which chunks go on, and where; which are done; and how long that may take."""
        with self._ledger() as ledger:
            return resume_answer(ledger, ledger.job(self._key), strategy=None, now_ms=SystemClock().wall_ms())

    def checkpoint_documents(
        self, level: str = "chunk", *, number: int | None = None, status: str | None = None
    ) -> list[Row]:
        """Documents of an images job: of its `job`, or of every `chunk`, `engine`, `download` or `keyword`, or its
        `summary`. As of now, or as of a checkpoint's number; `status` keeps the `pending`, `in_progress`, `completed`
        or `failed` ones."""
        with self._ledger() as ledger:
            job, now_ms = ledger.job(self._key), SystemClock().wall_ms()
            point = None if number is None else whole_checkpoint(ledger, job, number)
            found = level_documents(ledger, job, level, point=point, status=status, now_ms=now_ms)
            return [Row(each) for each in found]

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
            job = ledger.job(self._key)
            storage = self._storage()
            with results_of(storage, ledger, job, where=where, fields=chosen, distinct=distinct) as results:
                for shaped in results.objects():
                    yield Row(shaped)

    def stream(self, consumer: str | None = None, *, fields: str = "", work: bool = True) -> Iterator[Row]:
        """Results as they are committed, until the job ends; it is worked meanwhile, if no other process does.

        A named consumer goes on where it was saved last, at least once: what it was handed when it died comes again.
        With `work=False` it only follows, and also ends when no process works the job any more.
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
        shard: int | None = None,
        split: str = "",
    ) -> int:
        """Write results to a file, whole or not at all; how many. The form is the suffix's, unless it is named; a path
        that ends with `/` is a folder of Markdown files, which is brought up to date.

        `distinct`: of pages with the same bytes only the first that was found. `shard` (images in one file) and `split`
        (`"80/10/10"`) are for `format="webdataset"`.
        """
        most = _shard(shard)
        meant = FORMS.get(format) if format else form_by_ending(str(path))
        if meant is None:
            raise BadParams(f"{path}: there is no form {format or 'of that suffix'}; there are: {', '.join(NAMES)}")
        refuse_shards(meant.name, most, split)
        if meant.is_folder:
            own = {"shard": most, "split": split}
            return self._export_folder(Path(path), meant.name, where, fields, distinct=distinct, **own)
        file_path, written = writable(Path(path), self._settings.data), 0
        with self._ledger() as ledger:
            job = ledger.job(self._key)
            refuse_input(job, file_path)
            chosen = parse_fields(fields) if fields else None
            with exporter(
                self._storage(file_path), ledger, job, where=_conditions(where), fields=chosen, distinct=distinct
            ) as write_form:

                def write(file: BinaryIO) -> None:
                    nonlocal written
                    written = write_form(meant.name, file.write)

                wiring.publish(file_path, write)
        return written

    def _export_folder(self, path: Path, form: str, where: str, fields: str, **how: Any) -> int:
        folder, chosen = writable_folder(path, self._settings.data), parse_fields(fields) if fields else None
        with self._ledger() as ledger:
            job = ledger.job(self._key)
            refuse_input(job, folder, names_beside(form, catalogue.kind_of(job)))
            return export_folder(
                self._storage(folder), ledger, job, folder, form, where=_conditions(where), fields=chosen, **how
            )

    def report(self, version: int | str | None = None, *, format: str | None = None) -> dict[str, Any] | str:
        """The report of a site: the newest, or a version (`2`, `"R-3"`). With a format (`md`, `html`, `json`) its text.

        Of a job that made none, or is not complete, it is built of what is stored so far: `metadata.partial` says so.
        """
        from holdfast.views.reports import report_reader, written

        if format not in (None, "md", "html", "json"):
            raise BadParams(f"there is no format {format!r}; there are: md, html, json")
        with self._ledger() as ledger:
            job, counts, _ = ledger.books(self._key)
            if (own := catalogue.kind_of(job).report) is not None:
                made = own(ledger, job, self._settings.artifacts)
                return made.document if format in (None, "json") else made.markdown
            with report_reader(self._storage(), ledger, job, counts) as read:
                report = read(None if version is None else str(version))
        return report if format is None else written(report, format).decode()

    def snapshot(self, path: str | Path | None = None, *, with_artifacts: bool = True) -> Path:
        """Write the portable form to a new file, with the stored pages unless told otherwise; which file.

        `holdfast.restore` makes a job of it, here or elsewhere. No process may be working the job.
        """
        wanted = None if path is None else Path(path).absolute()
        with self._ledger() as ledger:
            job = ledger.job(self._key)
            return snapshot_file.take_snapshot(self._storage(), ledger, job, wanted, with_bodies=with_artifacts)[0]

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
        return isinstance(other, JobHandle) and (other.id, other._settings.data) == (self.id, self._settings.data)

    def __hash__(self) -> int:
        return hash(self.id)

    # Within

    def _storage(self, output: Path | None = None) -> Storage:
        return wiring.storage(self._settings, output)

    @contextmanager
    def _ledger(self) -> Iterator[Ledger]:
        """A connection for one call: a ledger belongs to one thread, and a Job may be used in several.

        If the folder cannot be written, reads still work, and writes say so.
        """
        with closing(wiring.open_to_look(self._settings)) as ledger:
            yield ledger

    def _row(self) -> model.Job:
        with self._ledger() as ledger:
            return ledger.job(self._key)

    def _latest(self) -> Run:
        runs = self.runs()
        if runs:
            return runs[0]
        raise Refused(f"{self.name} is {self.status} and was never run", hint=self.because)

    def _request(self, verb: Callable[..., model.Job], wanted: str) -> None:
        """Ask, and wait until the worker has done it; one that died meanwhile is stood in for."""
        with self._ledger() as ledger:
            job = verb(ledger, ledger.job(self._key), actor=ACTOR)
            while job.status == "in_progress":
                pause_thread(POLL_S)
                job = ledger.job(self._key)
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


def _shard(value: int | None) -> int | None:
    try:
        return None if value is None else units.whole(1, 10**9)(str(value))
    except ValueError as error:
        raise BadParams(f"shard: {error}") from None


def _seconds(value: float | str) -> float:
    try:
        return units.duration(0.001, 10**9)(str(value))
    except ValueError as error:
        raise BadParams(f"extend: {error}") from None
