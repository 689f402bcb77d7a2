"""`make docs`: writes generated modules, pages and blocks, then plays the demo on a terminal and draws what it showed.

They follow from the program's own tables, and a test fails where one is stale. The recording is the real output
of `holdfast demo`: it takes as long as the demo, and `--no-recording` leaves the last one.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from generator import recording
from generator.attacks import attacks
from generator.codes import failure_codes
from generator.command_line import command_line
from generator.hostile import hostile_web
from generator.lifecycle import lifecycle
from generator.markdown import page, with_blocks
from generator.proofs import laws, measured, mutants, read_results
from generator.reliability import reliability
from generator.settings import job_keys, settings
from generator.sources import sources

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def generated() -> dict[Path, str]:
    """What each generated page must hold now."""
    readme, guarantees, job_files = ROOT / "README.md", DOCS / "guarantees.md", DOCS / "job-files.md"
    return {
        DOCS / "lifecycle.md": lifecycle(),
        DOCS / "failure-codes.md": failure_codes(),
        DOCS / "cli.md": command_line(),
        DOCS / "settings.md": settings(),
        job_files: with_blocks(_text(job_files), **{"job-keys": job_keys()}),
        DOCS / "attacks.md": attacks(DOCS / "attacks.json"),
        DOCS / "hostile-web.md": hostile_web(DOCS / "hostile-web.json"),
        DOCS / "decisions" / "README.md": decisions(DOCS / "decisions"),
        DOCS / "reliability-results.md": reliability(DOCS / "reliability-results.json"),
        readme: with_blocks(_text(readme), proof=measured(read_results(DOCS / "selftest-results.json"))),
        guarantees: with_blocks(
            _text(guarantees), laws=laws(), mutants=mutants(ROOT / "tests" / "mutants" / "mutants.py")
        ),
    }


def decisions(folder: Path) -> str:
    """The list of decision records, by their own titles."""
    titles = [(path.name, _text(path).partition("\n")[0].removeprefix("# ")) for path in folder.glob("[0-9]*.md")]
    lines = [f"- [{title}]({name})" for name, title in sorted(titles)]
    return page("Decisions", "What was chosen where another way was near, and at what price.", "\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Write the generated modules and pages, and the recording of the demo."
    )
    parser.add_argument("--no-recording", action="store_true", help="only the modules and pages")
    parser.add_argument("--sources", action="store_true", help="only the modules of the program")
    options = parser.parse_args()
    written = _write(sources())
    if options.sources:
        return
    if written:  # the pages are those of the program as it is now
        os.execv(sys.executable, [sys.executable, *sys.argv])  # noqa: S606 - this very program
    _write(generated())
    if not options.no_recording:
        for path in recording.make(DOCS / "images"):
            print(f"drew {path.relative_to(ROOT)}")


def _write(files: Mapping[Path, str]) -> list[Path]:
    """Those that did not hold what they must."""
    stale = [path for path, text in files.items() if not path.exists() or _text(path) != text]
    for path in stale:
        path.write_text(files[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}", flush=True)
    return stale


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
