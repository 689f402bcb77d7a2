"""Every snippet of the page about Python runs, in its order, as one program against a world on this computer."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

from cli.commands import environment
from docs.reading import DOCS, blocks
from holdfast.demo.serving import WorldServer

HOST = "https://docs.example.dev"


def test_the_snippets_of_the_python_page_run_in_their_order(tmp_path: Path) -> None:
    snippets = blocks(DOCS / "python.md", "python")
    assert len(snippets) >= 6
    with WorldServer("tree", pages=30, delay_ms=0, log_path=tmp_path / "requests.jsonl") as world:
        (tmp_path / "holdfast.toml").write_text(f'http.allow = ["{world.address}"]\ndelay = "0s"\n')
        program = "\n".join(snippets).replace(f'"{HOST}"', f'"{world.oracle()["seeds"][0]}"').replace(HOST, world.url)
        (tmp_path / "page.py").write_text(program)
        done = subprocess.run(
            [sys.executable, "-W", "error", "page.py"],
            cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "not_found" in done.stdout
    assert "completed 30" in done.stdout
    with (tmp_path / "pages.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) == 31  # a text has lines of its own
