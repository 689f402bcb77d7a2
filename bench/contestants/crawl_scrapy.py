"""Scrapy as its documentation has it: a spider, a JOBDIR to resume from, a feed of JSON lines.

python crawl_scrapy.py URL OUT.jsonl JOBDIR
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

CONCURRENCY = 64


class SiteSpider(scrapy.Spider):
    name = "site"

    def __init__(self, start: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = [start]
        self.allowed_domains = [urlsplit(start).hostname or ""]

    def parse(self, response: Response) -> Iterator[Any]:
        yield {
            "url": response.url,
            "status": response.status,
            "length": len(response.body),
            "sha256": hashlib.sha256(response.body).hexdigest(),
            "title": response.css("title::text").get(),
        }
        yield from response.follow_all(css="a[href]", callback=self.parse)


def settings(out: str, jobdir: str) -> dict[str, Any]:
    return {
        "JOBDIR": jobdir,
        "FEEDS": {out: {"format": "jsonlines"}},
        "CONCURRENT_REQUESTS": CONCURRENCY,
        "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "WARNING",
    }


if __name__ == "__main__":
    process = CrawlerProcess(settings(sys.argv[2], sys.argv[3]))
    process.crawl(SiteSpider, start=sys.argv[1])
    process.start()
