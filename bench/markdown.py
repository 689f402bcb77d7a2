"""`make bench-markdown`: what it costs to make Markdown of documentation pages that nobody here wrote.

The pages are those of Debian's documentation packages on this computer, or of any folder: some of each, chosen by a
fixed number. Every page is made in the process that crawls use for it; its cost is that process's own CPU time, so that
a busy computer changes little. A whole run is kept in docs/performance-markdown.json.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import statistics
import subprocess
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from bench.frontier_watch import Noise
from holdfast.recipes.site.derive import derive
from holdfast.recipes.site.derive_process import DeriveProcess

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "performance-markdown.json"
BYTES = (4_000, 1_500_000)  # of the pages that are taken
OF_ONE_FOLDER, ENOUGH = 25, 250
TOP = 12
HTML = "text/html; charset=utf-8"


def main() -> int:
    options = _arguments()
    noise = Noise()
    pages = _pages(options.folder)
    if not pages:
        print(f"{options.folder} has no pages: apt-get install python3-doc postgresql-doc-15 git-doc rust-doc")
        return 1
    costs, peak_mb = _measured(pages, options.rounds)
    found: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "pages": len(pages),
        "names": ", ".join(sorted({path.relative_to(options.folder).parts[0] for path in pages})),
        "kb_mean": sum(path.stat().st_size for path in pages) / len(pages) / 1000,
        "rounds": options.rounds,
        "median_ms": 1000 * statistics.median(costs),
        "p95_ms": 1000 * sorted(costs)[int(0.95 * len(costs))],
        "pages_per_cpu_s": len(costs) / sum(costs),
        "peak_mb": peak_mb,
        "others_share": noise.share(),
        "top": _top(pages),
    }
    print(json.dumps(found, indent=1))
    if len(pages) >= ENOUGH:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"wrote {RESULTS.name}; python -m bench.report puts it on the page")
    return 0


def _pages(root: Path) -> list[Path]:
    """Up to so many of every folder, in one order for ever."""
    by_folder: dict[Path, list[Path]] = defaultdict(list)
    for path in sorted(root.rglob("*.html")):
        if path.is_file() and not path.is_symlink() and BYTES[0] <= path.stat().st_size <= BYTES[1]:
            by_folder[root / path.relative_to(root).parts[0] if path.parent != root else root].append(path)
    chosen = [Random(1).sample(paths, min(len(paths), OF_ONE_FOLDER)) for paths in by_folder.values()]
    return [path for paths in chosen for path in paths]


def _measured(pages: list[Path], rounds: int) -> tuple[list[float], float]:
    """CPU seconds of every page, the least of all rounds, and the peak of the process."""
    apart = DeriveProcess()
    best: dict[Path, float] = {}
    apart(b"<p>warm", "https://docs.test/", HTML)
    for _ in range(rounds):
        for path in pages:
            content, before = path.read_bytes(), _cpu_s(apart)
            apart(content, f"https://docs.test/{path.name}", HTML)
            best[path] = min(best.get(path, 9.0), _cpu_s(apart) - before)
    lines = Path(f"/proc/{apart._child.pid}/status").read_text().splitlines()
    peak_kb = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    apart.close()
    return list(best.values()), peak_kb / 1000


def _cpu_s(apart: DeriveProcess) -> float:
    """In nanoseconds, as the scheduler counts it: the clock ticks of /proc/PID/stat are longer than a page."""
    return int(Path(f"/proc/{apart._child.pid}/schedstat").read_text().split()[0]) / 1e9


def _top(pages: list[Path]) -> list[dict[str, Any]]:
    """The functions that take the most time themselves; a profiler makes calls dearer than they are."""
    profile = cProfile.Profile()
    for path in pages:
        content = path.read_bytes()
        profile.enable()
        derive(content, f"https://docs.test/{path.name}", HTML)
        profile.disable()
    stats: dict[tuple[str, int, str], tuple[Any, ...]] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    whole = sum(row[2] for row in stats.values())
    rows = sorted(stats.items(), key=lambda item: -item[1][2])[:TOP]
    return [{"share": row[2] / whole, "function": function, "where": _where(file)} for (file, _, function), row in rows]


def _where(file: str) -> str:
    return f"holdfast/{file.rpartition('/holdfast/')[2]}" if "/holdfast/" in file else os.path.basename(file).strip("~")


def _commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-markdown", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("/usr/share/doc"))
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
