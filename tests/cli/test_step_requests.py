"""Requests of a step beyond its target's own: robots.txt, turns, redirects and failures at other hosts (FRO-09, H5)."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import Running, holdfast, ledger_in
from cli.polite_origin import Answer, Origin, linking
from files_web import FilesWeb
from holdfast.audit.verify import verify
from holdfast.clock import SystemClock
from waiting import wait_until

CASES = 4
DELAY_S = 0.8
LEAST_S = DELAY_S * 0.8 - 0.25  # less the jitter, and how long a request is under way
BOXES = """
import asyncio
from holdfast.recipe import Recipe, record, target

boxes = Recipe("boxes", params={"start": str, "other": str})

@boxes.plan
def plan(params):
    for n in range(4):
        yield target(f"{params['start']}/case/{n}", type="case", params={"file": f"{params['other']}/file/{n}"})

@boxes.step("case")
async def case(here, fetch):
    await fetch(here.url)
    file = await fetch(here.params["file"])
    yield record(title=file.url)
"""
GATHERING = BOXES.replace(
    '    file = await fetch(here.params["file"])\n',
    '    _, file = await asyncio.gather(*(fetch(here.url + f"?part={n}") for n in (1, 2)))\n',
)
EACH = 3
CROSSING = BOXES.replace("range(4)", f"range({EACH})").replace(
    "        yield target(f\"{params['start']}/case/{n}\"",
    """        yield target(f"{params['other']}/case/{n}", type="case", params={"file": f"{params['start']}/file/{n}"})
        yield target(f"{params['start']}/case/{n}\"""",
)
MANY, NEEDY = 40, 6
SOME_NEED_A_FILE = BOXES.replace("range(4)", f"range({MANY})").replace(
    '    file = await fetch(here.params["file"])\n',
    f'    file = await fetch(here.params["file"] if int(here.url.split("/")[-1]) < {NEEDY} else here.url)\n',
)


class Pond:
    """A host of the test: its robots.txt, what single paths answer, and else a page."""

    def __init__(self, robots: bytes = b"", after_s: float = 0.0) -> None:
        self.robots, self.after_s = robots, after_s
        self.said: dict[str, Answer] = {}

    def __call__(self, path: str) -> Answer:
        if path == "/robots.txt":
            return Answer(200, self.robots)
        return self.said.get(path) or linking(after_s=self.after_s)


@pytest.fixture
def home() -> Iterator[tuple[Pond, Origin]]:
    pond = Pond()
    with Origin(pond) as origin:
        yield pond, origin


@pytest.fixture
def box() -> Iterator[tuple[Pond, Origin]]:
    pond = Pond()
    with Origin(pond) as origin:
        yield pond, origin


def words(folder: Path, home: Origin, box: Origin, *more: str, recipe: str = BOXES, delay: str = "0") -> list[str]:
    (folder / "boxes.py").write_text(recipe)
    params = ["--param", f"start={home.url}", "--param", f"other={box.url}"]
    allowed = ["--allow", home.address, "--allow", box.address]
    return ["run", "boxes.py", *params, *allowed, "--delay", delay, "--name", "frogs", *more]


def ends(folder: Path) -> Counter[tuple[str, str | None]]:
    with ledger_in(folder) as ledger:
        job = ledger.job("frogs")
        assert verify(ledger.query, job.id) == []
        assert not any(look.in_flight for look in ledger.hosts())
        return Counter((row.status, row.code or row.disposition) for row in ledger.targets(job.id))


