"""The keys of a job in a file: every option of the start commands, spelled with underscores (ux 3.2). One table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.config import types
from holdfast.config.secrets import refuse_clear_header
from holdfast.config.types import ValueType

COMMANDS: dict[str, str] = {"site": "crawl", "documents": "docs", "cases": "cases", "images": "images"}
OWN_RECIPE = "run"
ALL = frozenset({*COMMANDS.values(), OWN_RECIPE})
YEARS_S = 100 * 365 * 86_400


@dataclass(frozen=True, slots=True)
class JobKey:
    """One key. `option` is empty where the value stands without one, as seeds do; `joined` makes one word of a list."""

    name: str
    kind: ValueType
    commands: frozenset[str]
    meaning: str
    option: str = ""
    joined: bool = False


def _columns(value: Any) -> Any:
    if isinstance(value, dict) and all(isinstance(text, str) for text in value.values()):
        return value
    raise ValueError(f'{value!r} is not a table such as {{ id = "Actions", title = "Title" }}')


def _params(value: Any) -> Any:
    if isinstance(value, dict) and all(isinstance(each, (str, int, float)) for each in value.values()):
        return value
    raise ValueError(f"{value!r} is not a table of parameters")


def _number(value: Any) -> Any:
    return types.whole(0, 10**15).read(value)


def _headers(value: Any) -> tuple[str, ...]:
    lines = tuple(types.TEXTS.read([value] if isinstance(value, str) else value))
    for line in lines:
        refuse_clear_header(line)
    return lines


_TEXT, _TEXTS, _FLAG = types.TEXT, types.TEXTS, types.FLAG
_NUMBER = ValueType("number", _number, quoted=False)
_DURATION, _SIZE = types.duration(0, YEARS_S), types.size(0, 10**15)
_TABLE = ValueType("table", _columns, quoted=False)
_HEADERS = ValueType("list of headers", _headers, quoted=False)
_PARAMS = ValueType("table", _params, quoted=False)
_CRAWL, _DOCS, _CASES, _IMAGES, _RUN = (frozenset({name}) for name in ("crawl", "docs", "cases", "images", "run"))

# fmt: off
JOB_KEYS: dict[str, JobKey] = {row.name: row for row in (
    JobKey("seeds",         _TEXTS,    _CRAWL,        "the URLs to begin with"),
    JobKey("range",         _TEXTS,    _CASES,        "the cases: `IMM-1-25..IMM-5000-25`"),
    JobKey("list",          _TEXT,     _DOCS,         "the list of documents, a file or a URL"),
    JobKey("keywords",      _TEXTS,    _IMAGES,       "what the images show"),
    JobKey("seeds_file",    _TEXT,     _CRAWL,        "a file with one URL per line to begin with", "--seeds"),
    JobKey("keywords_file", _TEXT,     _IMAGES,       "a file with one keyword per line", "--keywords"),
    JobKey("params",        _PARAMS,   _RUN,          "parameters of a recipe of one's own", "--param"),
    JobKey("mode",          _TEXT,     ALL,           "`full`, `new` or `resume`", "--mode"),
    JobKey("max_pages",     _NUMBER,   _CRAWL | _CASES | _RUN, "fetch no more targets than this over the job's life",
           "--max-pages"),
    JobKey("max_depth",     _NUMBER,   _CRAWL | _RUN, "links beyond are skipped", "--max-depth"),
    JobKey("preset",        _TEXT,     _CRAWL,        "`thorough`, `quick` or `docs`", "--preset"),
    JobKey("time_limit",    _DURATION, ALL,           "active time of the job", "--time-limit"),
    JobKey("processes",     _NUMBER,   _CRAWL | _CASES | _RUN, "worker processes on this computer", "--processes"),
    JobKey("concurrency",   _NUMBER,   ALL,           "fetches at once", "--concurrency"),
    JobKey("per_host",      _NUMBER,   ALL,           "fetches at once per host", "--per-host"),
    JobKey("delay",         _DURATION, ALL,           "between fetches to one host", "--delay"),
    JobKey("max_attempts",  _NUMBER,   ALL,           "tries per target", "--max-attempts"),
    JobKey("max_bytes",     _SIZE,     ALL,           "size per response", "--max-bytes"),
    JobKey("timeout",       _DURATION, ALL,           "whole exchange", "--timeout"),
    JobKey("include",       _TEXTS,    _CRAWL | _RUN, "patterns of paths", "--include"),
    JobKey("exclude",       _TEXTS,    _CRAWL | _RUN, "patterns of paths; exclude wins", "--exclude"),
    JobKey("scope",         _TEXT,     _CRAWL,        "`host`, `domain`, `prefix` or `any`", "--scope"),
    JobKey("sitemap",       _TEXT,     _CRAWL,        "`auto`, `only` or `off`", "--sitemap"),
    JobKey("ignore_robots", _FLAG,     ALL,           "fetch what robots.txt disallows", "--ignore-robots"),
    JobKey("nofollow",      _TEXT,     _CRAWL,        "which nofollow is obeyed: `pages`, `all`, `off`", "--nofollow"),
    JobKey("allow_private", _FLAG,     ALL,           "permit private addresses", "--allow-private"),
    JobKey("allow",         _TEXTS,    ALL,           "private addresses let through, one by one", "--allow"),
    JobKey("resolve",       types.NAMES, ALL,         "names of simulated worlds, and where they are", "--resolve"),
    JobKey("user_agent",    _TEXT,     ALL,           "what sites are told", "--user-agent"),
    JobKey("header",        _HEADERS,  ALL,           "`K: V`; secrets by `env:NAME` or `file:PATH`", "--header"),
    JobKey("proxy",         types.SECRET_URL, ALL,    "a proxy; with a password `env:NAME` or `file:PATH`", "--proxy"),
    JobKey("headers_to",    _TEXTS,    ALL,           "hosts that headers go to, beside the seeds'", "--headers-to"),
    JobKey("ca_bundle",     _TEXT,     ALL,           "certificates to trust besides the system's", "--ca-bundle"),
    JobKey("cookies",       _FLAG,     ALL,           "keep cookies", "--cookies"),
    JobKey("browser",       _FLAG,     ALL,           "fetch with Chromium", "--browser"),
    JobKey("record",        _FLAG,     ALL,           "keep requests and failed answers too", "--record"),
    JobKey("report",        _FLAG,     _CRAWL,        "extract, analyse and write a report", "--report"),
    JobKey("columns",       _TABLE,    _DOCS,         "which column is what", "--columns", joined=True),
    JobKey("skip_where",    _TEXT,     _DOCS,         "rows not wanted", "--skip-where"),
    JobKey("limit",         _NUMBER,   _DOCS,         "at most so many new ones", "--limit"),
    JobKey("refetch",       _FLAG,     _DOCS,         "get held ones again", "--refetch"),
    JobKey("require_fresh", _FLAG,     _DOCS,         "stop if the list cannot be synced", "--require-fresh"),
    JobKey("url",           _TEXT,     _CASES,        "the URL of a case, with `{prefix} {number} {year}`", "--url"),
    JobKey("start",         _NUMBER,   _CASES,        "the first number", "--start"),
    JobKey("max_cases",     _NUMBER,   _CASES,        "how many numbers", "--max-cases"),
    JobKey("per_keyword",   _NUMBER,   _IMAGES,       "images wanted per keyword", "--per-keyword"),
    JobKey("engines",       _TEXTS,    _IMAGES,       "search engines", "--engines", joined=True),
    JobKey("min_size",      _TEXT,     _IMAGES,       "the least size, as in `200x200`", "--min-size"),
    JobKey("dedupe",        _TEXT,     _IMAGES,       "`exact` or `perceptual`", "--dedupe"),
    JobKey("output",        _TEXT,     ALL,           "write results there when the command ends", "--output"),
    JobKey("to",            _TEXT,     ALL,           "the form of the results", "--to"),
    JobKey("start_paused",  _FLAG,     ALL,           "submit only", "--start-paused"),
    JobKey("fail_on",       _TEXT,     ALL,           "`never`, `problems`, `any` or `5%`: what counts for exit code 3",
           "--fail-on"),
    JobKey("notify",        _TEXTS,    ALL,           "who is told; not used yet"),
)}
# fmt: on
INPUTS = ("seeds", "range", "list", "keywords")
PATHS = ("seeds_file", "keywords_file", "output", "ca_bundle")  # relative to the file that names them
