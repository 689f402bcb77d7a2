"""What a crawl loads before its first fetch: every package here is paid for at each restart."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from holdfast.demo.serving import WorldServer

CRAWL_LOADS = {"isal", "_cffi_backend", "ada_url", "holdfast", "msgspec", "pycurl", "typing_extensions"}
SCRIPT = """
import sys, json
from holdfast.cli.main import main
code = main(sys.argv[1:])
paths = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items() if "." not in name}
print(json.dumps([code, sorted(name for name, path in paths.items() if "site-packages" in path or "holdfast" in path)]))
"""


def run(*arguments: str) -> tuple[int, set[str]]:
    command = [sys.executable, "-c", SCRIPT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    code, loaded = json.loads(done.stdout.splitlines()[-1])
    return code, set(loaded)


def test_a_crawl_loads_only_what_it_fetches_parses_and_stores_with(tmp_path: Path) -> None:
    with WorldServer("tree", log_path=tmp_path / "log", pages=3, delay_ms=0) as world:
        code, loaded = run(
            "crawl", f"{world.url}/p/0", "--data", str(tmp_path / "data"), "--allow", world.address, "--delay", "0"
        )
    assert code == 0
    assert loaded == CRAWL_LOADS


def test_only_a_regular_expression_loads_the_engine_for_it(tmp_path: Path) -> None:
    with WorldServer("tree", log_path=tmp_path / "log", pages=3, delay_ms=0) as world:
        words = ("--data", str(tmp_path / "data"), "--allow", world.address, "--delay", "0", "--exclude", r"re:\.pdf$")
        code, loaded = run("crawl", f"{world.url}/p/0", *words)
    assert code == 0
    assert loaded == CRAWL_LOADS | {"re2"}


def test_the_version_loads_no_package_at_all() -> None:
    """C14."""
    script = SCRIPT.replace("code = main(sys.argv[1:])", "code = 0\ntry: main(sys.argv[1:])\nexcept SystemExit: pass")
    done = subprocess.run([sys.executable, "-c", script, "--version"], capture_output=True, text=True, check=True)
    assert set(json.loads(done.stdout.splitlines()[-1])[1]) <= {"holdfast"}
