"""The one table of job options: those that every kind of job has, or several. A kind's own stand in its `Kind`.

The arguments of the start commands, the options of Python, the keys of job files and the settings that are defaults of
new jobs are made from these rows, in their order. What editors and type checkers read as source, the struct that is
stored with a job and the typed dicts of Python, is generated from them: `python docs/make.py --no-recording`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from holdfast.config import types
from holdfast.model.option import COMMAND, PACE, Configured, Option, StoredField
from holdfast.model.value_types import (
    FLAG,
    TEXT,
    TEXTS,
    ValueType,
    clamped,
    duration,
    duration_ms,
    size,
    whole,
)

HOUR_S = 3600
DAY_S = 24 * HOUR_S
AT_ONCE = (1, 256)
BODY_BYTES = (1, 256_000_000)
ADDRESSES = "private addresses (refused unless allowed)"
WORLDS = "advanced: simulated worlds"
SOME: frozenset[str] = frozenset()  # only the kinds that name it among their `shared_keys`


def _lazily(module: str, name: str) -> Callable[[str], Any]:
    """A reader of config/, loaded when it reads: settings are made from these rows as well, and need none of them."""

    def read(text: str) -> Any:
        return getattr(import_module(f"holdfast.config.{module}"), name)(text)

    return read


def _agent(text: str) -> str:
    if not text.strip() or not text.isprintable() or not text.isascii():
        raise ValueError(f"{text!r} cannot be sent as a user agent")
    return text.strip()


def _mapping(text: str) -> tuple[str, str]:
    name, equals, endpoint = text.partition("=")
    if not (name and equals and endpoint):
        raise ValueError(f"{text!r} is not NAME=ADDR:PORT")
    return name, endpoint


def _default(stored: StoredField, key: str, kind: ValueType, meaning: str) -> Option:
    """A field of a job that only settings say: it has no argument, and in a job file it is spelled as the setting."""
    configured = Configured(key=key)
    return Option(stored.field, kind, meaning, part=PACE, stored=stored, python="", is_key=False, configured=configured)


def _internal(stored: StoredField, meaning: str) -> Option:
    """A field of a job that nobody gives: the program keeps it with the job, or fills it in."""
    return Option(stored.field, TEXT, meaning, part=PACE, stored=stored, python="", is_key=False)


# fmt: off
OPTIONS: tuple[Option, ...] = (
    Option("mode", TEXT, "`full`, `new` or `resume`", "--mode", part=COMMAND),
    Option("max_pages", whole(1, 10**12), "fetch no more targets than this over the job's life", "--max-pages",
           part=PACE, metavar="N", commands=SOME,
           stored=StoredField("max_pages", int | None, None, harmless=True),
           help="fetch no more than N, in all runs together (no limit)"),
    Option("time_limit", duration(0.001, 10**9), "active time of the job", "--time-limit",
           part=PACE, stored=StoredField("time_limit_s", float | None, None, harmless=True),
           metavar="DUR", help="of active time; pauses do not count (none)"),
    Option("processes", whole(0, 10**15), "worker processes on this computer", "--processes", part=COMMAND,
           commands=SOME),
    Option("concurrency", whole(*AT_ONCE), "fetches at once", "--concurrency",
           part=PACE, metavar="N", help="fetches at once (8)",
           stored=StoredField("concurrency", int, 8, harmless=True),
           configured=Configured(key="concurrency", type=clamped(*AT_ONCE))),
    Option("per_host", whole(*AT_ONCE), "fetches at once per host", "--per-host",
           part=PACE, metavar="N", help="fetches at once per host (2)",
           stored=StoredField("per_host", int, 2, harmless=True),
           configured=Configured(key="per_host", type=clamped(*AT_ONCE))),
    Option("delay", duration_ms(0, HOUR_S), "between fetches to one host", "--delay",
           part=PACE, metavar="DUR",
           stored=StoredField("delay_ms", int, 500, harmless=True),
           help="between fetches to one host, ±20%% (500ms, of images 200ms); 3 is 3s; a longer Crawl-delay wins",
           configured=Configured(key="delay")),
    Option("max_attempts", whole(1, 100), "tries per target", "--max-attempts",
           part=PACE, metavar="N", help="tries per target (3)",
           stored=StoredField("max_attempts", int, 3, harmless=True),
           configured=Configured(key="max_attempts")),
    Option("max_bytes", size(*BODY_BYTES), "size per response", "--max-bytes",
           part=PACE, metavar="SIZE", help="size per response, at most 256MB (50MB)",
           stored=StoredField("max_bytes", int, 50_000_000, harmless=True),
           configured=Configured(key="http.max_bytes", meaning="size of one answer, unpacked")),
    _default(StoredField("bytes_in_flight", int, 48_000_000, harmless=True),
             "http.bytes_in_flight", size(1_000_000, 10**12),
             "answers that one process holds at once; beyond it, fetches wait"),
    Option("timeout", duration(0.001, DAY_S), "whole exchange", "--timeout",
           part=PACE, metavar="DUR", help="whole exchange (60s)",
           stored=StoredField("timeout_s", float, 60.0, harmless=True),
           configured=Configured(key="http.timeout", meaning="one whole exchange")),
    _default(StoredField("connect_timeout_s", float, 10.0, harmless=True),
             "http.connect_timeout", duration(0.001, DAY_S), "until a host is connected"),
    _default(StoredField("first_byte_timeout_s", float, 30.0, harmless=True),
             "http.first_byte_timeout", duration(0.001, DAY_S), "until an answer begins"),
    _default(StoredField("idle_timeout_s", float, 20.0, harmless=True),
             "http.idle_timeout", duration(0.001, DAY_S), "between two parts of an answer"),
    Option("user_agent", TEXT, "what sites are told", "--user-agent",
           part=PACE, metavar="S", typed=_agent, help="default holdfast/VERSION (+URL)",
           stored=StoredField("user_agent", str, "", harmless=True),
           configured=Configured(key="user_agent", type=types.AGENT,
                                 meaning="what sites are told; empty: holdfast and its version")),
    Option("header", types.HEADERS, "`K: V`; secrets by `env:NAME` or `file:PATH`", "--header",
           part=PACE, python="headers", metavar="'K: V'", typed=_lazily("headers", "read_header"),
           stored=StoredField("headers", tuple[tuple[str, str], ...], ()),
           help="repeatable; for secrets see below"),
    Option("headers_to", TEXTS, "hosts that headers go to, beside the seeds'", "--headers-to",
           part=PACE, metavar="HOST", typed=_lazily("headers", "read_headers_to"),
           stored=StoredField("headers_to", tuple[str, ...], (), told="sends its headers also to {}"),
           help="also send typed headers there; repeatable; any: all hosts, those without a secret"),
    Option("ca_bundle", TEXT, "certificates to trust besides the system's", "--ca-bundle", is_path=True,
           part=PACE, metavar="FILE", typed=_lazily("certificates", "read_bundle"),
           stored=StoredField("ca_bundle", str, "", told="trusts also the certificates in {}"),
           help="certificates to trust besides the system's, PEM; also SSL_CERT_FILE",
           configured=Configured(key="ca_bundle", type=types.PATH,
                                 meaning="a PEM file (absolute path) trusted besides the system's; "
                                         "also `SSL_CERT_FILE`")),
    Option("proxy", types.SECRET_URL, "a proxy; with a password `env:NAME` or `file:PATH`", "--proxy",
           part=PACE, metavar="URL", typed=_lazily("headers", "read_proxy"),
           stored=StoredField("proxy", str, "", told="fetches everything through {}"),
           help="http, https or socks5; with a password: env:NAME or file:PATH",
           configured=Configured(key="proxy",
                                 meaning="fetch through this proxy; with a password: `env:NAME` or `file:PATH`")),
    Option("cookies", FLAG, "keep cookies", "--cookies",
           part=PACE, stored=StoredField("cookies", bool, False, harmless=True),
           help="keep cookies, in memory, for this job"),
    Option("ignore_robots", FLAG, "fetch what robots.txt disallows", "--ignore-robots",
           part=PACE, stored=StoredField("ignore_robots", bool, False, told="does not obey robots.txt"),
           help="fetch what robots.txt forbids; warns, and is written into the job's history"),
    Option("browser", FLAG, "fetch pages with Chromium", "--browser",
           part=PACE, stored=StoredField("browser", bool, False),
           help="fetch pages with Chromium, their scripts run"),
    Option("record", FLAG, "keep every exchange, failed ones too, as WARC", "--record",
           part=PACE, stored=StoredField("record", bool, False, harmless=True),
           help="keep every request and answer as WARC: redirects, robots.txt and failures, too (see --from-warc)"),
    Option("allow_private", FLAG, "permit private addresses", "--allow-private",
           part=PACE,
           stored=StoredField("allow_private", bool, False,
                         told="fetches from private addresses: this computer and the networks around it"),
           heading=ADDRESSES, help="permit all but cloud metadata"),
    Option("allow", TEXTS, "private addresses let through, one by one", "--allow",
           part=PACE, heading=WORLDS, metavar="ADDR:PORT", help="let this one private address through",
           stored=StoredField("allow", tuple[str, ...], (), told="fetches from these private addresses: {}"),
           configured=Configured(key="http.allow", type=types.ENDPOINTS)),
    Option("resolve", types.NAMES, "names of simulated worlds, and where they are", "--resolve",
           part=PACE, heading=WORLDS, metavar="NAME=ADDR:PORT", typed=_mapping, help="connect there",
           stored=StoredField("resolve", dict[str, str], {}, told="takes these names to other addresses: {}"),
           configured=Configured(key="http.resolve")),
    _default(StoredField("detect_blocks", bool, True, harmless=True),
             "http.detect_blocks", FLAG,
             "`false`: neither block pages nor 403 ten times in a row pause the job"),
    _default(StoredField("targets_per_host", int, 0, harmless=True),
             "limits.targets_per_host", whole(0, 10**9),
             "targets of one host in a job; links beyond are skipped; 0: any number"),
    _default(StoredField("checkpoint_targets", int, 10, harmless=True),
             "checkpoint.every_targets", whole(0, 10**9),
             "a checkpoint after so many targets, at most one a second; 0: not by number"),
    _default(StoredField("checkpoint_s", float, 120.0, harmless=True),
             "checkpoint.every", duration(1, 365 * DAY_S), "a checkpoint after so much time"),
    Option("auto_resume", FLAG, "`false`: a bare `holdfast resume` pauses what a crash left, and says so",
           part=PACE, stored=StoredField("auto_resume", bool, True, harmless=True),
           is_key=False, configured=Configured(key="auto_resume")),

    Option("output", TEXT, "write results there when the command ends", "--output", is_path=True, part=COMMAND),
    Option("to", TEXT, "the form of the results", "--to", part=COMMAND),
    Option("start_paused", FLAG, "submit only", "--start-paused", part=COMMAND),
    Option("fail_on", TEXT, "`never`, `problems`, `any` or `5%`: what counts for exit code 3", "--fail-on",
           part=COMMAND),
    Option("notify", TEXTS, "who is told; not used yet", part=COMMAND),

    _internal(StoredField("jitter", float, 0.2, harmless=True), "the share by which a delay is longer or shorter"),
    _internal(StoredField("private_headers", tuple[tuple[str, str], ...], ()), "filled in for a fetcher, never stored"),
    _internal(StoredField("own", tuple[str, ...], (), harmless=True),
              "fields given for this job itself; the others follow the configuration"),
    _internal(StoredField("recipe_source", str, "", told="runs the code in {}"),
              "where a recipe of one's own lies: /path/forum.py:forum, module:forum"),
    _internal(StoredField("recipe_sha256", str, "", harmless=True), "of the code of that recipe"),
    _internal(StoredField("batch", str, "", harmless=True), "the list that the job is a row of"),
    _internal(StoredField("output", str, "", harmless=True),
              "the file that results are written to when a command that works the job ends"),
    _internal(StoredField("output_form", str, "", harmless=True), "and its form"),
)
# fmt: on
