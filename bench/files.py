"""A list of files, fetched by Holdfast, by `curl --parallel` and by `aria2c -i`: wall time and processor time of each.

Neither of the others keeps books, checks what came or survives being killed; they are what a person would type instead.
All three have eight requests under way at once (`--per-host` counts a file until its commit, so it is larger), and take
turns. What they wrote is removed at the end: ext4 is slow to make files where many were deleted a moment before.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.long_list import measure

AT_ONCE = 8


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=3_000)
    parser.add_argument("--size", type=int, default=200_000)
    parser.add_argument("--port", type=int, default=8_931)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--list", type=int, default=0, metavar="ROWS", help="only a list of so many links, submitted and begun"
    )
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name)
        _fill(folder / "www", wanted.files, wanted.size)
        server = _serve(folder, wanted.port)
        try:
            if wanted.list:
                measure(folder, wanted.list, wanted.files, wanted.port)
            else:
                _compare(folder, wanted)
        finally:
            server.terminate()
            server.wait()
    return 0


def _compare(folder: Path, wanted: argparse.Namespace) -> None:
    took: dict[str, list[tuple[float, float]]] = {}
    for turn in range(wanted.rounds):
        for title, words, aside in _contestants(folder, wanted.files, wanted.port):
            place = aside / str(turn)
            place.mkdir(parents=True)
            wall, cpu = _timed(words, place)
            took.setdefault(title, []).append((wall, cpu))
            count = sum(path.stat().st_size == wanted.size for path in place.rglob("*") if path.is_file())
            rate = wanted.files / wall
            print(f"{title:10} {wall:7.2f} s  {cpu:6.2f} s of processor  {rate:7.0f} files/s  {count} whole files")
    for title, each in took.items():
        walls, cpus = zip(*each, strict=True)
        print(f"{title:10} median {median(walls):.2f} s, least {min(walls):.2f} s; {median(cpus):.2f} s of processor")


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
        f"http {{ access_log off; sendfile on; types {{ application/octet-stream bin; }}\n"
        f"server {{ listen 127.0.0.1:{port}; root {folder}/www; keepalive_requests 100000; }} }}\n"
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
    return [
        ("holdfast", ours, folder / "ours"), ("curl", curl, folder / "curl"), ("aria2c", aria, folder / "aria")
    ]  # fmt: skip


def _timed(words: list[str], aside: Path) -> tuple[float, float]:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, cwd=aside, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    raise SystemExit(main())
