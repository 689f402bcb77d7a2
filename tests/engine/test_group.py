"""Group commit: frozen batches, unknown outcomes, and the memory of stored keys."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from engine.desk import MARSH, Desk, MemoryBlobs
from holdfast import faults
from holdfast.engine.bodies import stored
from holdfast.engine.execute import Finished
from holdfast.errors import LedgerUnavailable
from holdfast.model.outcome import Batch, Body, Verdict


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture(autouse=True)
def _disarm() -> object:
    yield
    faults.arm("")


def test_a_page_its_links_and_its_body_are_settled_together(desk: Desk) -> None:
    (home,) = desk.claim()
    committed = desk.group.commit(desk.ledger, (desk.finished(home, "/frog", "/toad"),), desk.wish(), None)
    assert {item.url for item in committed.settled.claimed} == {MARSH + "/frog", MARSH + "/toad"}
    assert desk.urls()[MARSH + "/"] == "succeeded"


def test_race_g7_a_link_of_a_refused_settle_is_not_taken_as_stored(desk: Desk) -> None:
    """ledger.md g7: the memory learns after the commit, so the next page brings the link again (FRO-03)."""
    (home,) = desk.claim()
    finished = desk.finished(home, "/frog")
    faults.arm("settle.before_commit:1:raise")
    with pytest.raises(faults.InjectedFault):
        desk.group.commit(desk.ledger, (finished,), desk.wish(), None)
    desk.group.commit(desk.ledger, (finished,), desk.wish(), None)
    assert MARSH + "/frog" in desk.urls()


def test_links_are_stored_in_the_commit_of_their_page(desk: Desk) -> None:
    """FRO-03, CHK-05: right after the commit, before anything else could run, page and links are both there."""
    (home,) = desk.claim()
    faults.arm("settle.after_commit:1:raise")
    with pytest.raises(faults.InjectedFault):
        desk.group.commit(desk.ledger, (desk.finished(home, "/frog"),), None, None)
    assert desk.urls() == {MARSH + "/": "succeeded", MARSH + "/frog": "pending"}


def test_a_link_that_is_stored_is_not_sent_again(desk: Desk) -> None:
    (home,) = desk.claim()
    (frog,) = desk.group.commit(desk.ledger, (desk.finished(home, "/frog"),), desk.wish(), None).settled.claimed
    sent: list[str] = []

    class Overheard:
        def settle(self, job: int, batches: list[Batch], *more: object) -> object:
            sent.extend(item.path for batch in batches for verdict in batch.verdicts for item in verdict.found)
            return desk.ledger.settle(job, batches)

    desk.group.commit(Overheard(), (desk.finished(frog, "/frog", "/toad"),), None, None)  # type: ignore[arg-type]
    assert sent == ["/toad"]


def test_a_lost_lease_empties_the_memory_of_keys(desk: Desk) -> None:
    (home,) = desk.claim()
    desk.group.commit(desk.ledger, (desk.finished(home, "/frog"),), None, None)
    desk.group.drop({next(iter(desk.group.leases))})
    assert len(desk.group.targets) == 0


def test_an_unknown_outcome_is_repeated_and_nothing_is_doubled(desk: Desk) -> None:
    """PER-12: the settle was stored, its reply was lost; the claim that rode along is adopted (ledger.md g2)."""
    (home,) = desk.claim()
    faults.arm("settle.after_commit:1:unknown")
    committed = desk.group.commit(desk.ledger, (desk.finished(home, "/frog"),), desk.wish(), None)
    assert committed.settled.answers[home.chunk].kind == "replayed"
    assert committed.adopted is not None
    assert [item.url for item in committed.adopted] == [MARSH + "/frog"]
    assert desk.ledger.books(desk.job.id)[1].succeeded == 1


def test_an_unknown_claim_is_adopted_with_its_commit_number(desk: Desk) -> None:
    faults.arm("claim.after_commit:1:unknown")
    committed = desk.group.commit(desk.ledger, (), desk.wish(), None)
    assert committed.adopted is not None
    (home,) = committed.adopted
    after = desk.group.commit(desk.ledger, (desk.finished(home),), None, None)
    assert after.settled.answers[home.chunk].kind == "settled"


def test_a_settle_that_never_gets_an_answer_is_raised_and_stays_in_hand(desk: Desk) -> None:
    (home,) = desk.claim()
    broken = _Unreachable()
    with pytest.raises(LedgerUnavailable):
        desk.group.commit(broken, (desk.finished(home),), None, None)  # type: ignore[arg-type]


class _Unreachable:
    def settle(self, *_: object) -> object:
        raise LedgerUnavailable


def test_work_of_a_chunk_that_went_to_another_is_lost_and_the_rest_is_settled(desk: Desk) -> None:
    (home,) = desk.claim()
    pages = desk.group.commit(
        desk.ledger, (desk.finished(home, *(f"/p/{n}" for n in range(12))),), desk.wish(12), None
    ).settled.claimed
    taken = pages[0].chunk
    lease = desk.group.leases[taken]
    desk.ledger.release((lease,))
    committed = desk.group.commit(desk.ledger, tuple(desk.finished(item) for item in pages), None, None)
    assert {item.claimed.chunk for item in committed.lost} == {taken}
    assert taken not in desk.group.leases
    assert desk.ledger.books(desk.job.id)[1].succeeded == 1 + len(committed.done)


def test_a_body_is_hashed_where_it_is_stored(desk: Desk) -> None:
    (home,) = desk.claim()
    body = Body(home.url, 200, (), b"quak", b"", "text/html", 1)
    verdict = Verdict(target=home.id, move="succeed", began_at=1, ended_at=2, disposition="page")
    (kept,) = stored(MemoryBlobs(), [Finished(home, verdict, body)])
    assert kept.verdict.body is not None
    assert kept.verdict.body.sha256 == sha256(b"quak").digest()
