"""`make bench`: rounds, medians, checkpoints, the top twenty costs; a table, docs/performance.{json,md} and a picture.

Only a whole run (everybody, five rounds, 10,000 pages) writes below docs/; any other leaves the same files in
build/bench/.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import report, results, rounds
from bench.contestants.crawl import Arena
from bench.contestants.table import chosen
from bench.nginx import NginxNotStarted
from bench.profile import NotProfiled, profile
from bench.scope import scope
from bench.site import FIRST, LINKS
from bench.targets import targets
from bench.terminal import shown

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "bench"
ROUNDS, PAGES = 5, 10_000
EXTRAS = ("checkpoints", "profile")
KNOWN = (0, 190_000)  # targets beside those of the site, for the cost of a checkpoint


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers and crawlers end with us
    FOLDER.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=FOLDER))
    try:
        document = measure(options, folder)
    except (rounds.RoundFailed, NginxNotStarted, NotProfiled) as error:
        print(f"{error}\nWhat it left is in {folder}", file=sys.stderr)
        return 1
    shutil.rmtree(folder)
    print(shown(document, targets(document)))
    whole = not options.only and options.rounds >= ROUNDS and options.pages >= PAGES
    for path in report.write(report.DOCS if whole else FOLDER, document):
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """The whole document: laps as they were, rows made from them, and the extras that were asked for."""
    contestants = chosen([name for name in options.only if name not in EXTRAS], all_others=not options.only)
    with rounds.served(folder, options.pages) as site, rounds.served(folder, 1) as one:
        laps = rounds.run_rounds(contestants, options.rounds, site, one, folder, rounds.tell_on_terminal)
        return {
            "scope": scope(ROOT, folder),
            "site": {"pages": site.pages, "bytes_mean": site.bytes / site.pages, "links": LINKS},
            "rounds": options.rounds,
            "rows": results.rows(contestants, laps),
            "checkpoints": checkpoints(site, folder) if _wanted("checkpoints", options) else None,
            "profile": _profile(site, folder) if _wanted("profile", options) else None,
            "laps": [asdict(lap) for lap in laps],
        }


def checkpoints(site: rounds.Served, folder: Path) -> list[dict[str, Any]]:
    """The cost of a checkpoint in a ledger with the site's targets only, and in one with many more."""
    found = []
    for known in KNOWN:
        print(f"checkpoints with {known:,} targets more", file=sys.stderr, flush=True)
        data = folder / f"checkpoints-{known}"
        words = [site.server.url + FIRST, site.server.at, str(data), str(known)]
        ended = subprocess.run([sys.executable, "-m", "bench.checkpoints", *words], check=False, capture_output=True)
        if ended.returncode != 0:
            raise rounds.RoundFailed(f"bench.checkpoints ended with {ended.returncode}: {ended.stderr.decode()}")
        found.append(json.loads(ended.stdout))
        shutil.rmtree(data)
    return found


def _profile(site: rounds.Served, folder: Path) -> dict[str, Any]:
    print("profile", file=sys.stderr, flush=True)
    place = folder / "profile"
    place.mkdir()
    return profile(Arena(site.server.url + FIRST, site.server.at, site.pages, place))


def _wanted(extra: str, options: argparse.Namespace) -> bool:
    return not options.only or extra in options.only


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description="Measure Holdfast beside its peers.")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument(
        "--only", type=lambda text: text.split(","), default=[], metavar="NAME,…",
        help="some of: holdfast aiohttp scrapy processes postgres reader checkpoints profile",
    )  # fmt: skip
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
