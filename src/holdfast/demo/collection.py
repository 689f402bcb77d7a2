"""`holdfast demo judgments`: a court's list is collected, the collector is killed half-way and goes on; then the list
gets a new version, and exactly the new documents are fetched. Judged by the site's own log and its oracle.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from holdfast.demo.asks import Asks
from holdfast.demo.serving import WorldServer
from holdfast.demo.telling import DemoOutput

SEED = 7
DELAY_MS = 40
CHECK_FAILED = 9
KILL_AFTER = 110  # requests: about half of the documents
FILE = "/d/1/"
LOG_FILE = "demo-requests.jsonl"
PACE = ("--delay", "0", "--per-host", "4", "-q")
LIST = "/wp-content/uploads/box_files/judgments.csv"


def run(*, data: str | Path | None = None, keep: bool = False, plain: bool = False, color: bool = True) -> int:
    """0: every proof holds; 9: one does not. Without `data` or `keep` nothing stays behind."""
    out = DemoOutput(plain=plain, color=color)
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="holdfast-demo-")) if data is None else Path(data)
        folder.mkdir(parents=True, exist_ok=True)
        if data is None and not keep:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        log = folder / LOG_FILE
        log.unlink(missing_ok=True)
        log.touch()
        world = stack.enter_context(WorldServer("judgments", log_path=log, seed=SEED, delay_ms=DELAY_MS))
        collection = _Collection(out, world, stack.enter_context(Asks(log)), folder)
        holds = collection.tell()
        if data is not None or keep:
            out.say(f"The folder is {folder}.")
    return 0 if holds else CHECK_FAILED


class _Collection:
    """Its acts, in order."""

    def __init__(self, out: DemoOutput, world: WorldServer, asks: Asks, folder: Path) -> None:
        self._out, self._world, self._asks, self._folder = out, world, asks, folder
        port = world.address.rpartition(":")[2]
        (folder / "holdfast.toml").write_text(
            f'http.allow = ["{world.address}", "127.0.0.2:{port}"]\n'
            f'sources.unreported_judgments = {{ url = "{world.url}{LIST}", site = "{world.url}/", '
            'hosts = ["127.0.0.2"] }\n'
        )

    def tell(self) -> bool:
        out = self._out
        out.say("A made-up court lists 120 judgments; each file has an address that must be asked for and soon ends.")
        out.say("$ holdfast docs unreported_judgments")
        killed = self._killed_half_way()
        held = self._held()
        out.say(f"kill -9 after {self._asks.look()} requests: {len(held)} documents are held.")
        out.say("The same command again:")
        self._command("docs", "unreported_judgments", *PACE)
        first = self._proved("every document once, with the right bytes", killed)
        fetched = self._files_asked()
        self._world.order("advance", version="v2")
        out.say("A month later the list has 7 new rows, 4 changed, 2 gone.")
        out.say("$ holdfast docs unreported_judgments --mode new")
        self._command("docs", "unreported_judgments", "--mode", "new", *PACE)
        second = self._proved("the new ones, and nothing else", killed)
        added = sum(self._files_asked().values()) - sum(fetched.values())
        third = added == 7
        out.say(f"{'✓' if third else '✗'} {added} files were fetched for the new version")
        out.say("$ holdfast report judgments")
        out.say(self._command("report", "judgments"))
        return first and second and third

    def _killed_half_way(self) -> int:
        child = subprocess.Popen(self._words("docs", "unreported_judgments", *PACE), cwd=self._folder,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        while child.poll() is None and self._asks.look() < KILL_AFTER:
            try:
                child.wait(timeout=0.02)
            except subprocess.TimeoutExpired:
                continue
        child.kill()
        return int(child.wait() < 0)

    def _proved(self, what: str, killed: int) -> bool:
        cases = self._world.oracle()["cases"]
        wanted = {case["token"]: case["sha256"] for case in cases if case["is_active"] and not case["is_criminal"]}
        held = self._held()
        again = [key for key, count in self._files_asked().items() if count > 1]
        holds = wanted.items() <= held.items() and len(again) <= 8 * killed
        spare = f"; {len(again)} in flight at the kill were asked for twice" if again else ""
        self._out.say(f"{'✓' if holds else '✗'} {what}: {len(held)} held, {len(wanted)} listed{spare}")
        return holds

    def _held(self) -> dict[str, str]:
        lines = self._command("export", "judgments", "-o", "-", "--format", "jsonl").splitlines()
        return {row["key"]: row["sha256"] for row in map(json.loads, lines)}

    def _files_asked(self) -> Counter[str]:
        return Counter(ask["key"] for ask in self._world.asks() if FILE in ask["key"])

    def _words(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "holdfast", *words, "--data", "data"]

    def _command(self, *words: str) -> str:
        done = subprocess.run(self._words(*words), cwd=self._folder, capture_output=True, text=True, check=False)
        return done.stdout
