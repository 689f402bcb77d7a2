"""`holdfast demo images`: an image set is killed half-way and goes on; then it is held against that of a perfect run.

By the command line, as a user would. The contact sheet is written beside the data.
"""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.demo.asks import Asks
from holdfast.demo.command import ChildCommand
from holdfast.demo.proofs import FINISHED, DemoProof
from holdfast.demo.serving import WorldServer
from holdfast.demo.telling import DemoOutput
from holdfast.recipes.images.plan import Plan

POOL = 80  # images that the engines know of a keyword
KEYWORDS = ("lighthouse", "tide pool")
WANTED = 12
KILL_AT_ASKS = 30
ROUNDS = 40
SECONDS_MAX = 300.0
NAME = "seaside"
SHEET_FILE = "contact-sheet.html"


class ImagesStory:
    """Its acts: serve, collect, kill, the same command again, the numbers, the contact sheet, the proofs."""

    def __init__(
        self, teller: DemoOutput, site: WorldServer, asks: Asks, folder: Path, aside: Path, *, is_kept: bool
    ) -> None:
        self._teller, self._site, self._asks, self._folder, self._aside = teller, site, asks, folder, aside
        self._config = aside / "holdfast.toml"
        self._gone = "" if is_kept else " (it goes with the demo: --data DIR keeps it)"
        self._said = 0
        self.last_words = ""

    @property
    def sheet(self) -> Path:
        return self._folder / SHEET_FILE

    @property
    def words(self) -> list[str]:
        pace = ["--delay", "0", "--per-host", "8", "--max-attempts", "2"]
        return ["images", *KEYWORDS, "--per-keyword", str(WANTED), "--name", NAME, *pace, *self._where]

    @property
    def _where(self) -> list[str]:
        return ["--config", str(self._config), "--data", str(self._folder)]

    def tell(self) -> list[DemoProof]:
        self._configure()
        self._teller.title("Holdfast demo: an image set, killed half-way, and the same images all the same")
        self._teller.say()
        self._teller.say("Four simulated search engines name images: some missing, some broken, many of them copies.")
        self._teller.command(["holdfast", *self.words], break_before="--delay")
        with self._start(self.words) as first:
            first.wait_for(lambda: self._asks.look() >= KILL_AT_ASKS, seconds=SECONDS_MAX)
            killed = first.code is None and first.kill()
        if killed:
            self._teller.death(f"kill -9 {first.pid}: dead after {self._asks.look()} requests, no clean-up")
        self._teller.command(["holdfast", *self.words[:3]], note="… the same command again")
        code = self._done(self.words)
        by = ["status", NAME, "--by", "keyword,engine"]
        self._teller.command(["holdfast", *by])
        self._done([*by, *self._where], show=True)
        written = self._done(["export", NAME, "-o", str(self.sheet), *self._where]) == 0 and self.sheet.exists()
        return self._told(
            [
                DemoProof(killed, "It was killed in the middle, and never told to stop."),
                DemoProof(code in FINISHED, "The same command again brought it to its end."),
                self._equal(),
                DemoProof(self._done(["verify", NAME, *self._where]) == 0, "holdfast verify: the books balance."),
                DemoProof(written, f"A contact sheet was written: {self.sheet}{self._gone}"),
            ]
        )

    def _configure(self) -> None:
        """Hosts that ask for patience are quickly ready; a file that never ends is given up soon."""
        oracle = self._site.oracle()
        lines = [f'engines.{name}.base_url = "{url}"' for name, url in oracle["engines"].items()]
        lines += [f"http.allow = {json.dumps(oracle['hosts'])}", 'http.idle_timeout = "1s"']
        self._config.write_text("\n".join(lines) + "\n")
        self._site.set_faults(retry_after_s=0)

    def _equal(self) -> DemoProof:
        """What was kept against what a run without any trouble keeps: URL by URL and byte by byte."""
        path = self._aside / "kept.jsonl"
        self._done(["export", NAME, "-o", str(path), *self._where])
        lines = [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
        kept = {(line["keyword"], line["url"]): line["sha256"] for line in lines}
        plan = Plan()
        perfect: dict[tuple[str, str], str] = {}
        for keyword in KEYWORDS:
            rounds = [[(one.engine, one.query, one.offset) for one in each] for each in plan.rounds(keyword)][:ROUNDS]
            rows = self._site.perfect_run(rounds, WANTED)["kept"]
            perfect |= {(keyword, row["url"]): row["sha256"] for row in rows}
        said = f"{len(kept)} images were kept: those of a perfect run, each once, byte by byte."
        return DemoProof(kept == perfect and len(lines) == len(kept), said)

    def _told(self, proofs: list[DemoProof]) -> list[DemoProof]:
        self._teller.say()
        for proof in proofs:
            self._teller.proof(proof)
        return proofs

    def _start(self, words: list[str]) -> ChildCommand:
        self._said += 1
        return ChildCommand(words, said=self._aside / f"said-{self._said}")

    def _done(self, words: list[str], *, show: bool = False) -> int:
        with self._start(words) as command:
            code = command.wait(SECONDS_MAX)
            self.last_words = command.err
            if show:
                self._teller.say()
                for line in command.out.splitlines():
                    self._teller.say(line)
        return code