def test_a_second_host_has_its_own_turns_and_its_own_robots_txt(
    tmp_path: Path, home: tuple[Pond, Origin], box: tuple[Pond, Origin]
) -> None:
    """Also after a kill: whoever comes next waits for the turn that the dead one took, and finds its slot free."""
    box[0].after_s = 0.1
    asked = words(tmp_path, home[1], box[1], "--per-host", "1", delay=f"{DELAY_S}s")
    running = Running(*asked, cwd=tmp_path)
    wait_until(lambda: len(box[1].paths()) >= 3, 60, "robots.txt and two files")
    running.send(signal.SIGKILL)
    running.end()
    done = holdfast(*asked, cwd=tmp_path)
    assert done.code == 0, done.err
    assert {status for status, _ in ends(tmp_path)} == {"succeeded"}
    for _, origin in (home, box):
        assert min(origin.gaps()) > LEAST_S, origin.gaps()
        assert origin.most_at_once() == 1
        assert Counter(origin.paths())["/robots.txt"] == 1
    assert {f"/file/{n}" for n in range(CASES)} <= set(box[1].paths())


def test_what_the_second_hosts_robots_txt_forbids_is_not_asked_for(
    tmp_path: Path, home: tuple[Pond, Origin], box: tuple[Pond, Origin]
) -> None:
    box[0].robots = b"User-agent: holdfast\nDisallow: /file/3\n"
    done = holdfast(*words(tmp_path, home[1], box[1]), cwd=tmp_path)
    assert done.code == 0, done.err
    assert ends(tmp_path)["skipped", "robots"] == 1
    assert "/file/3" not in box[1].paths()


def test_a_step_follows_redirects_and_each_hop_takes_its_turn(
    tmp_path: Path, home: tuple[Pond, Origin], box: tuple[Pond, Origin]
) -> None:
    """FRO-09, H5: what is secret goes to the hosts that the job was given, and not to where they lead."""
    for n in range(CASES):
        home[0].said[f"/case/{n}"] = Answer(302, headers={"location": f"{box[1].url}/moved/{n}"})
    secret = ["--header", "Authorization: env:TOKEN"]
    asked = words(tmp_path, home[1], box[1], "--per-host", "1", *secret, delay=f"{DELAY_S}s")
    start_only = [word.replace(f"other={box[1].url}", f"other={home[1].url}") for word in asked]
    done = holdfast(*start_only, cwd=tmp_path, TOKEN="croak")
    assert done.code == 0, done.err
    assert {f"/moved/{n}" for n in range(CASES)} <= set(box[1].paths())
    assert min(box[1].gaps()) > LEAST_S
    assert {visit.authorization for visit in box[1].visits} == {None}


@pytest.mark.parametrize(
    ("location", "code"),
    [("/case/0", "too_many_redirects"), ("http://169.254.169.254/latest", "blocked_address"), ("ftp://x/", "bad_url")],
)
def test_a_redirect_that_leads_nowhere_fails_its_target(
    tmp_path: Path, home: tuple[Pond, Origin], box: tuple[Pond, Origin], location: str, code: str
) -> None:
    """H1, H5: at most ten, each address checked."""
    home[0].said["/case/0"] = Answer(302, headers={"location": location})
    holdfast(*words(tmp_path, home[1], box[1]), cwd=tmp_path)
    assert ends(tmp_path)["failed", code] == 1
    assert Counter(home[1].paths())["/case/0"] == (11 if code == "too_many_redirects" else 1)


def test_a_second_host_that_asks_for_patience_is_left_alone_and_the_first_is_not(
    tmp_path: Path, home: tuple[Pond, Origin], box: tuple[Pond, Origin]
) -> None:
    box[0].said["/file/0"] = Answer(429, headers={"retry-after": "600"})
    running = Running(*words(tmp_path, home[1], box[1], "--concurrency", "1"), cwd=tmp_path)
    try:
        wait_until(lambda: "/file/0" in box[1].paths() and _held(tmp_path), 60, "the second host is left alone")
        assert _held(tmp_path) == [box[1].address]
    finally:
        running.stop()


def test_steps_of_two_hosts_that_each_wait_for_a_slot_at_the_other_come_to_their_ends(
    tmp_path: Path, home: tuple[Pond, Origin], box: tuple[Pond, Origin]
) -> None:
    home[0].after_s = box[0].after_s = 0.05
    asked = words(tmp_path, home[1], box[1], "--per-host", "2", recipe=CROSSING)
    done = holdfast(*asked, cwd=tmp_path)
    assert done.code == 0, done.err
    assert [(status, n) for (status, _), n in ends(tmp_path).items()] == [("succeeded", 2 * EACH)]
    for _, origin in (home, box):
        assert origin.most_at_once() <= 2
        assert {f"/file/{n}" for n in range(EACH)} <= set(origin.paths())


