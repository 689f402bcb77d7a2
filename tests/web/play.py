"""Plays the behaviours against the real command: one `holdfast crawl` each, and what came of it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cli.commands import PROGRAM, environment, ledger_in
from fetch.hostile import HostileSite, in_a_thread
from holdfast.audit.verify import verify
from holdfast.clock import SystemClock
from holdfast.ports import Ledger
from web.behaviours import JOB, OTHER, Answer, Behaviour, Link, Wall, WorldPage, html

AT_ONCE = 6  # most of them wait
COMMAND_S_MAX = 90
SECONDS_MAX = 60.0  # where others use the same cores; what a row costs is told by the time of the processor
ADDRESS_SPACE_MB = 1500  # of the whole process; threads and libraries reserve much that they never use
STOPWATCH = Path(__file__).with_name("stopwatch.py")
NONE = html(status="404 None")
KILLED = -9
EXIT_CODES = {"timeout": 12, "paused": 10}


@dataclass(frozen=True)
class Outcome:
    """How `/bad` ended, and what the crawl took. `wrong` is what a checker has against it, one sentence each."""

    behaviour: Behaviour
    ended: str
    reason: str
    neighbour: str
    code: int
    seconds: float
    rss_mb: float
    asked: int
    said: str
    wrong: tuple[str, ...]


class Web:
    """All hosts of the table behind one port, and one more with TLS. It counts who was asked for what."""

    def __init__(self, behaviours: Sequence[Behaviour]) -> None:
        self.asked: Counter[tuple[str, str]] = Counter()
        self._pages = {host: pages for row in behaviours for host, pages in hosts_of(row).items()}
        self.plain = HostileSite(choose=self._choose)
        self.secure = HostileSite(tls=True, choose=self._choose)

    def _choose(self, head: bytes) -> Answer:
        lines = head.decode("latin-1").split("\r\n")
        path = lines[0].split()[1]
        host = next(line.partition(":")[2].strip() for line in lines if line.lower().startswith("host:"))
        self.asked[host, path] += 1
        page = self._pages.get(host, {}).get(path, NONE)
        if isinstance(page, list):
            page = page[min(self.asked[host, path], len(page)) - 1]
        if isinstance(page, Wall):
            page = page.behind if page.cookie in head else page.without
        return page() if isinstance(page, partial) or getattr(page, "__name__", "") == "<lambda>" else page  # type: ignore[operator,return-value]


def hosts_of(row: Behaviour) -> dict[str, dict[str, WorldPage]]:
    """The pages of a behaviour's own host, and of its second one."""
    start = html(b"<a href=/bad>bad</a><a href=/neighbour>good</a>")
    other = other_of(row)
    bad = row.bad
    if isinstance(bad, Link):
        bad = html(f"<a href=http://{other}/page>x</a>".encode(), *bad.headers)
    own = {"/": start, "/bad": bad, "/neighbour": html(b"<title>the neighbour</title>"), **row.more}
    return {f"{row.name}.test": own, other: row.other}


def other_of(row: Behaviour) -> str:
    return f"other.{row.name}.test"


@contextmanager
def played(
    behaviours: Sequence[Behaviour], folder: Path, at_once: int = AT_ONCE
) -> Iterator[dict[str, Future[Outcome]]]:
    """Every behaviour by its name, a few at once."""
    web = Web(behaviours)
    with (
        in_a_thread(web.plain),
        in_a_thread(web.secure),
        port() as closed,
        port(listening=True) as silent,
        ThreadPoolExecutor(at_once) as pool,
    ):
        play = partial(_play, web=web, closed=closed, silent=silent)
        yield {row.name: pool.submit(play, row, folder / row.name) for row in behaviours}


