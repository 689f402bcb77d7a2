"""Trying one's own recipe: run it against a fake web, and prove that killing it changes nothing.

    def test_my_recipe_survives_kill_9():
        with FakeWeb(pages) as web:
            proof = prove("forum.py", web, start=web.url + "/b/1")
        assert len(proof.records) == 300

`prove` runs the recipe twice with the real command: once undisturbed, once killed with SIGKILL at random moments and
started again. Both must give the same records and the same targets, and `holdfast verify` must find nothing.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from holdfast.testing.fake_web import FakeWeb

DEADLINE_S = 120
COMPARED = ("url", "type", "depth", "status", "disposition", "code")
NOT_RESULTS = ("target", "run", "key")  # ids follow the order in which pages came, keys are salted per ledger
SHOWN = 5


class Worked(msgspec.Struct, frozen=True):
    """A recipe run to its end: what came out, what became of every target, and what the command said."""

    records: tuple[dict[str, Any], ...]
    targets: tuple[dict[str, Any], ...]
    code: int
    said: str

    def by_status(self) -> dict[str, int]:
        return dict(Counter(row["status"] for row in self.targets))


class Proof(msgspec.Struct, frozen=True):
    """Two runs that came out alike. `asked_again`: pages that were settled before a kill and fetched after it."""

    undisturbed: Worked
    killed: Worked
    kills: int
    asked_again: tuple[str, ...]

    @property
    def records(self) -> tuple[dict[str, Any], ...]:
        return self.undisturbed.records


class WorkFolder:
    """A folder with a ledger of its own, and the command that runs the recipe in it."""

    def __init__(self, folder: Path, recipe: str | Path, web: FakeWeb, params: dict[str, str], more: Sequence[str]):
        self._folder = folder
        typed = [word for name, value in params.items() for word in ("--param", f"{name}={value}")]
        self._words = ["run", str(recipe), *typed, "--name", "trial", *web.options, *more]

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "holdfast", *self._words, "--data", str(self._folder), "--plain"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "HOLDFAST_MIN_FREE_MB": "0"},
        )

    def finish(self) -> Worked:
        """Run to the end, whatever was there before."""
        child = self.start()
        _, err = child.communicate(timeout=DEADLINE_S)
        said = err.decode(errors="replace")
        if child.returncode in (1, 2):
            raise AssertionError(f"the recipe could not be run: {said}")
        return Worked(tuple(self.records()), tuple(self.targets()), child.returncode, said)

    def records(self) -> list[dict[str, Any]]:
        return _lines(self._ask("export", "trial", "-o", "-"))

    def targets(self, where: str = "") -> list[dict[str, Any]]:
        return _lines(self._ask("targets", "trial", "--jsonl", "--where", where))

    def settled(self) -> set[str]:
        """The URLs of what is done and must not be asked for again; none where the first kill came very early."""
        try:
            return {row["url"] for row in self.targets("status:succeeded,skipped")}
        except AssertionError:
            return set()

    def verify(self) -> None:
        self._ask("verify", "trial", "--deep")

    def _ask(self, *words: str) -> bytes:
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", *words, "--data", str(self._folder)],
            capture_output=True,
            timeout=DEADLINE_S,
            check=False,
        )
        if done.returncode != 0:
            raise AssertionError(f"holdfast {' '.join(words)} said: {done.stderr.decode(errors='replace')}")
        return done.stdout


def run_recipe(recipe: str | Path, web: FakeWeb, *, options: Sequence[str] = (), **params: str) -> Worked:
    """Run a recipe to its end in a folder of its own. `options` are further words of the command line."""
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        return WorkFolder(Path(folder), recipe, web, params, options).finish()


def prove(
    recipe: str | Path, web: FakeWeb, *, kills: int = 3, seed: int = 1, options: Sequence[str] = (), **params: str
) -> Proof:
    """Run it undisturbed, then killed `kills` times at moments drawn from `seed`; AssertionError shows a difference."""
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        calm = WorkFolder(Path(folder) / "calm", recipe, web, params, options)
        before = len(web.asked)
        undisturbed = _fruitful(calm.finish())
        requests = len(web.asked) - before
        calm.verify()
        stormy = WorkFolder(Path(folder) / "stormy", recipe, web, params, options)
        settled: list[tuple[int, set[str]]] = []  # at each kill: requests so far, and what was settled by then
        for part in _parts(requests, kills, random.Random(seed)):
            _kill(stormy, web, part)
            settled.append((len(web.asked), stormy.settled()))
        killed = stormy.finish()
        stormy.verify()
    _compare(undisturbed, killed)
    asked = [f"{web.url}{name}" if name.startswith("/") else name for name in web.asked]
    again = {url for at, urls in settled for url in asked[at:] if url in urls}
    return Proof(undisturbed, killed, kills, tuple(sorted(again)))


def _fruitful(worked: Worked) -> Worked:
    """Two runs that give nothing are alike, and nothing is proven by them."""
    if "succeeded" not in worked.by_status():
        raise AssertionError(f"no target succeeded, so nothing would be proven: {worked.said}")
    return worked


def _parts(requests: int, kills: int, draw: random.Random) -> list[int]:
    """After how many further requests to kill, so that all kills fall into the run."""
    share = max(1, requests // (kills + 1))
    return [draw.randint(1, share) for _ in range(kills)]


def _kill(place: WorkFolder, web: FakeWeb, after: int) -> None:
    """Start, wait until so many requests have come, and kill -9. One that ended by itself has nothing left to kill."""
    wanted = len(web.asked) + after
    child = place.start()
    web.wait_for(wanted, gone=lambda: child.poll() is not None)
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=DEADLINE_S)


def _compare(undisturbed: Worked, killed: Worked) -> None:
    for what, left, right in (
        ("records", _results(undisturbed), _results(killed)),
        ("targets", _fates(undisturbed), _fates(killed)),
    ):
        missing, added = left - right, right - left
        if missing or added:
            lines = [f"the killed run gave other {what} than the undisturbed one"]
            lines += [f"  missing: {text}" for text in list(missing)[:SHOWN]]
            lines += [f"  more:    {text}" for text in list(added)[:SHOWN]]
            raise AssertionError("\n".join(lines))


def _results(worked: Worked) -> Counter[str]:
    return Counter(_text({k: v for k, v in row.items() if k not in NOT_RESULTS}) for row in worked.records)


def _fates(worked: Worked) -> Counter[str]:
    return Counter(_text({name: row[name] for name in COMPARED}) for row in worked.targets)


def _text(row: dict[str, Any]) -> str:
    return msgspec.json.encode(row, order="sorted").decode()


def _lines(text: bytes) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in text.splitlines() if line.strip()]
