"""`make bench-frontier`: resume, memory, CPU and bytes of a ledger that knows very much (PRF-13).

Each case fills two ledgers through the ledger's own verbs, a big one and one that knows only what the crawl needs, and
crawls the same pages on both. It prints a table and writes docs/performance-frontier.json; it judges nothing.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.frontier_fill import NAME, fill_big, fill_small
from bench.frontier_place import ENGINES, Place, place_for
from bench.frontier_watch import Noise, Stretch, command, first_fetch_s, stretch
from bench.frontier_world import FALLBACK, World, write_pages
from bench.nginx import Nginx
from holdfast.config import Settings
from holdfast.model.job import Options

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "performance-frontier.json"
# Few files are kept open: with the twenty thousand of a case nginx comes to its limit, and then accepts twice a second.
SERVER = f"        open_file_cache max=1000;\n        location / {{ try_files /$host$uri /{FALLBACK} =404; }}"
CONCURRENCY = 32
RESUMES = 5
ROUNDS = 5  # of the small and the big ledger in turn: what else the computer does meets both
WARM_PAGES, PAGES = 200, 700
LONG_PAGES = 12_000  # until the caches are full
SMALL_PAGES = 5_000
READS = {
    "status": ("status", NAME),
    "targets": ("targets", NAME, "--limit", "20"),
    "targets_failed": ("targets", NAME, "--where", "status:failed", "--limit", "20"),
}
COLUMNS = (
    ("case", "case", "{}"), ("resume_s", "resume s", "{:.2f}"), ("vmhwm_mb", "VmHWM MB", "{:.0f}"),
    ("cpu_per_1000", "CPU s/1000", "{:.2f}"), ("cpu_per_1000_empty", "small", "{:.2f}"), ("ratio", "ratio", "{:.2f}"),
    ("bytes_per_target", "bytes/target", "{:.0f}"), ("fill_rows_per_s", "fill rows/s", "{:,.0f}"),
)  # fmt: skip


class ServerAtItsLimit(Exception):
    """nginx could not keep up, so the numbers are not Holdfast's."""


