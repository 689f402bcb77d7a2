"""Bodies packed ahead: in time that is left over, and as `append` would pack them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from engine.desk import MARSH, MemoryBlobs
from holdfast.blobs.segments import Segments
from holdfast.engine.bodies import PACKED_AHEAD_BYTES_MAX, pack_ahead
from holdfast.engine.execute import Finished
from holdfast.errors import BadParams
from holdfast.model.outcome import Body, Verdict
from holdfast.model.target import Claimed


def finished(n: int, content: bytes = b"<p>frog</p>") -> Finished:
    claimed = Claimed(n, 1, 1, bytes(16), f"{MARSH}/{n}", "marsh.test", "page", 0, None, 0, 1, 1)
    verdict = Verdict(target=n, move="succeed", began_at=0, ended_at=0)
    return Finished(claimed, verdict, Body(claimed.url, 200, (), content, b"", "text/html", 1_772_373_600_123))


def packed(waiting: list[Finished]) -> list[bool]:
    return [item.body is not None and bool(item.body.member) for item in waiting]


def test_it_packs_while_there_is_nothing_else_to_do_and_stops_when_there_is() -> None:
    waiting, turns = [finished(n) for n in range(20)], iter(range(100))
    asyncio.run(pack_ahead(MemoryBlobs(), waiting, lambda: next(turns) < 9))
    assert packed(waiting) == [True] * 9 + [False] * 11


def test_others_have_their_turn_meanwhile() -> None:
    async def run() -> int:
        waiting = [finished(n) for n in range(40)]
        task, turns = asyncio.ensure_future(pack_ahead(MemoryBlobs(), waiting, lambda: True)), 0
        while not task.done():
            turns += 1
            await asyncio.sleep(0)
        assert all(packed(waiting))
        return turns

    assert asyncio.run(run()) >= 10


def test_a_body_that_would_keep_the_event_loop_is_left_for_the_ledgers_thread() -> None:
    waiting = [finished(1, bytes(PACKED_AHEAD_BYTES_MAX + 1)), finished(2)]
    asyncio.run(pack_ahead(MemoryBlobs(), waiting, lambda: True))
    assert packed(waiting) == [False, True]


def test_a_body_that_cannot_be_packed_is_told_where_it_is_stored() -> None:
    class Refusing(MemoryBlobs):
        def pack(self, body: Body) -> Body:
            if body.url.endswith("/1"):
                raise BadParams("does not fit a segment")
            return super().pack(body)

    waiting = [finished(1), finished(2)]
    asyncio.run(pack_ahead(Refusing(), waiting, lambda: True))
    assert packed(waiting) == [False, True]


def test_what_is_packed_ahead_is_stored_as_what_is_not(tmp_path: Path) -> None:
    first, second = Segments(tmp_path / "a", "J-1", "w"), Segments(tmp_path / "b", "J-1", "w")
    bodies = [item.body for n in range(3) if (item := finished(n)).body is not None]
    ahead = [first.pack(body) for body in bodies]
    references = first.append([ahead[0], bodies[1], ahead[2]])
    assert references == second.append(bodies)
    assert [first.read(reference) for reference in references] == [body.content for body in bodies]
    [one], [other] = list((tmp_path / "a/J-1").iterdir()), list((tmp_path / "b/J-1").iterdir())
    assert one.read_bytes() == other.read_bytes()
