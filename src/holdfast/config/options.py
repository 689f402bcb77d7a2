"""The one table of job options: those that every kind of job has, or several. A kind's own stand in its `Kind`.

The arguments of the start commands, the options of Python, the keys of job files and the settings that are defaults of
new jobs are made from these rows, in their order. What is stored of a job is a field of `model.job.Options`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from holdfast.config import types
from holdfast.model.option import COMMAND, PACE, Configured, Option
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


def _default(field: str, key: str, kind: ValueType, meaning: str) -> Option:
    """A field of a job that only settings say: it has no argument, and in a job file it is spelled as the setting."""
    return Option(field, kind, meaning, part=PACE, field=field, python="", is_key=False, configured=Configured(key=key))


# fmt: off
OPTIONS: tuple[Option, ...] = (
    Option("mode", TEXT, "`full`, `new` or `resume`", "--mode", part=COMMAND),
    Option("max_pages", whole(1, 10**12), "fetch no more targets than this over the job's life", "--max-pages",
           part=PACE, field="max_pages", metavar="N", commands=SOME,
           help="fetch no more than N, in all runs together (no limit)"),
    Option("time_limit", duration(0.001, 10**9), "active time of the job", "--time-limit",
           part=PACE, field="time_limit_s", metavar="DUR", help="of active time; pauses do not count (none)"),
    Option("processes", whole(0, 10**15), "worker processes on this computer", "--processes", part=COMMAND,
           commands=SOME),
    Option("concurrency", whole(*AT_ONCE), "fetches at once", "--concurrency",
           part=PACE, field="concurrency", metavar="N", help="fetches at once (8)",
           configured=Configured(key="concurrency", type=clamped(*AT_ONCE))),
    Option("per_host", whole(*AT_ONCE), "fetches at once per host", "--per-host",
           part=PACE, field="per_host", metavar="N", help="fetches at once per host (2)",
           configured=Configured(key="per_host", type=clamped(*AT_ONCE))),
    Option("delay", duration_ms(0, HOUR_S), "between fetches to one host", "--delay",
           part=PACE, field="delay_ms", metavar="DUR",
           help="between fetches to one host, ±20%% (500ms, of images 200ms); 3 is 3s; a longer Crawl-delay wins",
           configured=Configured(key="delay")),
    Option("max_attempts", whole(1, 100), "tries per target", "--max-attempts",
           part=PACE, field="max_attempts", metavar="N", help="tries per target (3)",
           configured=Configured(key="max_attempts")),
    Option("max_bytes", size(*BODY_BYTES), "size per response", "--max-bytes",
           part=PACE, field="max_bytes", metavar="SIZE", help="size per response, at most 256MB (50MB)",
           configured=Configured(key="http.max_bytes", meaning="size of one answer, unpacked")),
    _default("bytes_in_flight", "http.bytes_in_flight", size(1_000_000, 10**12),
             "answers that one process holds at once; beyond it, fetches wait"),
    Option("timeout", duration(0.001, DAY_S), "whole exchange", "--timeout",
           part=PACE, field="timeout_s", metavar="DUR", help="whole exchange (60s)",
           configured=Configured(key="http.timeout", meaning="one whole exchange")),
    _default("connect_timeout_s", "http.connect_timeout", duration(0.001, DAY_S), "until a host is connected"),
    _default("first_byte_timeout_s", "http.first_byte_timeout", duration(0.001, DAY_S), "until an answer begins"),
    _default("idle_timeout_s", "http.idle_timeout", duration(0.001, DAY_S), "between two parts of an answer"),
    Option("user_agent", TEXT, "what sites are told", "--user-agent",
           part=PACE, field="user_agent", metavar="S", typed=_agent, help="default holdfast/VERSION (+URL)",
           configured=Configured(key="user_agent", type=types.AGENT,
                                 meaning="what sites are told; empty: holdfast and its version")),
    Option("header", types.HEADERS, "`K: V`; secrets by `env:NAME` or `file:PATH`", "--header",
           part=PACE, field="headers", python="headers", metavar="'K: V'", typed=_lazily("headers", "read_header"),
           help="repeatable; for secrets see below"),
    Option("headers_to", TEXTS, "hosts that headers go to, beside the seeds'", "--headers-to",
           part=PACE, field="headers_to", metavar="HOST", typed=_lazily("headers", "read_headers_to"),
           help="also send typed headers there; repeatable; any: all hosts, those without a secret"),
    Option("ca_bundle", TEXT, "certificates to trust besides the system's", "--ca-bundle", is_path=True,
           part=PACE, field="ca_bundle", metavar="FILE", typed=_lazily("certificates", "read_bundle"),
           help="certificates to trust besides the system's, PEM; also SSL_CERT_FILE",
           configured=Configured(key="ca_bundle", type=types.PATH,
                                 meaning="a PEM file (absolute path) trusted besides the system's; "
                                         "also `SSL_CERT_FILE`")),
    Option("proxy", types.SECRET_URL, "a proxy; with a password `env:NAME` or `file:PATH`", "--proxy",
           part=PACE, field="proxy", metavar="URL", typed=_lazily("headers", "read_proxy"),
           help="http, https or socks5; with a password: env:NAME or file:PATH",
           configured=Configured(key="proxy", secret=True,
                                 meaning="fetch through this proxy; with a password: `env:NAME` or `file:PATH`")),
    Option("cookies", FLAG, "keep cookies", "--cookies",
           part=PACE, field="cookies", help="keep cookies, in memory, for this job"),
    Option("ignore_robots", FLAG, "fetch what robots.txt disallows", "--ignore-robots",
           part=PACE, field="ignore_robots",
           help="fetch what robots.txt forbids; warns, and is written into the job's history"),
    Option("browser", FLAG, "fetch pages with Chromium", "--browser",
           part=PACE, field="browser", help="fetch pages with Chromium, their scripts run"),
    Option("record", FLAG, "keep every exchange, failed ones too, as WARC", "--record",
           part=PACE, field="record",
           help="keep every request and answer as WARC: redirects, robots.txt and failures, too (see --from-warc)"),
    Option("allow_private", FLAG, "permit private addresses", "--allow-private",
           part=PACE, field="allow_private", heading=ADDRESSES, help="permit all but cloud metadata"),
    Option("allow", TEXTS, "private addresses let through, one by one", "--allow",
           part=PACE, field="allow", heading=WORLDS, metavar="ADDR:PORT", help="let this one private address through",
           configured=Configured(key="http.allow", type=types.ENDPOINTS)),
    Option("resolve", types.NAMES, "names of simulated worlds, and where they are", "--resolve",
           part=PACE, field="resolve", heading=WORLDS, metavar="NAME=ADDR:PORT", typed=_mapping, help="connect there",
           configured=Configured(key="http.resolve")),
    _default("detect_blocks", "http.detect_blocks", FLAG,
             "`false`: neither block pages nor 403 ten times in a row pause the job"),
    _default("targets_per_host", "limits.targets_per_host", whole(0, 10**9),
             "targets of one host in a job; links beyond are skipped; 0: any number"),
    _default("checkpoint_targets", "checkpoint.every_targets", whole(0, 10**9),
             "a checkpoint after so many targets, at most one a second; 0: not by number"),
    _default("checkpoint_s", "checkpoint.every", duration(1, 365 * DAY_S), "a checkpoint after so much time"),
    Option("auto_resume", FLAG, "`false`: a bare `holdfast resume` pauses what a crash left, and says so",
           part=PACE, field="auto_resume", is_key=False, configured=Configured(key="auto_resume")),


    Option("output", TEXT, "write results there when the command ends", "--output", is_path=True, part=COMMAND),
    Option("to", TEXT, "the form of the results", "--to", part=COMMAND),
    Option("start_paused", FLAG, "submit only", "--start-paused", part=COMMAND),
    Option("fail_on", TEXT, "`never`, `problems`, `any` or `5%`: what counts for exit code 3", "--fail-on",
           part=COMMAND),
    Option("notify", TEXTS, "who is told; not used yet", part=COMMAND),
)
# fmt: on
