"""The same facade for async programs: every method of the client and of a job, awaited, in a thread of its own.

There is one implementation; what stands here says only which methods there are.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Concatenate, ParamSpec, TypeVar

from holdfast.client.asking import ACTOR
from holdfast.client.facade import JobHandle
from holdfast.client.values import Row, Run
from holdfast.client.working import Halt, OnProgress, Progress
from holdfast.errors import Refused

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")

_END = object()


def awaited(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """The method, called in another thread."""

    @functools.wraps(method)
    async def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(method, self._plain, *args, **kwargs)

    return call


def awaited_job(
    method: Callable[Concatenate[S, P], JobHandle],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, AsyncJob]]:
    """The same of a method that answers a job."""

    @functools.wraps(method)
    async def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> AsyncJob:
        return AsyncJob(await asyncio.to_thread(method, self._plain, *args, **kwargs))

    return call


def iterated(
    method: Callable[Concatenate[S, P], Iterator[Row]],
) -> Callable[Concatenate[Any, P], AsyncIterator[Row]]:
    """An iterator whose steps are all taken in one other thread: a ledger belongs to one."""

    @functools.wraps(method)
    def walk(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[Row]:
        return _steps(lambda: method(self._plain, *args, **kwargs), Halt())

    return walk


async def _steps(begin: Callable[[], Iterator[Row]], halt: Halt) -> AsyncIterator[Row]:
    """A reader that stops asks for the halt; a step that is waiting for a result hears it."""
    loop = asyncio.get_running_loop()
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="holdfast")
    rows = begin()
    try:
        while (row := await loop.run_in_executor(thread, next, rows, _END)) is not _END:
            yield row  # type: ignore[misc]
    finally:
        halt.ask()
        ending = loop.run_in_executor(thread, rows.close)  # type: ignore[attr-defined]
        thread.shutdown(wait=False)  # never on the event loop; what was handed in is done
        await asyncio.shield(ending)


class AsyncJob:
    """A job in an async program: `await job.run()`, `await job.counts`, `async for page in job.stream()`."""

    def __init__(self, plain: JobHandle) -> None:
        self._plain = plain
        self.id, self.name, self.kind = plain.id, plain.name, plain.kind

    @property
    def status(self) -> Coroutine[Any, Any, str]:
        return asyncio.to_thread(lambda: self._plain.status)

    @property
    def because(self) -> Coroutine[Any, Any, str]:
        return asyncio.to_thread(lambda: self._plain.because)

    @property
    def counts(self) -> Coroutine[Any, Any, Any]:
        return asyncio.to_thread(lambda: self._plain.counts)

    @property
    def health(self) -> Coroutine[Any, Any, str | None]:
        return asyncio.to_thread(lambda: self._plain.health)

    async def run(
        self,
        *,
        mode: str | None = None,
        on_progress: OnProgress | None = None,
        processes: int = 1,
        trigger: str = ACTOR,
        limit: int | None = None,
    ) -> Run:
        """As Job.run. Cancelling it drains the job: pages in hand are finished, and it goes on with the next call.

        Where another process works the job, cancelling only stops watching it.
        """
        loop = asyncio.get_running_loop()

        def tell(progress: Progress) -> None:
            if on_progress is not None:
                loop.call_soon_threadsafe(on_progress, progress)

        halt = Halt()
        more: dict[str, Any] = {"processes": processes, "trigger": trigger, "limit": limit}
        working = asyncio.ensure_future(asyncio.to_thread(self._plain._run, mode, tell, halt, **more))
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError:
            halt.ask()
            with suppress(Refused):  # it was never begun, so there is no run
                await working
            raise

    def stream(self, consumer: str | None = None, *, fields: str = "", work: bool = True) -> AsyncIterator[Row]:
        """As Job.stream. Cancelling its reader ends it; the pages in hand are finished, if it worked the job."""
        halt = Halt()
        return _steps(lambda: self._plain._stream(consumer, fields, work, halt), halt)

    document = awaited(JobHandle.document)
    pause = awaited(JobHandle.pause)
    cancel = awaited(JobHandle.cancel)
    resume = awaited(JobHandle.resume)
    resume_answer = awaited(JobHandle.resume_answer)
    retry = awaited(JobHandle.retry)
    reprocess = awaited(JobHandle.reprocess)
    webhook = awaited(JobHandle.webhook)
    rollback = awaited(JobHandle.rollback)
    exclude = awaited(JobHandle.exclude)
    label = awaited(JobHandle.label)
    errors = awaited(JobHandle.errors)
    explain = awaited(JobHandle.explain)
    breakdown = awaited(JobHandle.breakdown)
    checkpoint_documents = awaited(JobHandle.checkpoint_documents)
    checkpoints = awaited(JobHandle.checkpoints)
    runs = awaited(JobHandle.runs)
    diff = awaited(JobHandle.diff)
    verify = awaited(JobHandle.verify)
    export = awaited(JobHandle.export)
    report = awaited(JobHandle.report)
    snapshot = awaited(JobHandle.snapshot)
    targets = iterated(JobHandle.targets)
    records = iterated(JobHandle.records)

    def __repr__(self) -> str:
        return f"<AsyncJob {self.name} {self.id} {self.kind}>"

    def _repr_html_(self) -> str:
        return self._plain._repr_html_()
