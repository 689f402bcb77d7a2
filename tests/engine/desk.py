"""A small desk for engine tests: a real SQLite ledger, a leased job, a web that is a function, bodies in memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from holdfast.clock import SystemClock
from holdfast.engine.bodies import stored
from holdfast.engine.execute import Finished
from holdfast.engine.group import Group
from holdfast.engine.liveness import boot_id, is_dead, this_process
from holdfast.engine.patience import Patience
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.model.claim import Wish
from holdfast.model.exchange import Request, Response
from holdfast.model.job import Job, JobSpec, Options
from holdfast.model.keys import seed_address
from holdfast.model.outcome import Body, BodyRef, PlanBatch, Record, Verdict
from holdfast.model.target import Claimed
from holdfast.recipe import Context

MARSH = "https://marsh.test"
FAST = Options(delay_ms=0, per_host=64, concurrency=8)


class MemoryBlobs:
    """Bodies kept in a list; enough where the bytes themselves are not the matter."""

    def __init__(self) -> None:
        self.kept: list[bytes] = []

    def pack(self, body: Body) -> Body:
        return msgspec.structs.replace(body, sha256=sha256(body.content).digest(), member=body.content)

    def append(self, bodies: Sequence[Body]) -> list[BodyRef]:
        refs = []
        for body in map(self.pack, bodies):
            self.kept.append(body.content)
            size = len(body.content)
            refs.append(BodyRef("memory", len(self.kept), size, size, body.sha256, body.media))
        return refs

    def read(self, reference: BodyRef) -> bytes:
        return self.kept[reference.offset - 1]

    def close(self) -> None:
        return None


class FunctionFetcher:
    """A web that is a function from URL to response. Unless told otherwise its hosts have no robots.txt."""

    def __init__(self, answer: Callable[[str], Awaitable[Response]], robots: bytes | None = None) -> None:
        self._answer, self._robots = answer, robots
        self.asked: list[str] = []
        self.robots_asked: list[str] = []

    async def fetch(self, request: Request) -> Response:
        if request.url.endswith("/robots.txt"):
            self.robots_asked.append(request.url)
            status = 404 if self._robots is None else 200
            return Response(url=request.url, status=status, headers=(), body=self._robots or b"")
        self.asked.append(request.url)
        return await self._answer(request.url)

    async def close(self) -> None:
        return None


def page(url: str, *links: str) -> Response:
    body = f"<html><title>{url}</title>{''.join(f'<a href={link!r}>x</a>' for link in links)}</html>".encode()
    return Response(url=url, status=200, headers=(("content-type", "text/html"),), body=body)


class Desk:
    """One job with one seed, leased by this process, ready to be worked by hand."""

    def __init__(self, folder: Path, options: Options = FAST) -> None:
        self.path = folder / "ledger.db"
        self.ledger = self.open()
        spec = JobSpec(recipe="site", name="marsh", identity="site:marsh", params={}, options=options, chunking="key")
        self.job: Job = self.ledger.submit(spec)[0]
        self.job = self.ledger.move(self.job.id, "start", actor="user", because="test")
        self.context = Context(params={"seeds": [MARSH + "/"]}, salt=self.ledger.salt(), chunking="key")
        leases = self.ledger.lease(self.job.id, this_process(), life_s=30, want=16, is_dead=is_dead)
        self.leases = leases
        self.control = next(lease for lease in leases if lease.kind == "control")
        plan = next(lease for lease in leases if lease.kind == "plan")
        found = (self.context.found(seed_address(MARSH + "/"), depth=0),)
        self.ledger.enqueue(
            self.job.id,
            PlanBatch.freeze(
                chunk=plan.chunk, epoch=plan.epoch, no=plan.no + 1, cursor=0, next_cursor=1, done=True, found=found
            ),
        )
        work = {lease.chunk: lease for lease in leases if lease.kind == "work"}
        self.group = Group(self.job.id, "desk", work, Patience(SystemClock(), outage_s=1))

    def open(self) -> SqliteLedger:
        return SqliteLedger.open(self.path, SystemClock(), boot_id())

    def wish(self, room: int = 8) -> Wish:
        return Wish(leases=tuple(self.group.leases.values()), room=room, delay_ms=0, per_host=64)

    def claim(self, room: int = 8) -> tuple[Claimed, ...]:
        return self.group.commit(self.ledger, (), self.wish(room), None).settled.claimed

    def finished(self, claimed: Claimed, *links: str) -> Finished:
        content = claimed.url.encode()
        body = Body(claimed.url, 200, (), content, sha256(content).digest(), "text/html", 1)
        found = tuple(self.context.found(seed_address(MARSH + link), depth=claimed.depth + 1) for link in links)
        verdict = Verdict(
            target=claimed.id, move="succeed", began_at=1, ended_at=2, disposition="page", found=found,
            records=(Record("page", b"{}"),), bytes=len(content),
        )  # fmt: skip
        return stored(MemoryBlobs(), [Finished(claimed, verdict, body)])[0]

    def urls(self, **wanted: Any) -> dict[str, str]:
        return {row.url: row.status for row in self.ledger.targets(self.job.id, **wanted)}
