"""The script that people write by hand: aiohttp, a set of seen URLs, selectolax, one JSON line per page.

    python crawl_aiohttp.py URL OUT.jsonl

It keeps no bodies and no place: killed, it starts from nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from typing import TextIO
from urllib.parse import urldefrag, urljoin, urlsplit

import aiohttp
from selectolax.lexbor import LexborHTMLParser

WORKERS = 64


async def crawl(start: str, out: TextIO) -> None:
    host = urlsplit(start).netloc
    seen = {start}
    queue: asyncio.Queue[str] = asyncio.Queue()
    queue.put_nowait(start)

    async def worker(session: aiohttp.ClientSession) -> None:
        while True:
            url = await queue.get()
            try:
                async with session.get(url) as response:
                    body = await response.read()
                    page = {"url": url, "status": response.status, "length": len(body)}
                tree = LexborHTMLParser(body)
                title = tree.css_first("title")
                page["sha256"] = hashlib.sha256(body).hexdigest()
                page["title"] = title.text() if title else None
                for node in tree.css("a[href]"):
                    link = urldefrag(urljoin(url, node.attributes["href"])).url
                    if link not in seen and urlsplit(link).netloc == host:
                        seen.add(link)
                        queue.put_nowait(link)
                out.write(json.dumps(page) + "\n")
            except aiohttp.ClientError as error:
                print(url, error, file=sys.stderr)
            finally:
                queue.task_done()

    connector = aiohttp.TCPConnector(limit=WORKERS)
    async with aiohttp.ClientSession(connector=connector) as session:
        workers = [asyncio.create_task(worker(session)) for _ in range(WORKERS)]
        await queue.join()
        for task in workers:
            task.cancel()


if __name__ == "__main__":
    with open(sys.argv[2], "w") as out:
        asyncio.run(crawl(sys.argv[1], out))
