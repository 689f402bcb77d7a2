"""`make bench-images`: a list of images fetched, decoded and kept by Holdfast and by img2dataset; then both are killed.

In turns, several rounds, medians. CPU is that of all their processes, which is to be trusted on a computer that others
use too. Half-way through the list each is killed with SIGKILL and started again: what is asked for twice was redone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from bench.frontier_watch import Log
from bench.image_contestants import AT_ONCE, ENVIRON, PEER, TOLD, Contestant, contestants
from bench.image_set import ImageSet, made
from bench.measure import Cpu, Measured, measured
from bench.nginx import Nginx

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "performance-images.json"
CACHE = Path(__file__).resolve().parents[1] / "build" / "bench"
WHOLE = 5_000
LOOK_EVERY_S = 0.005
END_S_MAX = 3_600.0


def main() -> int:
    options = _arguments()
    several = [one for one in contestants(options.processes) if not options.only or one.name in options.only]
    if not PEER.exists() and any(one.name != "holdfast" for one in several):
        raise SystemExit("img2dataset is not there: make bench-images brings it in (Python 3.11 or 3.12)")
    images = made(CACHE, options.images, options.seed)
    with tempfile.TemporaryDirectory(prefix="holdfast-images-") as name:
        folder = Path(name)
        with Nginx(images.folder, folder / "nginx", log=True) as server:
            rows, one_row = folder / "list.csv", folder / "one.csv"
            images.write_list(rows, server.url)
            one_row.write_text("".join(rows.read_text().splitlines(keepends=True)[:2]))
            laps = _rounds(several, options.rounds, (rows, one_row), server, folder, images)
            whole = {lap["title"]: lap["kept"] for lap in laps}
            killed = [_killed(one, rows, server, folder, whole[one.title]) for one in several] if options.kill else []
    found = _found(images, options, several, laps, killed)
    _print(found)
    if options.images >= WHOLE or options.keep:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"wrote {RESULTS.name}; python -m bench.report puts it on the page")
    wrong = [row for row in found["rows"] if row["name"] == "holdfast" and row["kept"] != images.good]
    wrong += [row for row in found["killed"] if row["name"] == "holdfast" and (row["lost"] or row["redone"] > AT_ONCE)]
    return 1 if wrong else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-images")
    parser.add_argument("--images", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--only", nargs="*", choices=tuple(TOLD))
    parser.add_argument("--no-kill", dest="kill", action="store_false")
    parser.add_argument("--keep", action="store_true", help=f"write the numbers even of fewer than {WHOLE} images")
    return parser.parse_args()


def _rounds(
    several: list[Contestant], rounds: int, lists: tuple[Path, Path], server: Nginx, folder: Path, images: ImageSet
) -> list[dict[str, Any]]:
    """Every contestant once a round; in the second round the other way about, and so on. One image is the start-up."""
    rows, one_row = lists
    laps: list[dict[str, Any]] = []
    for number in range(rounds):
        for one in several if number % 2 == 0 else reversed(several):
            start, _ = _lap(one, one_row, server, folder, 1)
            whole, kept = _lap(one, rows, server, folder, len(images.kinds))
            laps.append({"title": one.title, "kept": kept, "start": start, "whole": whole})
            print(f"{one.title:28} {whole.wall_s:7.1f} s  {whole.cpu_s:6.1f} s CPU  {kept} kept", flush=True)
    return laps


def _lap(one: Contestant, rows: Path, server: Nginx, folder: Path, images: int) -> tuple[Measured, int]:
    place = _empty(folder / "place")
    cpu = Cpu()
    found = measured(
        one.argv(rows, server.at, place, images),
        output=folder / "out.txt", cwd=place, environ=ENVIRON, watches=(cpu.look,), ours=(server.cpu_s,), cpu=cpu,
    )  # fmt: skip
    if found.exit not in (0, 3):  # 3: not every address had an image
        raise SystemExit(f"{one.title} ended with {found.exit}: {(folder / 'out.err').read_text()[-800:]}")
    return found, one.kept(place)


def _killed(one: Contestant, rows: Path, server: Nginx, folder: Path, whole: int) -> dict[str, Any]:
    """Killed when half of the list was asked for, with all its processes, and started again. `whole`: kept else."""
    images = len(rows.read_text().splitlines()) - 1
    place = _empty(folder / "place")
    server.forget_arrivals()
    argv = one.argv(rows, server.at, place, images)
    log = Log(server.log)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": place, "env": ENVIRON}
    process = subprocess.Popen(argv, start_new_session=True, **quiet)  # type: ignore[call-overload]
    while process.poll() is None and log.look() < images // 2:
        time.sleep(LOOK_EVERY_S)
    if process.poll() is not None:
        raise SystemExit(f"{one.title} ended before it could be killed")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    log.close()
    at = len(_asked(server))
    subprocess.run(argv, check=False, timeout=END_S_MAX, **quiet)  # type: ignore[call-overload]
    asked = Counter(_asked(server))
    redone = sum(asked.values()) - len(asked)
    kept = one.kept(place)
    told = {"title": one.title, "name": one.name, "killed_after": at, "redone": redone, "kept": kept}
    told["lost"] = max(0, whole - kept)
    print(f"{one.title:28} killed after {at}, {redone} asked for again, {kept} kept in the end", flush=True)
    return told


def _asked(server: Nginx) -> list[str]:
    return [path for _, _, path, _ in server.arrivals() if path.endswith(".jpg")]


def _found(
    images: ImageSet, options: argparse.Namespace, several: list[Contestant], laps: list[dict[str, Any]], killed: Any
) -> dict[str, Any]:
    sizes = images.sizes()
    rows = [_row(one, [lap for lap in laps if lap["title"] == one.title], len(images.kinds)) for one in several]
    for row in rows:
        peer = [other for other in rows if other["processes"] == row["processes"] and other["name"] == "img2dataset"]
        pairs = list(zip(row["laps"], peer[0]["laps"], strict=True)) if peer else []
        row["speed_against"] = sorted(theirs["wall_s"] / ours["wall_s"] for ours, theirs in pairs)
        row["cpu_against"] = sorted(ours["cpu_s"] / theirs["cpu_s"] for ours, theirs in pairs)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "images": len(images.kinds),
        "good": images.good,
        "kinds": dict(Counter(images.kinds)),
        "kb": [sizes[0] // 1000, int(median(sizes)) // 1000, sizes[-1] // 1000],
        "rounds": options.rounds,
        "at_once": AT_ONCE,
        "others_share": max((lap["whole"].others_share for lap in laps), default=0.0),
        "rows": rows,
        "killed": killed,
    }


def _row(one: Contestant, laps: list[dict[str, Any]], images: int) -> dict[str, Any]:
    whole, start = [lap["whole"] for lap in laps], [lap["start"] for lap in laps]
    apart = [(lap["whole"].cpu_s - lap["start"].cpu_s) / (images - 1) * 1000 for lap in laps]
    return {
        "title": one.title, "name": one.name, "processes": one.processes, "does": TOLD[one.name],
        "kept": min(lap["kept"] for lap in laps),
        "per_s": median(images / lap.wall_s for lap in whole),
        "cpu_per_1000": median(lap.cpu_s / images * 1000 for lap in whole),
        "cpu_per_1000_apart": median(apart),
        "startup_cpu_s": median(lap.cpu_s for lap in start),
        "peak_mb": max(lap.peak_mb for lap in whole),
        "laps": [{"wall_s": round(lap.wall_s, 1), "cpu_s": round(lap.cpu_s, 1)} for lap in whole],
    }  # fmt: skip


def _print(found: dict[str, Any]) -> None:
    least, middle, most = found["kb"]
    print(
        f"\n{found['images']} images, {found['good']} good and distinct, of {least} to {most} KB, median {middle} KB;"
    )
    print(f"other programs took up to {found['others_share']:.0%} of the cores")
    for row in found["rows"]:
        ratios = row["speed_against"]
        against = f"{median(ratios):5.2f} × speed ({ratios[0]:.2f} to {ratios[-1]:.2f})" if ratios else ""
        cpu = f"{row['cpu_per_1000']:6.2f} CPU s per 1000 ({row['cpu_per_1000_apart']:.2f} without start-up)"
        told = f"{row['peak_mb']:5.0f} MB  {row['kept']} kept  {against}"
        print(f"{row['title']:28} {row['per_s']:6.1f} images/s  {cpu}  {told}")


def _empty(place: Path) -> Path:
    """The last contestant's files are gone and on the disk: the next one's fsyncs must not pay for them."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    os.sync()
    return place


if __name__ == "__main__":
    sys.exit(main())
