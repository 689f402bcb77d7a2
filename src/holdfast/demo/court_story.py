"""`holdfast demo court`: a range of case numbers is killed half-way and goes on; then its report is held against the
court's own books. By the command line, as a user would.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from holdfast.demo.asks import Asks
from holdfast.demo.command import ChildCommand
from holdfast.demo.court.pages import API_PATH, PAGE_PATH
from holdfast.demo.proofs import DemoProof
from holdfast.demo.serving import WorldServer
from holdfast.demo.telling import DemoOutput

LAST = 120
KILL_AT_ASKS = LAST
SECONDS_MAX = 300.0
RECORDS_FILE = "records.jsonl"
CONFIG = """\
[http]
allow = ["{address}"]

[sources.court]
url = "{url}{page}"
search = "{url}{api}?court=t&number={{case}}"
detail = "{url}{api}/{{case}}/entries"
court = "Federal Court"
settle = "200ms"
"""


class CourtStory:
    """Its acts: serve, collect, kill, the same command again, the report, the proofs."""

    def __init__(self, teller: DemoOutput, site: WorldServer, asks: Asks, folder: Path, aside: Path) -> None:
        self._teller, self._site, self._asks, self._folder, self._aside = teller, site, asks, folder, aside
        self._config = aside / "holdfast.toml"
        self._said = 0
        self.last_words = ""

    @property
    def words(self) -> list[str]:
        pace = ["--delay", "0", "--per-host", "8"]
        return ["cases", f"IMM-1-49..IMM-{LAST}-49", "--url", "court", *pace, *self._where]

    @property
    def _where(self) -> list[str]:
        return ["--config", str(self._config), "--data", str(self._folder)]

    def tell(self) -> list[DemoProof]:
        site = self._site
        self._config.write_text(CONFIG.format(address=site.address, url=site.url, page=PAGE_PATH, api=API_PATH))
        self._teller.title("Holdfast demo: a court's numbers, killed half-way, and every gap proved")
        self._teller.say()
        self._teller.say(
            "A simulated court has a search and no list. Some numbers were withdrawn; it also says 'none' too early."
        )
        site.set_faults(miss_first=0.1, half_header=0.05, neighbour_modal=0.05)
        self._teller.command(["holdfast", *self.words], break_before="--delay")
        with self._start(self.words) as first:
            first.wait_for(lambda: self._asks.look() >= KILL_AT_ASKS, seconds=SECONDS_MAX)
            killed = first.code is None and first.kill()
        if killed:
            self._teller.death(f"kill -9 {first.pid}: dead after {self._asks.look()} requests, no clean-up")
        self._teller.command(["holdfast", *self.words[:2]], note="… the same command again")
        code = self._done(self.words)
        self._done(["report", "IMM", *self._where], show=True)
        proofs = [
            DemoProof(killed, "It was killed in the middle, and never told to stop."),
            DemoProof(code == 0, f"The same command again ended with {code}."),
            self._equal(site.oracle()),
            DemoProof(self._done(["verify", "IMM", *self._where]) == 0, "holdfast verify: the books balance."),
        ]
        self._teller.say()
        for proof in proofs:
            self._teller.proof(proof)
        return proofs

    def _equal(self, oracle: dict[str, Any]) -> DemoProof:
        """Records and gaps against what the court itself holds."""
        path = self._folder / RECORDS_FILE
        self._done(["export", "IMM", "-o", str(path), *self._where])
        lines = [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
        numbers = {f"IMM-{number}-49" for number in range(1, LAST + 1)}
        wanted = {record["case_id"]: record for record in oracle["records"] if record["case_id"] in numbers}
        found = {line["case_id"]: {name: line.get(name) for name in wanted.get(line["case_id"], {})} for line in lines}
        gaps = len(numbers) - len(wanted)
        said = f"{len(found)} records are those of the court, field by field, and {gaps} numbers provably have none."
        return DemoProof(found == wanted and len(lines) == len(found), said)

    def _start(self, words: list[str]) -> ChildCommand:
        self._said += 1
        return ChildCommand(words, said=self._aside / f"said-{self._said}")

    def _done(self, words: list[str], *, show: bool = False) -> int:
        with self._start(words) as command:
            code = command.wait(SECONDS_MAX)
            self.last_words = command.err
            if show:
                self._teller.say()
                self._teller.say(command.out.rstrip())
        return code
