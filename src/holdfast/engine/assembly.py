"""A worker put together from what its session has: fetching, the context of its steps, the executor and the rest."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import msgspec
from msgspec.structs import replace

from holdfast.engine import joblog
from holdfast.engine.blocks import Blocks
from holdfast.engine.checkpointer import Checkpointer
from holdfast.engine.execute import Executor
from holdfast.engine.fetchers import Fetchers
from holdfast.engine.fetching import Fetching
from holdfast.engine.group import Committed, Group
from holdfast.engine.heartbeat import Heartbeat
from holdfast.engine.ledger_thread import LedgerThread
from holdfast.engine.pace import Pace
from holdfast.engine.patience import Patience
from holdfast.engine.planner import Planner
from holdfast.engine.recovery import free_dead
from holdfast.engine.robots import RobotsBook
from holdfast.engine.session_parts import Parts
from holdfast.engine.step_reads import StepReads
from holdfast.engine.stored import StoredResults
from holdfast.engine.worker import Worker
from holdfast.model.edit import NEW, STORED, Exclusion
from holdfast.model.job import Job, Options, Phases
from holdfast.model.lease import Lease
from holdfast.policy.exclusion import pattern_of
from holdfast.policy.leasing import in_hand_max, options_of
from holdfast.policy.patterns import untried
from holdfast.policy.politeness import without_hosts
from holdfast.policy.scope import patterns_of
from holdfast.ports import LanguageModel
from holdfast.recipe import Context
from holdfast.recipe.contract import numbered

log = logging.getLogger(__name__)


class WorkerAssembly(msgspec.Struct, frozen=True, kw_only=True):
    """Makes the worker of one session. `pages_max` is the job's limit as the session was opened with it."""

    parts: Parts
    job: Job
    thread: LedgerThread
    patience: Patience
    owner: str
    leases: tuple[Lease, ...]
    phases: Phases
    heartbeat: Heartbeat
    fetchers: Fetchers
    model: LanguageModel | None
    pages_max: int | None
    on_commit: Callable[[Committed, int], None]

    async def worker(self) -> Worker:
        parts, job = self.parts, self.job
        if parts.archived is not None:
            job = replace(job, options=without_hosts(job.options))
        salt, mode, exclusions, chunks = await self.thread.insist(
            lambda book: (book.salt(), book.mode(job.id), book.exclusions(job.id), book.chunk_names(job.id))
        )
        self._tell_untried(job, exclusions)
        options = options_of(job.options, workers=parts.workers, place=parts.place)
        if mode == STORED:  # stored pages need no requests, so no host is waited for
            options = replace(options, delay_ms=0, jitter=0)
        book = self._robots(options)
        pace = Pace(delay_ms=options.delay_ms, jitter=options.jitter)
        blocks = Blocks(job.id, self.thread, parts.clock, delay_ms=options.delay_ms)
        context = self._context(job, options, salt, chunks, book)
        plan = next((lease for lease in self.leases if lease.kind == "plan"), None)
        work = {lease.chunk: lease for lease in self.leases if lease.kind == "work"}
        return Worker(
            job=job,
            options=options,
            clock=parts.clock,
            thread=self.thread,
            group=Group(job.id, self.owner, work, self.patience, per_host_max=options.targets_per_host),
            blobs=parts.blobs,
            executor=Executor(
                parts.recipe,
                context,
                self._fetching(options, book, pace, blocks),
                parts.clock,
                max_attempts=job.options.max_attempts,
                random=parts.random,
                stored=StoredResults(job.id, self.thread, parts.blobs) if mode == STORED else None,
            ),
            random=parts.random,
            pace=pace,
            blocks=blocks,
            heartbeat=self.heartbeat,
            checkpointer=Checkpointer(job.id, options, parts.clock, workers=parts.workers),
            planner=None if plan is None else Planner(parts.recipe, context, job.id, plan),
            has_room=parts.has_room,
            files=parts.files,
            on_commit=self.on_commit,
            on_idle=free_dead,
            stop_deadline_s=parts.stop_deadline_s,
            in_levels=parts.recipe.in_levels(job.params),
            named=parts.recipe.names_targets or bool(self.phases.made),  # made targets have names
            compared=parts.recipe.compares and mode == NEW,
            pages_max=self.pages_max,
            made=self.phases.made,
            journal=parts.journal,
            in_hand_max=in_hand_max(
                options,
                workers=parts.workers,
                place=parts.place,
                one_host=job.chunking == "key",
                ahead=parts.claims_ahead,
            ),
        )

    def _tell_untried(self, job: Job, exclusions: Iterable[Exclusion]) -> None:
        """Patterns that take too long to be tried are told, in the job's log too."""
        journal = self.parts.journal
        standing = [pattern_of(each) for each in exclusions if each.is_active(job.generation)]
        for said in filter(None, map(untried, (*patterns_of(job.params), *standing))):
            log.warning("%s", said)
            if journal is not None:
                joblog.pattern_untried(journal, said)

    def _robots(self, options: Options) -> RobotsBook:
        parts = self.parts
        tell_cut = None if parts.journal is None else partial(joblog.robots_cut, parts.journal)
        return RobotsBook(
            self.thread,
            parts.clock,
            parts.random,
            ignoring=options.ignore_robots,
            keeping=parts.archived is None,
            tell_cut=tell_cut,
        )

    def _fetching(self, options: Options, book: RobotsBook, pace: Pace, blocks: Blocks) -> Fetching:
        parts = self.parts
        return Fetching(
            self.fetchers,
            book,
            self.thread,
            parts.clock,
            options,
            parts.random,
            pace,
            blocks,
            files=parts.files,
            asks_hosts=parts.archived is None,
        )

    def _context(self, job: Job, options: Options, salt: bytes, chunks: Mapping[int, str], book: RobotsBook) -> Context:
        parts, reads = self.parts, StepReads(self.job.id, self.thread, self.parts.blobs)
        return Context(
            params=job.params,
            salt=salt,
            chunking=job.chunking,
            barring=book.barring,
            refusal=parts.refusal,
            cookies=options.cookies,
            browser=options.browser,
            stored=reads.body,
            results=reads.results,
            of_chunk=reads.of_chunk,
            of_job=reads.of_job,
            max_attempts=job.options.max_attempts,
            max_bytes=options.max_bytes,
            nofollow="off" if options.ignore_robots else options.nofollow,
            chunks=numbered(tuple(chunks.values())),
            chunk_count=len(chunks),
            kept=parts.kept,
            archived=parts.archived,
            model=self.model,
        )