@contextmanager
def port(*, listening: bool = False) -> Iterator[int]:
    """A port where nobody answers: connections are refused, or taken and left alone."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        if listening:
            bound.listen()
        yield bound.getsockname()[1]


def _play(row: Behaviour, folder: Path, *, web: Web, closed: int, silent: int) -> Outcome:
    folder.mkdir()
    host = f"{row.name}.test"
    elsewhere = {
        host: web.plain.address,
        "plain.test": web.plain.address,
        "elsewhere.test": web.plain.address,
        "secure.test": web.secure.address,
        other_of(row): web.plain.address,
        "refused.test": f"127.0.0.1:{closed}",
        "silent.test": f"127.0.0.1:{silent}",
    }
    mapped = [word for name, where in elsewhere.items() for word in ("--resolve", f"{name}={where}")]
    what = ["crawl", f"http://{host}/"]
    if row.recipe:
        (folder / "web.py").write_text(row.recipe)
        what = ["run", "web.py", "--param", f"start=http://{host}/"]
    words = [*what, "--name", "web", "--delay", "0", "--fail-on", "any", *mapped, *row.options]
    took, said = _command(words, folder, row.settings)
    while took["code"] == KILLED and took["seconds"] < SECONDS_MAX:
        again, said = _command(words, folder, row.settings)
        rss_mb = max(took["rss_mb"], again["rss_mb"])
        took = {**again, **{name: took[name] + again[name] for name in ("seconds", "cpu_s")}, "rss_mb": rss_mb}
    with ledger_in(folder) as ledger:
        return _judged(row, web, took, said, ledger)


def _command(words: Sequence[str], folder: Path, settings: dict[str, str]) -> tuple[dict[str, float], str]:
    """What one command took, its exit code with it, and what it said."""
    report = folder / "took.json"
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(STOPWATCH), str(report), str(ADDRESS_SPACE_MB), *PROGRAM, *words],
        cwd=folder,
        env=environment(**settings),
        capture_output=True,
        timeout=COMMAND_S_MAX,
        check=False,
    )
    return json.loads(report.read_text()), done.stderr.decode(errors="replace")


def _judged(row: Behaviour, web: Web, took: dict[str, float], said: str, ledger: Ledger) -> Outcome:
    job = ledger.job("web")
    targets = {target.url: target for target in ledger.targets(job.id)}
    base = f"http://{row.name}.test"
    neighbour = targets[f"{base}/neighbour"]
    url = row.of.replace(OTHER, f"http://{other_of(row)}")
    bad = targets.get(url if "://" in url else f"{base}{url}")
    ended = "never found"
    if bad is not None:
        ended = {"failed": bad.code or "", "skipped": f"skipped/{bad.disposition}"}.get(bad.status, bad.status)
    reason = (bad.because if bad else "") or ""
    if row.of == JOB:
        ended, reason = job.paused_by or job.status, job.because
    if bad is not None and bad.status == "pending" and bad.not_before is not None:
        hours = (bad.not_before - SystemClock().wall_ms()) / 3_600_000
        reason = f"waits {hours:.0f} h; {reason}"
    records = [page.record.decode() for page in ledger.pages(job.id) if bad is not None and page.target == bad.id]
    asked = web.asked[f"{row.name}.test", "/bad"]
    checks = {
        f"{row.of} ended as {ended}: {reason}": row.ends == ended,
        f"the reason is {reason!r} {records}": any(row.says in text for text in (reason, *records)),
        f"the neighbour is {neighbour.status}": neighbour.status == "succeeded",
        f"the job is {job.status}": job.status == row.job,
        f"the exit code is {took['code']}": took["code"] == _exit_code(row, failed=ledger.books(job.id)[1].failed),
        f"{took['seconds']:.1f} s": row.seconds_min <= took["seconds"] <= SECONDS_MAX,
        f"{took['cpu_s']:.1f} s of the processor": took["cpu_s"] <= row.cpu_s_max,
        f"{took['rss_mb']:.0f} MB": took["rss_mb"] <= row.rss_mb_max,
        f"/bad was asked for {asked} times": row.asked in (None, asked),
        "control characters on the screen": not any(ord(char) < 32 and char not in "\n\t" for char in said),
        **{str(finding): False for finding in verify(ledger.query, job.id)},
    }
    wrong = tuple(sentence for sentence, right in checks.items() if not right)
    return Outcome(
        row, ended, reason, neighbour.status, int(took["code"]), took["seconds"], took["rss_mb"], asked, said, wrong
    )


def _exit_code(row: Behaviour, *, failed: int) -> int:
    return EXIT_CODES.get(row.job, 3 if failed else 0)
