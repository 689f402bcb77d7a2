"""Two hundred garbled and hostile pages: none crashes or takes more than its limit; each gives text or says why not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from holdfast.recipes.site.derive_process import CPU_S, PLAIN_CPU_S
from holdfast.recipes.site.entities.extract import extract
from holdfast.recipes.site.extract_process import ExtractFailed, ExtractProcess

ALL = 200
PAGES = int(os.environ.get("HOLDFAST_HOSTILE_PAGES", "20"))  # all of them in `make hostile-pages`
STARTS_CPU_S = 0.8  # of two processes that take the place of one that reached its limit
PEAK_MB_MAX = 400
URL = "https://pond.test/hostile"


def test_every_hostile_page_gives_text_or_says_why_not() -> None:
    """SIT-11, and the last bar of what Markdown has to keep."""
    numbers = range(ALL) if PAGES >= ALL else sorted(Random(1).sample(range(ALL), PAGES))
    command = [sys.executable, "-m", "recipes.hostile_pages", *map(str, numbers)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == len(numbers), done.stderr
    assert [row for row in rows if row["cpu_s"] > CPU_S + PLAIN_CPU_S + STARTS_CPU_S] == []
    assert [row for row in rows if row["peak_mb"] > PEAK_MB_MAX] == []
    assert [row for row in rows if not (row["text"] or row["flags"] or row["says_nothing"])] == []
    assert [row for row in rows if "failed" in row["flags"]] == []
    if PAGES >= ALL:
        worst, plain = max(rows, key=lambda row: row["cpu_s"]), sum(bool(row["flags"]) for row in rows)
        most = f"{worst['cpu_s']:.2f} s at most ({worst['page']}), {max(row['peak_mb'] for row in rows):.0f} MB"
        print(f"{len(rows)} pages, {plain} as plain text or cut; {most}")


def test_the_entities_of_a_page_built_to_take_an_hour_cost_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the computer is: processor time counts."""
    child = (
        "from holdfast.recipes.child_process import run_child\n"
        "from holdfast.recipes.site import extract_process as own\n"
        "from holdfast.recipes.site.entities import extract as rules\n"
        "told = rules.extract\n"
        "def extract(url, body, content_type):\n"
        "    while b'an hour' in body: pass\n"
        "    return told(url, body, content_type)\n"
        "rules.extract, own.CPU_S = extract, 2.0\n"
        "run_child(own.serve, own.MEMORY_BYTES_MAX)\n"
    )
    monkeypatch.setattr("holdfast.recipes.site.extract_process.COMMAND", ("-c", child))
    apart = ExtractProcess()
    with pytest.raises(ExtractFailed, match="processor time"):
        apart(URL, b"<p>built to take an hour", "text/html")
    assert apart(URL, b"<p>mail frog@pond.example", "text/html")
    apart.close()


def test_a_page_full_of_amounts_takes_a_time_that_grows_with_its_length() -> None:
    """Twice the amounts take about twice the time; where each is compared with all others it is four times."""

    def cpu_s(amounts: int) -> float:
        began = time.process_time()
        extract(URL, b"<li>" + b"$1," * amounts, "text/html")
        return time.process_time() - began

    cpu_s(100)
    small = min(cpu_s(10_000) for _ in range(3))
    assert min(cpu_s(40_000) for _ in range(2)) < 8 * small
