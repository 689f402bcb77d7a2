"""What a snapshot or a restore refuses to do, what is left when it is cut short, and that it can be repeated."""

from __future__ import annotations

import fcntl
import io
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from audit.stories import Worker, begun
from holdfast import faults, wiring
from holdfast.audit.verify import verify
from holdfast.blobs.shelf import MARK, SegmentShelf
from holdfast.clock import ManualClock
from holdfast.config import Settings
from holdfast.control import snapshot
from holdfast.control.losses import every_page
from holdfast.engine.liveness import boot_id, this_process
from holdfast.errors import BadParams, LedgerUnavailable, LedgerUnfit, NotFound, Refused
from holdfast.faults import InjectedFault
from holdfast.ledger.sqlite import SqliteLedger
from oracle.ledger import MemoryLedger, MemoryStore
from snapshots.jobs import AT_MS, image, restored, sqlite_ledger, taken, with_bodies, write_jobs


@dataclass(slots=True)
class Scene:
    """A ledger with jobs, its bodies, and an empty ledger in another folder."""

    ledger: SqliteLedger
    jobs: dict[str, int]
    shelf: SegmentShelf
    empty: SqliteLedger
    elsewhere: Path
    ledger_path: Path

    def taken(self) -> bytes:
        return taken(self.ledger, self.jobs["court"], self.shelf)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    with closing(sqlite_ledger(here / "ledger.db")) as ledger, closing(sqlite_ledger(elsewhere / "ledger.db")) as empty:
        jobs = write_jobs(ledger)
        yield Scene(ledger, jobs, with_bodies(ledger, jobs["court"], here), empty, elsewhere, here / "ledger.db")
    faults.arm("")


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_name_that_is_taken_is_refused_unless_another_is_given(scene: Scene) -> None:
    stored = scene.taken()
    first = restored(scene.empty, scene.elsewhere, stored)
    with pytest.raises(Refused, match="there is a job court already") as refused:
        restored(scene.empty, scene.elsewhere, stored)
    assert "--replace keeps it as court~1" in refused.value.hint
    second = restored(scene.empty, scene.elsewhere, stored, name="court-2")
    assert (second.name, second.identity) == ("court-2", "site#court-2")
    assert second.uid != first.uid
    assert len(second.uid) == len("J-7f3a")
    assert len(files_below(scene.elsewhere / "segments")) == 2
    assert all(verify(scene.empty.query, job.id) == [] for job in (first, second))
    with pytest.raises(BadParams, match="cannot be a job's name"):
        restored(scene.empty, scene.elsewhere, stored, name="\x07")


def test_a_restored_job_does_not_write_to_the_file_of_the_one_it_was(scene: Scene) -> None:
    job = scene.ledger.books(scene.jobs["court"])[0]
    options = msgspec.structs.replace(job.options, output="/srv/frogs.jsonl", output_form="jsonl", delay_ms=7)
    amended = scene.ledger.amend(job, options=options, actor="user", because="-o")
    assert amended.options.output
    kept = restored(scene.empty, scene.elsewhere, scene.taken()).options
    assert (kept.output, kept.output_form, kept.delay_ms) == ("", "", 7)


def test_a_job_that_is_replaced_is_kept_under_another_name(scene: Scene) -> None:
    before = image(scene.ledger, scene.jobs["court"])
    job = restored(scene.ledger, scene.elsewhere, scene.taken(), replace=True)
    assert job.name == "court"
    kept = scene.ledger.books(scene.jobs["court"])[0]
    assert (kept.name, kept.identity, kept.status) == ("court~1", None, "paused")
    assert image(scene.ledger, kept.id)["target"] == before["target"]
    assert [verify(scene.ledger.query, each.id) for each in (kept, job)] == [[], []]


def test_a_restore_that_is_refused_does_not_touch_the_job_that_it_would_replace(scene: Scene) -> None:
    job = begun(scene.empty, ManualClock(), "court")
    job.release()
    before = scene.empty.books(job.job), image(scene.empty, job.job)
    assert before[0][0].status == "in_progress"
    stored = scene.taken()
    faults.arm("restore.before_commit:1:raise")
    with pytest.raises(InjectedFault):
        restored(scene.empty, scene.elsewhere, stored, replace=True)
    faults.arm("")
    assert (scene.empty.books(job.job), image(scene.empty, job.job)) == before
    restored(scene.empty, scene.elsewhere, stored, replace=True)
    kept = scene.empty.books(job.job)[0]
    assert (kept.name, kept.status, verify(scene.empty.query, kept.id)) == ("court~1", "paused", [])