def main() -> None:
    options = _arguments()
    folder = Path(options.folder or tempfile.mkdtemp(prefix="holdfast-frontier-")).resolve()
    rows = []
    try:
        (folder / "pages").mkdir(parents=True, exist_ok=True)
        with Nginx(folder / "pages", folder / "nginx", address="0.0.0.0", log=True, inside=SERVER) as site:  # noqa: S104
            for engine in options.engine:
                for hosts in options.hosts:
                    rows.append(measure(engine, World(options.known, hosts, site.port), folder, site, options.verify))
                    print(_table(rows), flush=True)
                    write(rows, options.output)
    finally:
        if not options.folder:
            shutil.rmtree(folder, ignore_errors=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-frontier")
    parser.add_argument("--known", type=int, default=1_000_000, help="pages that are known, half of them pending")
    parser.add_argument("--hosts", type=int, nargs="+", default=[1, 5_000])
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--verify", action="store_true", help="also time `holdfast verify`")
    parser.add_argument("--folder", help="where to work; what is filled there stays")
    parser.add_argument("--output", type=Path, default=RESULTS)
    return parser.parse_args()


def measure(engine: str, world: World, folder: Path, site: Nginx, verify: bool) -> dict[str, Any]:
    """One case: fill a small and a big ledger, crawl the same pages on both, then stop and resume the big one."""
    hosts = "1 host" if world.hosts == 1 else f"{world.hosts:,} hosts"
    case = f"{ENGINES[engine]}, {hosts}, {world.known:,} known"
    say(f"{case}: {write_pages(world, folder / 'pages') / 1e6:,.0f} MB of pages")
    with (
        place_for(engine, folder / f"{engine}-{world.hosts}-small") as little,
        place_for(engine, folder / f"{engine}-{world.hosts}-big") as much,
    ):
        filling = _fill(world, little, much)
        pairs = [(_crawl(little, site, PAGES), _crawl(much, site, PAGES)) for _ in range(ROUNDS)]
        long = _crawl(much, site, LONG_PAGES)
        return {
            "case": case,
            **_resumes(much, site, long.peak_mb),
            "vmhwm_mb_empty": round(max(small.peak_mb for small, _ in pairs), 1),
            **_costs([small for small, _ in pairs], [big for _, big in pairs]),
            **filling,
            "reads_s": _reads(much.settings, verify),
        }


def _fill(world: World, little: Place, much: Place) -> dict[str, float]:
    options = Options(
        concurrency=CONCURRENCY, per_host=CONCURRENCY if world.hosts == 1 else 2, delay_ms=0, allow_private=True
    )
    small = fill_small(little.settings, world, options, SMALL_PAGES, say)
    say(f"small ledger: {small.counts['discovered']:,} known")
    big = fill_big(much.settings, world, options, say)
    say(f"big ledger: {big.counts}; {big.rows_per_s:,.0f} rows/s")
    return {
        "known_empty": small.counts["discovered"],
        "bytes_per_target": round(much.bytes_stored() / world.known, 1),
        "fill_rows_per_s": round(big.rows_per_s),
        "enqueue_rows_per_s": round(big.enqueued / big.enqueue_s),
        "settle_rows_per_s": round(big.settled / big.settle_s),
    }


def _resumes(place: Place, site: Nginx, peak_mb: float) -> dict[str, Any]:
    """Exec to the first new fetch, after a kill -9 each time. What others took of the cores stands with it."""
    first_fetch_s(place, site.log)  # leaves a killed crawl behind
    noise = Noise(site.cpu_s, place.server_cpu_s)
    found = [first_fetch_s(place, site.log) for _ in range(RESUMES)]
    others = noise.share()
    say(f"resume: {', '.join(f'{seconds:.2f}' for seconds, _ in found)} s; others took {others:.0%} of the cores")
    return {
        "resume_s": round(statistics.median(seconds for seconds, _ in found), 3),
        "resume_s_all": [round(seconds, 3) for seconds, _ in found],
        "others_share": round(others, 3),
        "vmhwm_mb": round(max(peak_mb, *(peak for _, peak in found)), 1),
    }


def _crawl(place: Place, site: Nginx, pages: int) -> Stretch:
    found = stretch(place, site.log, warm=WARM_PAGES, pages=pages)
    said = [line for line in (site.log.parent / "error.log").read_text().splitlines() if "[crit]" in line]
    if said:
        raise ServerAtItsLimit(f"what was measured is nginx: {said[0]}")
    say(
        f"{found.pages} pages, {found.pages / found.wall_s:,.0f}/s, {found.cpu_per_1000:.3f} CPU s per 1000, "
        f"server {found.server_cpu_per_1000:.3f}, {found.peak_mb:.0f} MB"
    )
    return found


def _costs(small: list[Stretch], big: list[Stretch]) -> dict[str, Any]:
    """Medians over the rounds; the ratio is the median of each round's. The database server's CPU stands apart."""
    cpu, cpu_empty = (statistics.median(each.cpu_per_1000 for each in many) for many in (big, small))
    ratios = [here.cpu_per_1000 / there.cpu_per_1000 for here, there in zip(big, small, strict=True)]
    server, server_empty = (statistics.median(each.server_cpu_per_1000 for each in many) for many in (big, small))
    pace, pace_empty = (statistics.median(each.pages / each.wall_s for each in many) for many in (big, small))
    return {
        "cpu_per_1000": round(cpu, 3),
        "cpu_per_1000_empty": round(cpu_empty, 3),
        "ratio": round(statistics.median(ratios), 3),
        "ratio_all": [round(ratio, 3) for ratio in ratios],
        "server_cpu_per_1000": round(server, 3),
        "server_cpu_per_1000_empty": round(server_empty, 3),
        "pages_per_s": round(pace, 1),
        "pages_per_s_empty": round(pace_empty, 1),
    }


def _reads(settings: Settings, verify: bool) -> dict[str, float | str]:
    """Wall seconds of commands that only read, each once after a first time that warms the cache; or how it failed."""
    commands = READS | ({"verify": ("verify", NAME)} if verify else {})
    found: dict[str, float | str] = {}
    for name, words in commands.items():
        for _ in range(1 if name == "verify" else 2):
            began = time.monotonic()
            done = subprocess.run(command(settings, *words), check=False, capture_output=True, text=True)
            found[name] = round(time.monotonic() - began, 3)
            if done.returncode:
                found[name] = f"exit {done.returncode} after {found[name]} s: {done.stderr.strip()[:300]}"
    say(f"reads: {found}")
    return found


def write(rows: list[dict[str, Any]], output: Path) -> None:
    """Cases that were not measured this time keep their earlier numbers."""
    earlier = json.loads(output.read_text())["rows"] if output.exists() else []
    fresh = {row["case"] for row in rows}
    scope = {
        "date": datetime.now(UTC).date().isoformat(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "concurrency": CONCURRENCY,
        "pages": ROUNDS * PAGES,
        "resumes": RESUMES,
        "empty": f"a ledger with the {SMALL_PAGES:,} pages of the crawl pending and the pages they link to known",
    }
    kept = [row for row in earlier if row["case"] not in fresh]
    output.write_text(json.dumps({"scope": scope, "rows": [*kept, *rows]}, indent=1) + "\n")
    say(f"wrote {output.name}")


def _table(rows: list[dict[str, Any]]) -> str:
    lines = [[title for _, title, _ in COLUMNS]] + [[form.format(row[key]) for key, _, form in COLUMNS] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


def say(text: str) -> None:
    print(f"[{datetime.now(UTC):%H:%M:%S}] {text}", flush=True)


if __name__ == "__main__":
    main()
