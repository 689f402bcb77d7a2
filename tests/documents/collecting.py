"""A collector of the judgments world through the command line, and what it holds."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.clock import pause_thread
from holdfast.config import Settings
from holdfast.demo.serving import WorldServer

CSV = "/wp-content/uploads/box_files/judgments.csv"
REGISTERS = "/wp-content/uploads/box_files/public-registers.csv"
KILLS = int(os.environ.get("HOLDFAST_WORLD_KILLS", "2"))  # 20 in `make worlds-long`
DIALS = ("calm", "rough") if KILLS <= 2 else ("calm", "rough", "storm")
CELLS = [(dial, "sqlite") for dial in DIALS]
CELLS += [("rough", "postgres")] if KILLS <= 2 else [(dial, "postgres") for dial in DIALS]
RETRIES_MAX = 4
COMMAND_S_MAX = 240 if KILLS <= 2 else 1800  # a storm has outages that are waited for
TEST_S_MAX = 240 if KILLS <= 2 else 7200
FAST = ("--delay", "0", "--per-host", "8", "--max-attempts", "8")


@dataclass
class Collector:
    """`holdfast docs` in a folder of its own; `database` is empty for SQLite."""

    folder: Path
    world: WorldServer | None = None
    database: str = ""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.world is not None:
            port = self.world.address.rpartition(":")[2]
            at = f'site = "{self.world.url}/", hosts = ["127.0.0.2"]'
            (self.folder / "holdfast.toml").write_text(
                f'http.allow = ["{self.world.address}", "127.0.0.2:{port}"]\nmin_free_mb = 1\n'
                f'sources.unreported_judgments = {{ url = "{self.world.url}{CSV}", {at} }}\n'
                f'sources.public_registers = {{ url = "{self.world.url}{REGISTERS}", {at} }}\n'
            )

    def command(self, *words: str) -> list[str]:
        database = ["--database", self.database] if self.database else []
        return [sys.executable, "-m", "holdfast", *words, *database]

    @property
    def settings(self) -> Settings:
        return Settings(data=self.folder / "holdfast-data", database_url=self.database or "sqlite")

    def where(self) -> list[str]:
        """For a command that is started elsewhere."""
        database = ["--database", self.database] if self.database else []
        return ["--config", str(self.folder / "holdfast.toml"), "--data", str(self.folder / "holdfast-data"), *database]

    def run(self, *words: str, expect: int | tuple[int, ...] = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.command(*words), cwd=self.folder, capture_output=True, text=True, timeout=COMMAND_S_MAX, check=False
        )
        allowed = (expect,) if isinstance(expect, int) else expect
        assert done.returncode in allowed, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def docs(self, *words: str, expect: int | tuple[int, ...] = 0) -> str:
        return self.run("docs", "unreported_judgments", *FAST, *words, expect=expect).stderr

    def to_the_end(self, *words: str) -> None:
        """Until nothing is failed or pending: what a storm has spoiled more often than an attempt forgives is retried,
        as a person would."""
        for _ in range(RETRIES_MAX):
            self.docs(*words, expect=(0, 3))
            counts = self.json("status", "judgments")["counts"]
            if counts["failed"] + counts["pending"] == 0:
                return
            self.run("retry", "judgments")
        raise AssertionError(f"{counts} after {RETRIES_MAX} retries")

    def killed(self, dice: random.Random, *words: str, within_s: float) -> int:
        """Start, kill -9 after a random time; its exit code."""
        child = subprocess.Popen(
            self.command("docs", "unreported_judgments", *FAST, *words),
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            child.wait(timeout=dice.uniform(0.3, within_s))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
        return child.wait()

    def json(self, *words: str, expect: int = 0) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.run(*words, "--json", expect=expect).stdout)
        return answer

    def held(self, job: str = "judgments") -> dict[str, str]:
        """Hashes by key, of files that are really there."""
        lines = self.run("export", job, "-o", "-", "--format", "jsonl").stdout.splitlines()
        found = {row["key"]: row for row in map(json.loads, lines)}
        for row in found.values():
            assert (self.folder / "holdfast-data" / row["path"]).stat().st_size == row["bytes"]
        return {key: row["sha256"] for key, row in found.items()}


def wanted(world: WorldServer) -> dict[str, str]:
    oracle = world.oracle()
    return {case["token"]: case["sha256"] for case in oracle["cases"] if case["is_active"] and not case["is_criminal"]}


def wait_until(seconds: float) -> None:
    pause_thread(seconds)
