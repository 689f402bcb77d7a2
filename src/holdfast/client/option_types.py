"""The options of a job as Python spells them, for editors and type checkers.

Generated from the rows of job options by `python docs/make.py`: change a row, not this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict


class PaceOptions(TypedDict, total=False):
    """How fast and how long; a changed one is applied to a job that is there. Durations: seconds, or `"30m"`."""

    max_pages: int
    time_limit: float | str
    concurrency: int
    per_host: int
    delay: float | str
    max_attempts: int
    max_bytes: int | str
    timeout: float | str
    user_agent: str
    headers: Mapping[str, str]
    headers_to: Sequence[str]
    ca_bundle: str
    proxy: str
    cookies: bool
    ignore_robots: bool
    browser: bool
    record: bool
    allow_private: bool
    allow: Sequence[str]
    resolve: Mapping[str, str]
    auto_resume: bool


class CrawlOptions(PaceOptions, total=False):
    """Pace, and what belongs to the site; a site job that is there keeps its scope."""

    model_url: str
    model: str
    model_key: str
    nofollow: str
    report: bool
    scope: str
    include: Sequence[str]
    exclude: Sequence[str]
    max_depth: int
    sitemap: str
    from_warc: Sequence[str]
    preset: str
