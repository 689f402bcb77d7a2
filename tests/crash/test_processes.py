"""Several worker processes on one job (`--processes N`): whoever dies is replaced or the same command goes on, what was
asked of the command reaches all of them, and nobody says "finished" while another still works.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from crash.scene import CONCURRENCY, PAGES, Calm, Scene
from holdfast import wiring
from holdfast.audit.witness import doubled
from holdfast.cli import exits
from holdfast.control.exclude import exclude
from holdfast.demo.command import ChildCommand, is_gone_soon, living
from holdfast.demo.stretch import prices
from holdfast.dispatch.local.stuck_workers import LOOK_EVERY_MS, LOOKS_MAX
from holdfast.model.lease import Lease
from holdfast.testing.siege import Siege
from waiting import stop, wait_until

SOME_ASKS = 30
UNTIL_SEEN_MS = 1000  # from when on the job must not end before something was seen, however slow the machine
LONG_MS = 3000
NEVER_MS = 60_000  # longer than the pages in hand get of a pause
ONE_PAGE = ["--max-depth", "0"]
STUCK_AFTER_S = (LOOKS_MAX + 1) * LOOK_EVERY_MS / 1000 + 1  # with a lease of a second
STOPPED_S = 1.5  # longer than the second that a job may stand still there


def crawling(scene: Scene, *, page_ms: int = 50, processes: int = 2) -> ChildCommand:
    """A crawl in its middle, all of its processes at work, slow enough to be disturbed there."""
    scene.slow_down(page_ms)
    command = scene.crawl(processes=processes)
    scene.await_asks(SOME_ASKS)
    if len(holders(scene)) < processes:
        scene.slow_down(UNTIL_SEEN_MS)
        wait_until(lambda: len(holders(scene)) == processes, 30, f"{processes} workers with chunks")
        scene.slow_down(page_ms)
    return command


def holders(scene: Scene) -> set[int]:
    """The pids that hold work chunks, by the ledger's word."""
    rows = query(scene, "SELECT DISTINCT owner_pid FROM chunk WHERE kind = 'work' AND owner_pid IS NOT NULL")
    return {pid for (pid,) in rows}


def await_page_in_hand(scene: Scene) -> None:
    wait_until(lambda: query(scene, "SELECT 1 FROM lane WHERE held > 0"), 30, "a page in hand")


