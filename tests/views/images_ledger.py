"""An images job in any ledger without a world: engines name made-up URLs, and a URL's number says what becomes of it.

The plan and the judgements are the recipe's own, so the rows are those of a real job; only nothing is fetched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import msgspec

from conformance.bench import Bench
from conformance.verdicts import fail, retry, skip, succeed
from conformance.worker import Worker
from holdfast.clock import ManualClock
from holdfast.model.job import Job, JobSpec, Options
from holdfast.model.look import Generation
from holdfast.model.outcome import Done, Failed, Record, Verdict
from holdfast.model.target import Claimed, PageRow
from holdfast.recipe import Context
from holdfast.recipe.contract import numbered
from holdfast.recipes.images import facts
from holdfast.recipes.images.engines.answer import Candidate
from holdfast.recipes.images.facts import AskedQuestion, Downloaded, QuestionAnswer, Rejected, Wanted
from holdfast.recipes.images.kind import KIND
from holdfast.recipes.images.perceptual import SIGNATURE_BYTES
from holdfast.recipes.images.recipe import ImagesRecipe

NAMED = 20  # URLs of one answer
ROOM = 5_000


@dataclass
class ImagesLedger:
    """`per_answer` URLs in each answer; those of number n: 7 is 404, 8 rejected, 9 a copy of 1, of every ten."""

    bench: Bench
    keywords: tuple[str, ...] = ("cat", "dodo")
    per_keyword: int = 24
    per_answer: int = NAMED
    engines: tuple[str, ...] = ("bing", "google")
    fails: tuple[str, ...] = ()  # engines that do not answer
    name: str = "pets"
    host: str = "i.test"  # the same number is the same image at every host
    distinct_from: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.recipe = ImagesRecipe(ManualClock())
        given = {"keywords": list(self.keywords), "per_keyword": self.per_keyword, "engines": list(self.engines)}
        asked = self.recipe.check({**given, "distinct_from": self.distinct_from})
        params = KIND.settled(self.bench.ledger, asked, None)
        spec = JobSpec(
            recipe="images", name=self.name, identity=self.name, params=params, options=Options(), chunking="key",
            chunks=self.recipe.chunks(params),
        )  # fmt: skip
        self.job: Job = self.bench.ledger.submit(spec)[0]
        self.bench.ledger.move(self.job.id, "start", actor="user", because="asked for")
        self.context = Context(
            params=params,
            salt=self.bench.ledger.salt(),
            chunking="key",
            chunks=numbered(self.recipe.chunks(params)),
            chunk_count=len(self.keywords),
            of_chunk=self._of_chunk,
            of_job=self._of_job,
        )
        self.asked: list[str] = []  # questions that were put, and URLs that were fetched, in their order
        self.fetched: list[str] = []
        self.worker: Worker = self.next_worker()
        self.worker.enqueue(*self.recipe.plan(self.context))

    def next_worker(self) -> Worker:
        worker = self.bench.worker(self.job.id, ledger=self.bench.ledger)
        worker.lease(want=len(self.keywords), life_s=1e6)
        return worker

    def die(self) -> Worker:
        """The worker dies with the next level in its hands, and another takes over; the dead one."""
        dead, claimed = self.worker, self._claim()
        self.bench.dead.add(dead.owner)
        assert claimed or not self.bench.counts(self.job.id)["pending"]
        self.worker = self.next_worker()
        return dead

    def kept(self) -> dict[tuple[str, int], tuple[str, str]]:
        """(keyword, number) -> (URL, file) of every kept image."""
        where: list[tuple[str, bool, tuple[str, ...]]] = [("type", True, (facts.IMAGE,))]
        rows = self.bench.ledger.results(self.job.id, where=where, limit=10**6)
        images = [msgspec.json.decode(row.record, type=facts.Image) for row in rows]
        found = {(one.keyword, one.number): (one.url, one.path) for one in images}
        assert len(found) == len(images), "a number is given once"
        return found

    def _claim(self) -> list[Claimed]:
        """The next level; what was in the hands of a dead worker is claimed alone, one after the other."""
        self.bench.clock.advance(1)
        wish = msgspec.structs.replace(self.worker.wish(room=ROOM, per_host=ROOM, in_levels=True), named=True)
        return self.worker.take(wish) or self.worker.take(msgspec.structs.replace(wish, alone=True, room=1))

    def work(self, rounds: int = 1_000) -> None:
        """So many claims, each settled with a checkpoint; fewer where nothing is left."""
        for _ in range(rounds):
            claimed = self._claim()
            if not claimed:
                return
            self.worker.settle(*asyncio.run(self._all_settled(claimed)), checkpoint="targets")

    async def _of_chunk(self, chunk: int, types: tuple[str, ...], *, label: str = "") -> list[PageRow]:
        where: list[tuple[str, bool, tuple[str, ...]]] = [("chunk", True, (f"C-{chunk:x}",)), ("type", True, types)]
        if label:
            where.append(("label", True, (label,)))
        return self.bench.ledger.results(self.job.id, where=where, limit=10**6)

    async def _of_job(
        self, job: str, type: str, commits: Mapping[str, int], after: tuple[int, int, int], limit: int
    ) -> list[Generation]:
        ledger = self.bench.ledger
        return ledger.generations(ledger.job(job).id, type, commits=commits, after=after, limit=limit)

    def settled(self, here: Claimed) -> Verdict:
        return asyncio.run(self._settled(here))

    async def _all_settled(self, claimed: list[Claimed]) -> list[Verdict]:
        """In one loop: one for each of 10,000 targets would take longer than all their work."""
        return [await self._settled(here) for here in claimed]

    async def _settled(self, here: Claimed) -> Verdict:
        if here.type == facts.SEARCH:
            self.asked.append(here.name)
            return self._searched(here)
        if here.type == facts.DOWNLOAD:
            self.fetched.append(here.name)
            return _downloaded(here)
        outcome = await self.recipe.step(here, None, self.context)  # type: ignore[arg-type]
        if isinstance(outcome, Failed):
            return fail(here, code=outcome.code, because=outcome.message, status_code=None)
        assert isinstance(outcome, Done)
        return succeed(here, disposition=outcome.disposition, records=outcome.records, found=outcome.found)

    def _searched(self, here: Claimed) -> Verdict:
        asked = msgspec.json.decode(here.params, type=AskedQuestion)
        if asked.engine in self.fails:
            return fail(here, code="answer_unreadable", because="no page of ours", status_code=200)
        first = asked.round * self.per_answer  # the second half of an answer is that of the next engine, too
        first += asked.place * self.per_answer // 2
        found = [
            asked.named(
                Candidate(f"https://{self.host}/{asked.keyword}/{number}.jpg", rank, f"https://i.test/p/{number}")
            )
            for rank, number in enumerate(range(first, first + self.per_answer))
        ]
        record = Record("answer", msgspec.json.encode(QuestionAnswer(asked, tuple(found), ends=asked.round >= 3)))
        return succeed(here, disposition="answer", records=(record,))


def number_of(url: str) -> int:
    return int(url.rpartition("/")[2].removesuffix(".jpg"))


def content_of(url: str) -> bytes:
    """The bytes of an image: of those that end with 9, every second has those of number 1, the others nearly."""
    number, keyword = number_of(url), url.split("/", 3)[3].rpartition("/")[0]
    like = number - 8 if number % 10 == 9 else number
    near = "+" if number % 20 == 9 else ""
    return f"{keyword} {like}{near}".encode().ljust(10_000 + like)


def _downloaded(here: Claimed) -> Verdict:
    wanted = msgspec.json.decode(here.params, type=Wanted)
    number = number_of(wanted.candidate.url)
    if number % 10 == 7:
        return fail(here, because="HTTP 404")
    if number % 10 == 6 and here.attempts == 1:
        return retry(here, wait_ms=0)
    if number % 10 == 8:
        record = Record("rejected", msgspec.json.encode(Rejected("ab" * 32, 2_000, "PNG", 90, 60)))
        return skip(here, disposition="rejected", rule="too_small", because="90x60", records=(record,))
    like = number - 8 if number % 10 == 9 else number
    name = f"{wanted.asked.keyword} {like}"
    digest = sha256(name.encode()).digest()
    content = content_of(wanted.candidate.url)
    own = sha256(content).hexdigest()
    record = Downloaded(
        wanted=wanted,
        sha256=own,
        size=len(content),
        format="JPEG",
        width=640,
        height=480,
        phash=digest[:8].hex(),
        signature=(digest * 12)[:SIGNATURE_BYTES],
        path=f"sha256/{own[:2]}/{own}",
    )
    return succeed(here, disposition="downloaded", records=(Record("download", msgspec.json.encode(record)),))