def test_targets_that_wait_for_a_second_host_keep_no_slot_from_those_that_do_not_need_it(
    tmp_path: Path, home: tuple[Pond, Origin], box: tuple[Pond, Origin]
) -> None:
    """Nor do they spend attempts on it."""
    for n in range(NEEDY):
        box[0].said[f"/file/{n}"] = Answer(429, headers={"retry-after": "7200"})
    running = Running(*words(tmp_path, home[1], box[1], "--per-host", "2", recipe=SOME_NEED_A_FILE), cwd=tmp_path)
    try:
        wait_until(lambda: bool(home[1].paths()), 60, "the first page")
        wait_until(lambda: _counted(tmp_path) == (MANY - NEEDY, NEEDY), 35, "all but those that need a file")
    finally:
        running.stop()
    assert ends(tmp_path)["pending", None] > 0
    refused = sum(path.startswith("/file/") for path in box[1].paths())
    with ledger_in(tmp_path) as ledger:
        waiting = [row for row in ledger.targets(ledger.job("frogs").id) if row.status == "pending"]
    assert sum(row.attempts for row in waiting) == refused
    patient = [row for row in waiting if not row.attempts]
    assert patient
    assert all(f"waits for a turn at {box[1].address}" in (row.because or "") for row in patient)
    now_ms = SystemClock().wall_ms()
    assert all((row.not_before or 0) - now_ms > 6_000_000 for row in patient)


def _counted(folder: Path) -> tuple[int, int]:
    with ledger_in(folder) as ledger:
        statuses = Counter(row.status for row in ledger.targets(ledger.job("frogs").id))
    return statuses["succeeded"], statuses["pending"]


def _held(folder: Path) -> list[str]:
    hosts = holdfast("limits", "--json", cwd=folder).json()["hosts"]
    return [host["host"] for host in hosts if host["backs_off_until"]]


def test_a_step_that_asks_for_several_pages_at_once_gets_them_one_after_the_other(
    tmp_path: Path, home: tuple[Pond, Origin], box: tuple[Pond, Origin]
) -> None:
    home[0].after_s = 0.05
    asked = words(tmp_path, home[1], box[1], "--per-host", "2", recipe=GATHERING)
    assert holdfast(*asked, cwd=tmp_path).code == 0
    assert len(home[1].paths()) == 1 + 3 * CASES
    assert home[1].most_at_once() <= 2


POSTING = """
from holdfast.recipe import Recipe, record, target

form = Recipe("form", params={"site": str})

@form.plan
def plan(params):
    yield target(f"{params['site']}/post", type="search")

@form.step("search")
async def search(here, fetch):
    said = [(await fetch(here.url, data={"q": "frog"})).html, (await fetch(f"/go/{303}", json=[1])).html]
    said += [(await fetch(f"/go/{307}", data={"q": "toad"})).html, (await fetch(here.url)).html]
    yield record(said=said)
"""


def test_a_step_posts_forms_and_follows_their_redirects(tmp_path: Path) -> None:
    """303 becomes a GET, 307 is posted again (RFC 9110)."""
    (tmp_path / "form.py").write_text(POSTING)
    with FilesWeb() as web:
        words = [
            "run",
            "form.py",
            "--param",
            f"site={web.url}",
            "--allow",
            web.address,
            "--delay",
            "0",
            "-o",
            "f.jsonl",
        ]
        done = holdfast(*words, cwd=tmp_path)
        assert done.code == 0, done.err
    said = json.loads((tmp_path / "f.jsonl").read_text())["said"]
    assert said == ["POST {'q': 'frog'}", "GET {}", "POST {'q': 'toad'}", "GET {}"]
