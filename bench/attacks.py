"""`make bench-attacks`: plays every attack against one checkout, and keeps what came of it for docs/attacks.md.

`--tree PATH` names the checkout (this one); its `.venv` must be there. Rows are kept as `now`, or with `--as before` as
those of the release before, each with the commit that it was played against. Words choose the attacks whose names
contain one of them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.attack import Attack
from bench.attack_local import LOCAL
from bench.attack_missed import MISSED
from bench.attack_stage import CAP_S, Ended, staged
from bench.attack_users import USERS
from bench.attack_web import WEB

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "docs" / "attacks.json"
ATTACKS = tuple(sorted((*MISSED, *USERS, *WEB, *LOCAL), key=lambda attack: attack.point))


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Play attacks against a checkout.")
    parser.add_argument("--tree", type=Path, default=ROOT, help="a checkout with its .venv")
    parser.add_argument("--as", dest="when", choices=("before", "now"), default="now")
    parser.add_argument("--dry", action="store_true", help="keep nothing")
    parser.add_argument("only", nargs="*", help="attacks whose names contain one of these words")
    options = parser.parse_args(words)
    chosen = [each for each in ATTACKS if not options.only or any(word in each.name for word in options.only)]
    for attack in chosen:
        ended = played(attack, options.tree.resolve())
        print(f"{attack.point:2}  {attack.what:66} {shown(ended)}", flush=True)
        if not options.dry:
            keep(attack, ended, options.when, options.tree.resolve())
    return 0


def played(attack: Attack, tree: Path) -> Ended:
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        staged(tree, Path(folder) / "stage", attack.site()) as stage,
    ):
        return attack.play(stage)


def shown(ended: Ended) -> str:
    took = ended.took
    if took is None:
        return ended.said
    return (
        f"{took.seconds:6.1f} s {took.cpu_s:6.1f} CPU s {took.peak_mb:5.0f} MB, "
        f"loop held {took.held_s:5.2f} s; {ended.said}"
    )


def row(ended: Ended) -> dict[str, Any]:
    took, found = ended.took, {"said": ended.said}
    if took is None:
        return found
    numbers = {"seconds": took.seconds, "cpu_s": took.cpu_s, "peak_mb": took.peak_mb, "held_s": took.held_s}
    shown = {name: round(number, 2) for name, number in numbers.items()}
    return {**found, "in_time": took.in_time, **shown, "system": system()}


def keep(attack: Attack, ended: Ended, when: str, tree: Path) -> None:
    """Among the others, in the order of the table, with what was played and where."""
    kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    rows = kept.setdefault("rows", {})
    rows.setdefault(attack.what, {})[when] = row(ended) | {
        "commit": commit(tree),
        "at": f"{datetime.now(UTC):%Y-%m-%d}",
    }
    table = [{"point": each.point, "what": each.what, "guard": each.guard} for each in ATTACKS]
    kept["table"] = [each for each in table if each["what"] in rows]
    kept["rows"] = {each["what"]: rows[each["what"]] for each in kept["table"]}
    kept["cap_s"] = CAP_S
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def system() -> str:
    return f"{platform.system()} {platform.release()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def commit(tree: Path) -> str:
    words = ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
