"""What the options of `crawl` ask for, as params and pace; only what was typed counts as asked for (ux 3.2, 3.3)."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.cli.parser import Parser
from holdfast.cli.screen.values import duration, show_size, size, whole
from holdfast.config.certificates import read_bundle
from holdfast.config.headers import read_header, read_headers_to, read_proxy
from holdfast.config.presets import HELP as PRESETS_HELP
from holdfast.config.presets import PRESETS
from holdfast.errors import BadParams

SCOPE = ("scope", "include", "exclude", "max_depth", "sitemap")
SEEDS_BYTES_MAX = 50_000_000


@dataclass(frozen=True, slots=True)
class TypedOptions:
    """Scope params and pace as typed; what is absent was not typed."""

    seeds: tuple[str, ...]
    scope: dict[str, Any]
    pace: dict[str, Any]


def arguments(parser: Parser) -> None:
    """The options that describe a site job."""
    parser.add_argument("--preset", choices=tuple(PRESETS), help=PRESETS_HELP)
    scope = parser.add_argument_group("what belongs to the site")
    scope.add_argument("--scope", choices=("host", "domain", "prefix", "any"), help="which links belong to it (host)")
    scope.add_argument("--include", action="append", metavar="PAT", help="repeatable; glob on the path, or re:")
    scope.add_argument("--exclude", action="append", metavar="PAT", help="repeatable; exclude wins; '' for none")
    scope.add_argument("--max-depth", type=whole(0, 100_000), metavar="N", help="links beyond are skipped; seeds are 0")
    scope.add_argument(
        "--sitemap",
        choices=("auto", "only", "off"),
        help="begin also with what its sitemaps list; only: with nothing else, and follow no links (off)",
    )
    scope.add_argument("--seeds", metavar="FILE", help="a file with one URL per line to begin with, besides URL")
    pace_arguments(parser).add_argument(
        "--nofollow",
        choices=("pages", "all", "off"),
        help="obey the nofollow of pages (robots tag or header); all: of single links, too; off: of none (pages)",
    )


def pace_arguments(parser: Parser) -> argparse._ArgumentGroup:
    """The options of every start command: how fast, how long, under which name, to which addresses."""
    pace = parser.add_argument_group("pace and limits (kept with the job; a changed one is applied and printed)")
    pace.add_argument(
        "--max-pages", type=whole(1, 10**12), metavar="N", help="fetch no more than N, in all runs together (no limit)"
    )
    pace.add_argument(
        "--time-limit", type=duration(0.001, 10**9), metavar="DUR", help="of active time; pauses do not count (none)"
    )
    pace.add_argument("--concurrency", type=whole(1, 256), metavar="N", help="fetches at once (8)")
    pace.add_argument("--per-host", type=whole(1, 256), metavar="N", help="fetches at once per host (2)")
    pace.add_argument(
        "--delay",
        type=duration(0, 3600),
        metavar="DUR",
        help="between fetches to one host, ±20%% (500ms); a longer Crawl-delay wins",
    )
    pace.add_argument("--max-attempts", type=whole(1, 100), metavar="N", help="tries per target (3)")
    pace.add_argument(
        "--max-bytes", type=size(1, 256_000_000), metavar="SIZE", help="size per response, at most 256MB (50MB)"
    )
    pace.add_argument("--timeout", type=duration(0.001, 86_400), metavar="DUR", help="whole exchange (60s)")
    pace.add_argument("--user-agent", type=_agent, metavar="S", help="default holdfast/VERSION (+URL)")
    pace.add_argument(
        "--header", type=read_header, action="append", metavar="'K: V'", help="repeatable; for secrets see below"
    )
    pace.add_argument(
        "--headers-to",
        type=read_headers_to,
        action="append",
        metavar="HOST",
        help="also send typed headers there; repeatable; any: all hosts, those without a secret",
    )
    pace.add_argument(
        "--ca-bundle",
        type=read_bundle,
        metavar="FILE",
        help="certificates to trust besides the system's, PEM; also SSL_CERT_FILE",
    )
    pace.add_argument(
        "--proxy", type=read_proxy, metavar="URL", help="http, https or socks5; with a password: env:NAME or file:PATH"
    )
    pace.add_argument("--cookies", action="store_true", default=None, help="keep cookies, in memory, for this job")
    pace.add_argument(
        "--ignore-robots",
        action="store_true",
        default=None,
        help="fetch what robots.txt forbids; warns, and is written into the job's history",
    )
    private = parser.add_argument_group("private addresses (refused unless allowed)")
    private.add_argument("--allow-private", action="store_true", default=None, help="permit all but cloud metadata")
    advanced = parser.add_argument_group("advanced: simulated worlds")
    advanced.add_argument("--allow", action="append", metavar="ADDR:PORT", help="let this one private address through")
    advanced.add_argument("--resolve", action="append", type=_mapping, metavar="NAME=ADDR:PORT", help="connect there")
    return pace


def read_typed(options: argparse.Namespace, urls: list[str]) -> TypedOptions:
    seeds = [*urls, *(_seeds(options.seeds) if options.seeds else ())]
    preset = PRESETS.get(options.preset)
    scope = {name: _unless_empty(getattr(options, name)) for name in SCOPE if getattr(options, name) is not None}
    pace = read_pace(options)
    if preset is not None:
        scope, pace = {**preset.scope, **scope}, {**preset.pace, **pace}
    return TypedOptions(tuple(seeds), scope, pace)


def _unless_empty(value: Any) -> Any:
    """`--exclude ''` means no pattern at all: the way to take one back."""
    return [] if value == [""] else value


def read_pace(options: argparse.Namespace) -> dict[str, Any]:
    """What was typed of the pace; whatever is absent was not."""
    typed = {
        "concurrency": options.concurrency,
        "per_host": options.per_host,
        "delay_ms": None if options.delay is None else round(options.delay * 1000),
        "max_attempts": options.max_attempts,
        "max_bytes": options.max_bytes,
        "timeout_s": options.timeout,
        "user_agent": options.user_agent,
        "headers": None if options.header is None else tuple(options.header),
        "headers_to": None if options.headers_to is None else tuple(options.headers_to),
        "ca_bundle": options.ca_bundle,
        "proxy": options.proxy,
        "cookies": options.cookies,
        "ignore_robots": options.ignore_robots,
        "nofollow": getattr(options, "nofollow", None),  # of `crawl` only
        "allow_private": options.allow_private,
        "allow": None if options.allow is None else tuple(options.allow),
        "resolve": None if options.resolve is None else dict(options.resolve),
        "max_pages": options.max_pages,
        "time_limit_s": options.time_limit,
    }
    return {name: value for name, value in typed.items() if value is not None}


def _seeds(name: str) -> list[str]:
    path = Path(name)
    try:
        if path.stat().st_size > SEEDS_BYTES_MAX:
            raise BadParams(f"--seeds: {name} is larger than {show_size(SEEDS_BYTES_MAX)}")
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise BadParams(f"--seeds: {name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadParams(f"--seeds: {name} cannot be read: it is no text in UTF-8") from error
    seeds = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not seeds:
        raise BadParams(f"--seeds: {name} names no URL")
    return seeds


def _agent(text: str) -> str:
    if not text.strip() or not text.isprintable() or not text.isascii():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be sent as a user agent")
    return text.strip()


def _mapping(text: str) -> tuple[str, str]:
    name, equals, endpoint = text.partition("=")
    if not (name and equals and endpoint):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=ADDR:PORT")
    return name, endpoint