def query(scene: Scene, sql: str, parameters: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
    """From the ledger as it is now; nothing while there is none."""
    try:
        with closing(sqlite3.connect(scene.settings.ledger_path, isolation_level=None)) as connection:
            return connection.execute(sql, parameters).fetchall()
    except sqlite3.OperationalError:
        return []


def test_two_processes_come_to_the_same_end_as_one_and_ask_once(scene: Scene, calm: Calm) -> None:
    scene.slow_down(UNTIL_SEEN_MS)
    command = scene.crawl(processes=2)
    wait_until(lambda: len(holders(scene)) == 2, 30, "two workers with chunks")
    scene.slow_down(20)
    workers = command.workers()
    assert command.wait(60) == 0, command.err
    assert holders(scene) == set()
    assert len(workers) == 2
    assert not doubled(ask["key"] for ask in scene.asks())
    calm.assert_equal_to(scene)
    rows = query(scene, "SELECT worker, count(*) FROM attempt WHERE outcome = 'succeeded' GROUP BY worker")
    assert {int(str(worker).split()[1]) for worker, _ in rows} == set(workers), "one process did all the work"
    assert query(scene, "SELECT count(*) FROM run") == [(1,)]


def test_a_killed_worker_is_replaced_and_its_chunks_are_taken_over(scene: Scene, calm: Calm) -> None:
    command = crawling(scene)
    scene.slow_down(UNTIL_SEEN_MS)
    victim = min(command.workers())
    os.kill(victim, signal.SIGKILL)
    command.wait_for(lambda: f"Worker pid {victim} died of signal 9" in command.err, seconds=30)
    wait_until(lambda: len(holders(scene) - {victim}) == 2, 30, "a replacement with chunks")
    scene.world.set_faults()
    assert command.wait(60) == 0, command.err
    calm.assert_equal_to(scene)
    assert scene.look().job.recoveries == 1


def test_as_many_workers_as_cores_have_one_each_and_the_command_none(scene: Scene) -> None:
    wide = os.sched_getaffinity(0)
    cores = sorted(wide)[:2]
    assert len(cores) == 2, "two workers cannot have a core each here"
    os.sched_setaffinity(0, set(cores))  # what we start may use these, as on a computer that has no others
    try:
        command = crawling(scene)
        scene.slow_down(UNTIL_SEEN_MS)
    finally:
        os.sched_setaffinity(0, wide)
    workers = command.workers()
    try:
        assert sorted(map(sorted, map(os.sched_getaffinity, workers))) == [[core] for core in cores]
        assert os.sched_getaffinity(command.pid) == set(cores)
        os.kill(min(workers), signal.SIGKILL)
        wait_until(lambda: len(set(command.workers()) - set(workers)) == 1, 30, "a replacement")
        wait_until(lambda: len(holders(scene) & set(command.workers())) == 2, 30, "a replacement with chunks")
        assert sorted(map(sorted, map(os.sched_getaffinity, command.workers()))) == [[core] for core in cores]
    finally:
        command.kill()


def test_kills_of_one_worker_and_of_all_in_turns_lose_nothing(scene: Scene, calm: Calm) -> None:
    crawler = scene.crawler
    crawler.pace = [*crawler.pace, "--processes", "2"]
    with Siege(crawler, Random(5)) as siege:
        stretches = [siege.stretch(PAGES // 6, takes_all=n % 2 == 1) for n in range(4)]
        stretches.append(siege.stretch(None, takes_all=False))
    assert [stretch.code for stretch in stretches] == [-9] * 4 + [0], crawler.last_words
    calm.assert_equal_to(scene)
    paid, strange = prices(stretches)
    assert strange == []
    assert max(map(len, paid)) <= 2 * CONCURRENCY


def test_workers_die_with_their_supervisor_and_the_same_command_goes_on_at_once(scene: Scene, calm: Calm) -> None:
    command = crawling(scene)
    workers = command.workers()
    scene.slow_down(LONG_MS)  # nobody comes to an end of its own meanwhile
    assert command.kill()
    assert all(is_gone_soon(pid) for pid in workers)
    asked = len(scene.asks())
    scene.world.set_faults()
    again = scene.crawled(processes=2)
    assert again.code == 0, again.err
    assert "Recovered" in again.err
    assert len(scene.asks()) - asked <= PAGES - asked + 2 * CONCURRENCY
    calm.assert_equal_to(scene)
    assert scene.look().job.recoveries == 1


def test_a_worker_that_is_stopped_dies_with_its_supervisor_too(scene: Scene) -> None:
    """It cannot notice anything by itself: the kernel must see to it."""
    command = crawling(scene)
    worker = command.workers()[0]
    os.kill(worker, signal.SIGSTOP)
    assert command.kill()
    assert is_gone_soon(worker)


def test_one_interrupt_pauses_all_and_another_number_of_processes_goes_on(scene: Scene, calm: Calm) -> None:
    command = crawling(scene)
    command.send(signal.SIGINT)
    assert command.wait(30) == 11, command.err
    assert "Pausing" in command.err
    left = scene.look()
    assert (left.job.status, left.job.paused_by, left.counts.in_progress) == ("paused", "interrupt", 0)
    scene.world.set_faults()
    assert scene.crawled(processes=3).code == 0
    calm.assert_equal_to(scene)
    assert len(scene.asks()) == PAGES


def test_an_interrupt_from_the_terminal_reaches_the_whole_group_and_still_pauses(scene: Scene, calm: Calm) -> None:
    """Ctrl-C and a hang-up are sent to every process of the foreground group: the supervisor alone decides."""
    command = crawling(scene)
    os.killpg(command.pid, signal.SIGINT)
    assert command.wait(30) == 11, command.err
    assert "died" not in command.err
    assert scene.look().job.status == "paused"
    scene.world.set_faults()
    assert scene.run("resume", "--processes", "2").code == 0
    calm.assert_equal_to(scene)
    assert len(scene.asks()) == PAGES


def test_a_second_interrupt_exits_at_once_and_takes_the_workers_with_it(scene: Scene, calm: Calm) -> None:
    command = crawling(scene)
    workers = command.workers()
    scene.slow_down(NEVER_MS)
    scene.await_asks(len(scene.asks()) + CONCURRENCY)
    command.send(signal.SIGINT)
    scene.await_request("pause")
    command.send(signal.SIGINT)
    assert command.wait(20) == 130
    assert all(is_gone_soon(pid) for pid in workers)
    assert scene.look().counts.in_progress > 0, "it has waited for its pages, or handed them back"
    scene.world.set_faults()
    assert scene.crawled(processes=2).code == 0
    calm.assert_equal_to(scene)


def test_sigterm_drains_all_and_leaves_the_job_running(scene: Scene, calm: Calm) -> None:
    command = crawling(scene)
    os.killpg(command.pid, signal.SIGTERM)  # as systemd does
    assert command.wait(30) == 11, command.err
    left = scene.look()
    assert (left.job.status, left.job.requested, left.counts.in_progress) == ("in_progress", None, 0)
    scene.world.set_faults()
    assert scene.run("resume", "--processes", "2").code == 0
    calm.assert_equal_to(scene)
    assert len(scene.asks()) == PAGES


def test_a_pause_from_elsewhere_reaches_all(scene: Scene, calm: Calm) -> None:
    command = crawling(scene)
    scene.slow_down(UNTIL_SEEN_MS)
    paused = scene.run("pause", scene.job_name)
    assert (paused.code, command.wait(30)) == (0, 10), paused.err + command.err
    assert scene.look().counts.in_progress == 0
    scene.world.set_faults()
    assert scene.run("resume", scene.job_name).code == 0
    calm.assert_equal_to(scene)


def test_a_second_command_watches_and_names_the_supervisor(scene: Scene, calm: Calm) -> None:
    first = crawling(scene)
    scene.slow_down(UNTIL_SEEN_MS)
    second = scene.crawl(processes=2)
    second.wait_for(lambda: "watching" in second.err, seconds=30)
    scene.world.set_faults()
    assert (first.wait(60), second.wait(60)) == (0, 0), first.err + second.err
    assert f"is being worked by pid {first.pid}" in second.err
    calm.assert_equal_to(scene)
    assert len(scene.asks()) == PAGES


def test_a_worker_that_cannot_start_stops_the_command_with_its_words(scene: Scene, tmp_path: Path) -> None:
    """An error is no death: it is not tried again and again."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "pycurl.py").write_text("raise ImportError('no frogs here')")
    command = scene.crawl({"PYTHONPATH": str(tmp_path / "broken")}, processes=2)
    assert command.wait(60) == 1, command.err
    assert "no frogs here" in command.err
    assert "the same command goes on" in command.err
    assert scene.asks() == []
    assert scene.crawled(processes=2).code == 0


def test_workers_that_die_at_their_start_are_not_started_for_ever(scene: Scene) -> None:
    command = scene.crawl({"HOLDFAST_FAULT": "claim.before_commit:1:kill"}, processes=2)
    assert command.wait(100) == 1, command.err
    assert "die again and again and get nothing done, the last of signal 9" in command.err
    assert not [pid for pid, _, group in living() if group == command.pid]
    assert scene.crawled(processes=2).code == 0


def test_without_the_process_that_forks_them_the_command_ends_with_a_sentence(scene: Scene, calm: Calm) -> None:
    command = crawling(scene)
    workers = command.workers()
    (fork_server,) = {parent for pid, parent, _ in living() if pid in workers}
    os.kill(fork_server, signal.SIGKILL)
    assert command.wait(30) == 1
    assert "that worker processes are forked from is gone" in command.err
    assert all(is_gone_soon(pid) for pid in workers)
    scene.world.set_faults()
    assert scene.crawled(processes=2).code == 0
    calm.assert_equal_to(scene)


def test_the_job_is_not_finished_while_another_process_still_works(scene: Scene, calm: Calm) -> None:
    """With three processes and one page at a time most of them are idle most of the time."""
    scene.slow_down(10)
    command = scene.crawl(processes=3)
    assert command.wait(60) == 0, command.err
    calm.assert_equal_to(scene)
    assert len(scene.asks()) == PAGES


def test_pages_that_were_in_hand_in_both_processes_at_a_death_are_tried_alone(scene: Scene, calm: Calm) -> None:
    """TGT-06: suspects of each process are tried alone in it, and nobody is poisoned."""
    command = crawling(scene)
    assert command.kill_all()
    suspects = scene.look().held
    assert len(suspects) > 1
    assert scene.crawled(processes=2).code == 0
    calm.assert_equal_to(scene)
    for url in suspects:
        rows = query(
            scene,
            "SELECT a.outcome FROM attempt a JOIN target t ON t.id = a.target JOIN lane l ON l.id = t.lane "
            "WHERE l.origin || t.path = ? ORDER BY a.began_at",
            (url,),
        )
        assert [outcome for (outcome,) in rows] == ["lost", "succeeded"]


def test_a_worker_that_is_stuck_is_killed_and_replaced(scene: Scene, calm: Calm) -> None:
    """It lives and renews nothing: where nobody else may take over its chunks, the job would stand still."""
    scene.slow_down(50)
    command = scene.crawl({"HOLDFAST_LEASE_S": "1"}, processes=2)
    scene.await_asks(SOME_ASKS)
    stopped = min(command.workers())
    scene.stop(stopped)
    command.wait_for(lambda: f"Worker pid {stopped} died of signal 9" in command.err, seconds=60)
    scene.world.set_faults()
    assert command.wait(60) == 0, command.err
    calm.assert_equal_to(scene)


def test_a_worker_pool_that_was_stopped_for_longer_than_a_job_may_stand_still_goes_on(scene: Scene, calm: Calm) -> None:
    """PAU-09: Ctrl-Z, or the lid of a laptop. Nobody worked meanwhile, so nothing stood still."""
    scene.slow_down(50)
    command = scene.crawl({"HOLDFAST_STALE_AFTER": "1s"}, processes=2)
    scene.await_asks(SOME_ASKS)
    os.killpg(command.pid, signal.SIGSTOP)
    time.sleep(STOPPED_S)
    os.killpg(command.pid, signal.SIGCONT)
    scene.world.set_faults()
    assert command.wait(60) == 0, command.err
    calm.assert_equal_to(scene)


def test_a_time_limit_ends_several_processes_as_soon_as_one(scene: Scene) -> None:
    """Pages in hand get a second, not the ten that a pause gives them."""
    scene.slow_down(30_000)
    command = scene.crawl(processes=2, more=["--time-limit", "1s"])
    assert command.wait(60) == exits.TIME_LIMIT, command.err
    assert scene.status()["active_seconds"] <= 6


def test_a_command_that_lost_the_control_of_its_job_takes_it_again_when_it_is_free(scene: Scene) -> None:
    """As after a sleep past its lease, or an outage of the database: one of its workers had it meanwhile, and died."""
    scene.slow_down(50)
    command = scene.crawl({"HOLDFAST_LEASE": "1s"}, processes=2)
    scene.await_asks(SOME_ASKS)
    scene.stop(command.pid)
    give_back_the_control(scene)
    command.send(signal.SIGCONT)
    assert command.wait(30) == 0, command.err
    assert f"{PAGES} succeeded" in command.err
    assert scene.run("verify", scene.job_name).code == 0


def test_what_an_exclusion_left_out_is_put_back_by_a_worker_pool_when_who_removed_it_was_killed(scene: Scene) -> None:
    """The walk stands, nobody is left to carry it out, and the job is not finished before."""
    command = crawling(scene)
    with closing(wiring.open_ledger(scene.settings)) as ledger:
        job = ledger.jobs()[0]
        made, left_out = exclude(ledger, job, "/p/1*", actor="test")
        assert left_out > 0
        ledger.include(job.id, made.n, actor="test")  # the first commit of it, and then kill -9
        assert ledger.walking(job.id) == "include"
    scene.world.set_faults()
    assert command.wait(60) == 0, command.err
    assert f"{PAGES} succeeded" in command.err
    assert scene.run("verify", scene.job_name).code == 0


def test_a_page_that_comes_after_the_job_stood_still_too_long_completes_it_and_that_is_said(scene: Scene) -> None:
    """The ledger says how a job ended, not what its workers were sent away for."""
    scene.slow_down(LONG_MS)
    command = scene.crawl({"HOLDFAST_STALE_AFTER": "1s"}, processes=2, more=ONE_PAGE)
    assert command.wait(30) == 0, command.err
    assert scene.look().job.status == "completed"


def test_the_last_page_that_comes_after_sigterm_completes_the_job_and_that_is_said(scene: Scene) -> None:
    scene.slow_down(LONG_MS)
    command = scene.crawl(processes=2, more=ONE_PAGE)
    scene.await_asks(1)
    command.send(signal.SIGTERM)
    assert command.wait(30) == 0, command.err
    assert scene.look().job.status == "completed"


def test_a_pause_that_comes_while_a_job_that_stands_still_is_wound_up_is_what_it_ends_with(scene: Scene) -> None:
    scene.slow_down(60_000)
    stands_still = {"HOLDFAST_STALE_AFTER": "1s", "HOLDFAST_PAUSE_DEADLINE": "5s"}
    command = scene.crawl(stands_still, processes=2, more=ONE_PAGE)
    await_page_in_hand(scene)
    wait_until(lambda: len(command.workers()) == 1, 30, "the worker without the page sent away")
    with closing(wiring.open_ledger(scene.settings)) as ledger:
        ledger.request(ledger.jobs()[0].id, "pause", actor="test", because="test", paused_by="user")
    assert command.wait(30) == exits.PAUSED, command.err
    assert scene.status()["status"] == "paused"


def test_a_job_that_stood_still_too_long_is_failed_by_a_worker_pool(scene: Scene) -> None:
    scene.slow_down(60_000)
    stands_still = {"HOLDFAST_STALE_AFTER": "1s", "HOLDFAST_PAUSE_DEADLINE": "1s"}
    command = scene.crawl(stands_still, processes=2, more=ONE_PAGE)
    assert command.wait(30) == exits.JOB_FAILED, command.err
    assert scene.look().job.status == "failed"


def test_nobody_is_taken_for_stuck_while_the_ledger_can_be_read_and_not_written(scene: Scene) -> None:
    """Then no lease can be renewed, however well its worker is (D14)."""
    scene.slow_down(50)
    command = scene.crawl({"HOLDFAST_LEASE": "1s"}, processes=2)
    scene.await_asks(SOME_ASKS)
    scene.slow_down(UNTIL_SEEN_MS)
    wait_until(lambda: len(holders(scene)) == 2, 30, "two workers with chunks")
    workers = command.workers()
    with closing(sqlite3.connect(scene.settings.ledger_path, isolation_level=None, timeout=30)) as other:
        other.execute("BEGIN IMMEDIATE")
        time.sleep(STUCK_AFTER_S + 2)
        other.execute("ROLLBACK")
    wait_until(lambda: holders(scene) == set(workers), 30, "the same workers with chunks")
    scene.world.set_faults()
    assert command.wait(60) == 0, command.err
    assert "died" not in command.err


def test_a_command_goes_on_while_one_of_its_own_workers_has_the_control(scene: Scene) -> None:
    """As after a sleep of all from which a worker woke up first: no stranger has the job, so nobody is sent away."""
    scene.slow_down(50)
    command = scene.crawl({"HOLDFAST_LEASE": "1s"}, processes=2)
    scene.await_asks(SOME_ASKS)
    workers = command.workers()
    scene.slow_down(LONG_MS // 5)  # so that the job is not over before the command has noticed
    scene.stop(command.pid)
    for pid in workers:
        stop(pid)
    time.sleep(STOPPED_S)
    for pid in workers:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: control_holder(scene) in workers, 30, "a worker with the control")
    command.send(signal.SIGCONT)
    time.sleep(STOPPED_S)  # several beats of its lease: it knows by now
    assert sorted(command.workers()) == sorted(workers)
    scene.world.set_faults()
    assert command.wait(60) == 0, command.err
    assert f"{PAGES} succeeded" in command.err
    assert "died" not in command.err


def control_holder(scene: Scene) -> int | None:
    rows = query(scene, "SELECT owner_pid FROM chunk WHERE kind = 'control' AND owner_pid IS NOT NULL")
    return rows[0][0] if rows else None


def give_back_the_control(scene: Scene) -> None:
    """In the name of whoever has it."""
    ledger = wiring.open_ledger(scene.settings)
    job = ledger.jobs()[0]
    control = next(holder for holder in ledger.holders(job.id) if holder.kind == "control")
    ledger.release([Lease(control.chunk, job.id, "control", 0, control.epoch, 0, job.phase)])
    ledger.close()
