"""A list of files, fetched by Holdfast, by `curl --parallel` and by `aria2c -i`: wall time and processor time of each.

Neither of the others keeps books, checks what came or survives being killed; they are what a person would type instead.
`curl + sync` is followed by `sync -f`, which waits for the disk as Holdfast does before each commit; the bar is set by
the faster of the two without it. `by hand` is the least that a Python program does which hashes and fsyncs each file.
All have eight requests under way at once (`--per-host` counts a file until its commit, so it is larger), and take
turns. What they wrote is removed at the end: ext4 is slow to make files where many were deleted a moment before. A
whole run also measures a long list and one large file, and is kept in docs/performance-files.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from bench import large_file, long_list
from bench.measure import Measured, cpu_s_of, measured

BY_HAND = Path(__file__).resolve().parent / "contestants" / "fetch_files.py"
RESULTS = Path(__file__).resolve().parents[1] / "docs" / "performance-files.json"
AT_ONCE = 8
WHOLE_FILES, WHOLE_ROUNDS, WHOLE_LIST, LARGE_BYTES = 3_000, 3, 100_000, 2 << 30
YARDSTICKS = ("curl", "aria2c")  # neither waits for the disk


def main() -> int:
    wanted = _arguments()
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name)
        _fill(folder / "www", wanted.files, wanted.size)
        server = _serve(folder, wanted.port)
        try:
            if wanted.list or wanted.large:
                if wanted.list:
                    long_list.measure(folder, wanted.list, wanted.files, wanted.port)
                if wanted.large:
                    print(large_file.measure(folder, wanted.large << 20, wanted.port, folder / "answers.log"))
                return 0
            found = _compared(folder, wanted, server.pid)
            if wanted.files >= WHOLE_FILES and wanted.rounds >= WHOLE_ROUNDS:
                found["list"] = long_list.measure(folder, WHOLE_LIST, wanted.files, wanted.port)
                found["large"] = large_file.measure(folder, LARGE_BYTES, wanted.port, folder / "answers.log")
                RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
                print(f"wrote {RESULTS.name}; python -m bench.report puts it on the page")
        finally:
            server.terminate()
            server.wait()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-files", description=__doc__)
    parser.add_argument("--files", type=int, default=WHOLE_FILES)
    parser.add_argument("--size", type=int, default=200_000)
    parser.add_argument("--port", type=int, default=8_931)
    parser.add_argument("--rounds", type=int, default=WHOLE_ROUNDS)
    parser.add_argument(
        "--list", type=int, default=0, metavar="ROWS", help="only a list of so many links, submitted and begun"
    )
    parser.add_argument("--large", type=int, default=0, metavar="MB", help="only one file of so many MB, killed once")
    return parser.parse_args()


def _compared(folder: Path, wanted: argparse.Namespace, server: int) -> dict[str, Any]:
    took: dict[str, list[Measured]] = {}
    for turn in range(wanted.rounds):
        for title, words, aside in _contestants(folder, wanted.files, wanted.port):
            place = aside / str(turn)
            place.mkdir(parents=True)
            lap = measured(words, cwd=place, output=aside / f"{turn}.out", ours=(lambda: cpu_s_of(server),))
            took.setdefault(title, []).append(lap)
            count = sum(path.stat().st_size == wanted.size for path in place.rglob("*") if path.is_file())
            print(
                f"{title:22} {lap.wall_s:7.2f} s  {lap.cpu_s:6.2f} s of processor  {lap.peak_mb:5.0f} MB  "
                f"{wanted.files / lap.wall_s:7.0f} files/s  {count} whole files"
            )
            if lap.exit or count != wanted.files:
                raise SystemExit(f"{title} ended with {lap.exit} and {count} of {wanted.files} files")
    rows = [_row(title, laps, took) for title, laps in took.items()]
    for row in rows:
        print(f"{row['title']:22} median {row['wall_s']:.2f} s, {row['cpu_s']:.2f} s of processor; "
              f"{median(row['against']):.2f} x the faster of curl and aria2c")  # fmt: skip
    others = max(lap.others_share for laps in took.values() for lap in laps)
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "files": wanted.files,
        "bytes": wanted.size,
        "rounds": wanted.rounds,
        "at_once": AT_ONCE,
        "others_share": others,
        "rows": rows,
    }


def _row(title: str, laps: list[Measured], took: dict[str, list[Measured]]) -> dict[str, Any]:
    """Ratios are taken within each round."""
    faster = [min(pair, key=lambda lap: lap.wall_s) for pair in zip(*(took[name] for name in YARDSTICKS), strict=True)]
    return {
        "title": title,
        "wall_s": median(lap.wall_s for lap in laps),
        "cpu_s": median(lap.cpu_s for lap in laps),
        "peak_mb": max(lap.peak_mb for lap in laps),
        "against": sorted(lap.wall_s / other.wall_s for lap, other in zip(laps, faster, strict=True)),
        "cpu_against": sorted(lap.cpu_s / other.cpu_s for lap, other in zip(laps, faster, strict=True)),
    }


def _fill(root: Path, files: int, size: int) -> None:
    root.mkdir()
    block = os.urandom(size)
    for n in range(files):
        (root / f"{n}.bin").write_bytes(n.to_bytes(8, "big") + block[8:])


def _serve(folder: Path, port: int) -> subprocess.Popen[bytes]:
    nginx = shutil.which("nginx")
    if nginx is None:
        raise SystemExit("bench-files needs nginx: apt install nginx-light")
    config = folder / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    config.write_text(
        f"{user} daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log stderr crit;\n"
        "events { worker_connections 1024; }\n"
        "http { log_format answers '$request_uri $status $body_bytes_sent';\n"
        f"access_log off; sendfile on; types {{ application/octet-stream bin; }}\n"
        f"server {{ listen 127.0.0.1:{port}; root {folder}/www; keepalive_requests 100000;\n"
        f"location = /large.bin {{ access_log {folder}/answers.log answers; }} }} }}\n"
    )
    started = subprocess.Popen([nginx, "-c", str(config), "-p", str(folder)])
    time.sleep(0.5)
    return started


def _contestants(folder: Path, files: int, port: int) -> list[tuple[str, list[str], Path]]:
    urls = [f"http://127.0.0.1:{port}/{n}.bin" for n in range(files)]
    (folder / "list.csv").write_text("Link,Number\n" + "".join(f"{url},N-{n}\n" for n, url in enumerate(urls)))
    (folder / "urls.txt").write_text("\n".join(urls) + "\n")
    (folder / "curl.conf").write_text("".join(f'url = "{url}"\nremote-name\n' for url in urls))
    ours = [sys.executable, "-m", "holdfast", "docs", str(folder / "list.csv"), "--columns", "url=Link,id=Number",
            "--delay", "0", "--concurrency", str(AT_ONCE), "--per-host", str(8 * AT_ONCE),
            "--allow-private"]  # fmt: skip
    curl = ["curl", "--silent", "--parallel", "--parallel-max", str(AT_ONCE), "--config", str(folder / "curl.conf")]
    aria = ["aria2c", "--quiet", "-j", str(AT_ONCE), "-i", str(folder / "urls.txt")]
    synced = ["sh", "-c", '"$@" && sync -f .', "sh", *curl]
    by_hand = [sys.executable, str(BY_HAND), str(folder / "urls.txt"), "files"]
    return [
        ("holdfast", ours, folder / "ours"),
        ("holdfast, 2 processes", [*ours, "--processes", "2"], folder / "ours-2"),
        ("curl", curl, folder / "curl"),
        ("curl + sync", synced, folder / "curl-synced"),
        ("by hand", [*by_hand, "1"], folder / "by-hand"),
        ("by hand, 2 processes", [*by_hand, "2"], folder / "by-hand-2"),
        ("aria2c", aria, folder / "aria"),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
