"""From a wheel to a demo that has recovered, as a new user comes there (ux 9, C15): measured, at most a minute.

`make wheel` builds the wheel, installs it into an environment of its own and runs `holdfast demo` from it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

SECONDS_MAX = 60.0
RECOVERED = "Killed without warning: nothing lost, nothing doubled."


def main(uv: str, seconds_max: float = SECONDS_MAX) -> int:
    with tempfile.TemporaryDirectory(prefix="holdfast-wheel-") as name:
        folder = Path(name)
        _run(uv, "build", "--quiet", "--wheel", "--out-dir", name)
        [wheel] = folder.glob("*.whl")
        began = monotonic()
        _run(uv, "venv", "--quiet", str(folder / "venv"))
        _run(uv, "pip", "install", "--quiet", "--python", str(folder / "venv"), str(wheel))
        installed = monotonic()
        said = _run(str(folder / "venv" / "bin" / "holdfast"), "demo", "--plain", cwd=folder)
        ended = monotonic()
    if RECOVERED not in said:
        print(said)
        print("the demo did not say that it recovered")
        return 1
    seconds = ended - began
    print(f"{wheel.name}: installed in {installed - began:.1f} s, demo recovered after {seconds:.1f} s")
    return 0 if seconds <= seconds_max else 1


def _run(*words: str, cwd: Path | None = None) -> str:
    done = subprocess.run(words, cwd=cwd, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        print(done.stdout)
        raise SystemExit(f"{words[0]} ended with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