def test_a_job_that_is_worked_is_not_copied_and_not_replaced(scene: Scene) -> None:
    stored = scene.taken()
    job = restored(scene.empty, scene.elsewhere, stored)
    with closing(SqliteLedger.open(scene.elsewhere / "ledger.db", ManualClock(), boot_id())) as live:
        live.move(job.id, "resume", actor="user", because="go on")
        live.lease(job.id, this_process(), life_s=30, want=16, is_dead=lambda owner: False)
        with pytest.raises(Refused, match="is being worked by"):
            taken(live, job.id)
        with pytest.raises(Refused, match="cannot be replaced now"):
            restored(live, scene.elsewhere, stored, replace=True)
    assert [each.name for each in scene.empty.jobs()] == ["court"]


def test_what_the_dead_held_is_put_back_first(scene: Scene) -> None:
    job = restored(scene.empty, scene.elsewhere, scene.taken())
    scene.empty.move(job.id, "resume", actor="user", because="go on")
    worker = Worker(scene.empty, ManualClock(), job.id, pid=50)
    worker.lease()
    assert worker.claim(1, alone=True)
    scene.empty.request(job.id, "pause", actor="user", because="lunch")
    with closing(SqliteLedger.open(scene.elsewhere / "ledger.db", ManualClock(), "another boot")) as later:
        stored = taken(later, job.id)
    assert scene.empty.books(job.id)[0].status == "paused"
    again = restored(scene.ledger, scene.elsewhere, stored, name="again")
    assert scene.ledger.books(again.id)[1].in_progress == 0
    assert verify(scene.ledger.query, again.id) == []


def test_a_cancel_that_the_dead_owed_is_carried_out_whole_first(scene: Scene) -> None:
    job = restored(scene.empty, scene.elsewhere, scene.taken())
    scene.empty.move(job.id, "resume", actor="user", because="go on")
    Worker(scene.empty, ManualClock(), job.id, pid=50).lease()
    assert scene.empty.books(job.id)[1].pending
    scene.empty.request(job.id, "cancel", actor="user", because="enough")
    with closing(SqliteLedger.open(scene.elsewhere / "ledger.db", ManualClock(), "another boot")) as later:
        stored = taken(later, job.id)
    again = restored(scene.ledger, scene.elsewhere, stored, name="again")
    for ledger, each in ((scene.empty, job), (scene.ledger, again)):
        after, counts, _ = ledger.books(each.id)
        assert (after.status, counts.left) == ("cancelled", 0)
        assert counts.cancelled
        assert verify(ledger.query, each.id) == []


class Meddling:
    """A ledger in which somebody labels a target while rows are copied."""

    def __init__(self, ledger: SqliteLedger, target: int) -> None:
        self._ledger, self._target = ledger, target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def copy_out(self, job: int, shape: Any, **more: Any) -> Any:
        if shape.table == "record":
            self._ledger.label(job, [self._target], "keep", actor="somebody")
        return self._ledger.copy_out(job, shape, **more)


def test_a_job_that_changes_while_it_is_read_gives_no_snapshot(scene: Scene) -> None:
    job = scene.jobs["court"]
    file = io.BytesIO()
    meddling: Any = Meddling(scene.ledger, scene.ledger.targets(job)[0].id)
    with pytest.raises(Refused, match="changed while it was read"):
        snapshot.write(meddling, None, scene.ledger.books(job)[0], file.write, at_ms=AT_MS)
    with pytest.raises(Refused, match="damaged"):
        restored(scene.empty, scene.elsewhere, file.getvalue())


def test_bodies_that_are_missing_give_no_snapshot_but_one_without_bodies(scene: Scene) -> None:
    gone = SegmentShelf(scene.elsewhere / "segments")
    with pytest.raises(NotFound, match="is missing"):
        taken(scene.ledger, scene.jobs["court"], gone)
    assert taken(scene.ledger, scene.jobs["court"])


def test_a_body_of_the_generation_that_counts_is_demanded_though_it_has_no_record(scene: Scene) -> None:
    """A restored job of which `verify` misses bytes would be none."""
    with closing(sqlite3.connect(scene.ledger_path)) as file, file:
        file.execute("DELETE FROM record")
    assert list(every_page(scene.ledger, scene.jobs["court"])) == []
    with pytest.raises(NotFound, match="is missing"):
        taken(scene.ledger, scene.jobs["court"], SegmentShelf(scene.elsewhere / "segments"))


def test_a_restore_that_fails_before_its_commit_leaves_nothing_and_can_be_repeated(scene: Scene) -> None:
    stored = scene.taken()
    faults.arm("restore.before_commit:1:raise")
    with pytest.raises(InjectedFault):
        restored(scene.empty, scene.elsewhere, stored)
    faults.arm("")
    assert scene.empty.jobs() == []
    assert not list((scene.elsewhere / "segments").rglob("*"))
    assert verify(scene.empty.query, restored(scene.empty, scene.elsewhere, stored).id) == []


