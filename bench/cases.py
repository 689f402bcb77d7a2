"""`make bench-cases`: a hundred thousand numbers, killed and resumed at random, each accounted for once (CAS-09).

The witnesses are the server's own log and `holdfast targets`; it ends with 1 where a number is lost, doubled or asked
for again without cause, or where submitting took a second. A whole run is kept in docs/performance-cases.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from bench.frontier_watch import Log, Noise
from bench.nginx import Nginx

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "performance-cases.json"
WHOLE = 99_999
SUBMITTED_S_MAX = 1.0
NAME = "IMM"
CONCURRENCY = 16
GAP = "0369"  # a number that ends so has no case
SITE = f"""\
        location ~ "^/IMM-[0-9]*[{GAP}]-25$" {{ return 404; }}
        location / {{ return 200 "<h1>A case</h1>"; }}"""
LOOK_EVERY_S = 0.002
END_S_MAX = 1_800.0


def main() -> int:
    options = _arguments()
    found: dict[str, Any] = {"date": datetime.now(UTC).date().isoformat(), "cases": options.cases}
    with tempfile.TemporaryDirectory(prefix="holdfast-cases-") as name:
        folder = Path(name)
        with Nginx(folder, folder / "nginx", log=True, inside=SITE) as court:
            words = _words(court, options.cases)
            found |= _submitted(words, folder)
            print(f"submitted: {found}", flush=True)
            wrong = _worked(words, folder, court, options, found)
        wrong += _wrong(folder, options.cases, found)
    # The whole range is measured on a quiet computer. A small one is a test among others, judged by its processor time.
    submitted_s = found["submitted_s" if options.cases >= WHOLE else "submitted_cpu_s"]
    if submitted_s >= SUBMITTED_S_MAX or (found["plan_rows"], found["targets"]) != (1, 0):
        wrong.append(f"submitting: {found}")
    print("\n".join(wrong) or "every number is accounted for once")
    if not wrong and options.cases >= WHOLE:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"wrote {RESULTS.name}; python -m bench.report puts it on the page")
    return 1 if wrong else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-cases")
    parser.add_argument("--cases", type=int, default=WHOLE)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def _words(court: Nginx, cases: int) -> list[str]:
    pace = ["--allow", court.at, "--delay", "0", "--per-host", str(CONCURRENCY), "--concurrency", str(CONCURRENCY)]
    url = court.url + "/{prefix}-{number}-{year}"
    return [
        sys.executable, "-m", "holdfast", "cases", f"IMM-1-25..IMM-{cases}-25", "--url", url, *pace, "--plain",
    ]  # fmt: skip


def _submitted(words: list[str], folder: Path) -> dict[str, Any]:
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*words, "--start-paused"], cwd=folder, check=True, capture_output=True)
    seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with closing(sqlite3.connect(folder / "holdfast-data" / "ledger.db")) as ledger:
        rows = {table: ledger.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("plan", "target")}  # noqa: S608
    counts = {"plan_rows": rows["plan"], "targets": rows["target"]}
    return {"submitted_s": round(seconds, 3), "submitted_cpu_s": round(cpu_s, 3), **counts}


def _worked(
    words: list[str], folder: Path, court: Nginx, options: argparse.Namespace, kept: dict[str, Any]
) -> list[str]:
    """Kill and start the same command again; the last start comes to its end. In words what was asked for in vain."""
    draw, began, noise = Random(options.seed), time.monotonic(), Noise(court.cpu_s)
    log = Log(court.log)
    moments = sorted(draw.randrange(1, options.cases) for _ in range(options.kills))
    killed = 0
    for moment in moments:
        killed += _killed_at(words, folder, log, moment)
    last = subprocess.run(words, cwd=folder, check=False, capture_output=True, text=True, timeout=END_S_MAX)
    log.close()
    asked = Counter(path for _, _, path, _ in court.arrivals() if path.startswith("/IMM-"))
    extra = sum(asked.values()) - len(asked)
    seconds = time.monotonic() - began
    others = f"while other programs took {noise.share():.0%} of the cores"
    kept |= {"killed": killed, "asked": len(asked), "again": extra, "in_hand": killed * CONCURRENCY}
    kept |= {"seconds": round(seconds, 1), "others_share": others, "seed": options.seed}
    print(
        f"{killed} of {options.kills} kills delivered; ended with {last.returncode} after {seconds:.0f} s;"
        f" {len(asked):,} numbers asked for, {extra} asked for again (at most {killed * CONCURRENCY} were in hand)"
    )
    found = {
        f"the last start ended with {last.returncode}: {last.stderr[-600:]}": last.returncode != 0,
        "not every kill was delivered": killed < options.kills,
        f"{len(asked):,} numbers were asked for": len(asked) != options.cases,
        f"{extra} were asked for again": extra > killed * CONCURRENCY,
    }
    return [text for text, holds in found.items() if holds]


def _killed_at(words: list[str], folder: Path, log: Log, moment: int) -> bool:
    process = subprocess.Popen(
        words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    while process.poll() is None and log.look() < moment:
        time.sleep(LOOK_EVERY_S)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def _wrong(folder: Path, cases: int, kept: dict[str, Any]) -> list[str]:
    """What the ledger says in the end."""
    rows = [json.loads(line) for line in _holdfast(folder, "targets", NAME, "--jsonl").stdout.splitlines()]
    fates = Counter(f"{row['status']}/{row['disposition']}" for row in rows)
    verify = _holdfast(folder, "verify", NAME, "--deep")
    exported = _holdfast(folder, "export", NAME, "-o", "-").stdout.splitlines()
    records = Counter(json.loads(line)["case"] for line in exported)
    print(f"{dict(fates)}; {len(records):,} records exported; verify --deep: {verify.returncode}")
    kept |= {"records": len(records), "gaps": fates["succeeded/no_record"]}
    numbers = range(1, cases + 1)
    found = {
        "targets are not each number once": Counter(row["key"] for row in rows) != Counter(map(_key, numbers)),
        "records are not each case once": records != Counter(_key(n) for n in numbers if str(n)[-1] not in GAP),
        f"a fate that was not expected: {fates}": set(fates) != {"succeeded/record", "succeeded/no_record"},
        f"verify: {verify.stdout}{verify.stderr}": verify.returncode != 0,
    }
    return [text for text, holds in found.items() if holds]


def _key(number: int) -> str:
    return f"{NAME}-{number}-25"


def _holdfast(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "holdfast", *words]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=END_S_MAX)


if __name__ == "__main__":
    sys.exit(main())
