"""Files of a list by hand: libcurl, a hash and an fsync of each, in as many processes as are asked for. No books.

What a durable download costs a Python program that does nothing else: `python fetch_files.py URLS FOLDER PROCESSES`.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pycurl

AT_ONCE, SYNCS_AT_ONCE = 8, 8


def main() -> int:
    urls, folder, processes = Path(sys.argv[1]).read_text(encoding="utf-8").split(), Path(sys.argv[2]), int(sys.argv[3])
    folder.mkdir()
    children = []
    for n in range(processes):
        child = os.fork()
        if child == 0:
            _fetch(urls[n::processes], folder, AT_ONCE // processes)
            os._exit(0)
        children.append(child)
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


def _fetch(urls: list[str], folder: Path, at_once: int) -> None:
    multi, left, saved = pycurl.CurlMulti(), iter(urls), list[Future[None]]()
    under_way: dict[pycurl.Curl, tuple[str, io.BytesIO]] = {}
    with ThreadPoolExecutor(SYNCS_AT_ONCE) as threads:
        for _ in range(at_once):
            _begin(pycurl.Curl(), left, multi, under_way)
        while under_way:
            while multi.perform()[0] == pycurl.E_CALL_MULTI_PERFORM:
                pass
            _, done, failed = multi.info_read()
            if failed:
                raise SystemExit(f"{failed[0][1:]}")
            for curl in done:
                url, body = under_way.pop(curl)
                multi.remove_handle(curl)
                saved.append(threads.submit(_save, folder / url.rpartition("/")[2], body.getvalue()))
                _begin(curl, left, multi, under_way)
            if not done:
                multi.select(0.05)
    for one in saved:
        one.result()
    _sync(folder, os.O_RDONLY)


def _begin(
    curl: pycurl.Curl,
    left: Iterator[str],
    multi: pycurl.CurlMulti,
    under_way: dict[pycurl.Curl, tuple[str, io.BytesIO]],
) -> None:
    url = next(left, None)
    if url is not None:
        body = io.BytesIO()
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.WRITEDATA, body)
        multi.add_handle(curl)
        under_way[curl] = (url, body)


def _save(path: Path, body: bytes) -> None:
    sha256(body).digest()
    part = path.with_suffix(".part")
    part.write_bytes(body)
    _sync(part, os.O_RDONLY)
    part.rename(path)


def _sync(path: Path, how: int) -> None:
    descriptor = os.open(path, how)
    os.fsync(descriptor)
    os.close(descriptor)


if __name__ == "__main__":
    raise SystemExit(main())