@pytest.mark.parametrize("stop", [LedgerUnavailable("lost"), KeyboardInterrupt()], ids=["answer lost", "Ctrl-C"])
def test_bodies_stay_where_nobody_knows_whether_their_rows_were_committed(
    stop: BaseException, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = scene.taken()
    copy_in = scene.empty.copy_in

    def committed_then_stopped(arrival: Any, slices: Any, **more: Any) -> Any:
        copy_in(arrival, slices, **more)
        raise stop

    with monkeypatch.context() as patch:
        patch.setattr(scene.empty, "copy_in", committed_then_stopped)
        with pytest.raises(type(stop)):
            restored(scene.empty, scene.elsewhere, stored)
    [job] = scene.empty.jobs()
    [(name,)] = scene.empty.query("SELECT name FROM segment WHERE job = ?", (job.id,))
    assert (scene.elsewhere / "segments" / name).stat().st_size == 900
    with pytest.raises(Refused, match="already"):
        restored(scene.empty, scene.elsewhere, stored)


def test_what_a_killed_restore_left_is_not_taken_for_a_lost_ledger(scene: Scene, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "fresh")
    left = settings.segments / "J-7f3a"
    left.mkdir(parents=True)
    (left / "w-1.warc.gz").write_bytes(b"half")
    with pytest.raises(LedgerUnfit, match="knows of no job"):
        wiring.open_ledger(settings)
    (left / MARK).write_bytes(b"")
    with closing(wiring.open_ledger(settings)) as ledger:
        assert ledger.jobs() == []


def test_bodies_are_never_put_into_a_folder_that_is_somebody_elses(scene: Scene) -> None:
    uid = scene.ledger.books(scene.jobs["court"])[0].uid
    foreign = scene.elsewhere / "segments" / uid / "w-1.warc.gz"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"foreign")
    job = restored(scene.empty, scene.elsewhere, scene.taken())
    assert job.uid != uid
    assert files_below(foreign.parent) == ["w-1.warc.gz"]


def test_two_restores_of_one_job_do_not_meet_in_one_folder(scene: Scene) -> None:
    shelf = SegmentShelf(scene.elsewhere / "segments")
    ids = ["J-7f3a", "J-7f3b"]
    with (
        shelf.receiving(ids, _nobodys),
        pytest.raises(Refused, match="another process"),
        shelf.receiving(ids, _nobodys),
    ):
        pass


def _nobodys(uid: str) -> bool:
    return False


def test_a_folder_that_became_a_jobs_while_it_was_waited_for_is_passed_by(scene: Scene) -> None:
    segments = scene.elsewhere / "segments"
    (segments / "J-7f3a").mkdir(parents=True)
    (segments / "J-7f3a" / MARK).touch()

    with SegmentShelf(segments).receiving(["J-7f3a", "J-7f3b"], lambda uid: uid == "J-7f3a") as (uid, receive):
        receive("w-1.warc.gz", [b"bytes"])
    assert uid == "J-7f3b"
    assert files_below(segments) == ["J-7f3b/w-1.warc.gz"]


def test_a_mark_that_was_taken_away_while_it_was_waited_for_is_not_held(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another restore came to its end between the opening of its mark and the lock on it."""
    segments = scene.elsewhere / "segments"
    lock = fcntl.flock

    def late(descriptor: int, how: int) -> None:
        (segments / "J-7f3a" / MARK).unlink(missing_ok=True)
        lock(descriptor, how)

    monkeypatch.setattr("fcntl.flock", late)
    with SegmentShelf(segments).receiving(["J-7f3a", "J-7f3b"], _nobodys) as (uid, _):
        assert uid == "J-7f3b"


def test_what_a_killed_restore_left_is_used_where_it_is_the_same_and_never_replaced(scene: Scene) -> None:
    stored, uid = scene.taken(), scene.ledger.books(scene.jobs["court"])[0].uid
    job = restored(scene.empty, scene.elsewhere, stored)
    [file] = (scene.elsewhere / "segments" / uid).iterdir()
    for content in (file.read_bytes() + b".", file.read_bytes()[:-1], b""):
        folder = scene.elsewhere / f"again-{len(content)}"
        left = folder / "segments" / uid / file.name
        left.parent.mkdir(parents=True)
        left.write_bytes(content)
        (left.parent / MARK).touch()
        with closing(sqlite_ledger(folder / "ledger.db")) as ledger:
            with pytest.raises(Refused, match="which a restore that did not end has left"):
                restored(ledger, folder, stored)
            assert (left.read_bytes(), ledger.jobs(), (left.parent / MARK).exists()) == (content, [], True)
            left.write_bytes(file.read_bytes())
            assert restored(ledger, folder, stored).uid == job.uid
            assert files_below(folder / "segments") == [f"{uid}/{file.name}"]


def test_a_ledger_in_memory_has_no_portable_form() -> None:
    ledger = MemoryLedger(MemoryStore(), ManualClock(), "boot")
    for call in (ledger.shapes, lambda: ledger.standing(1)):
        with pytest.raises(Refused, match="no portable form"):
            call()
