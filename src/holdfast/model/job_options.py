"""How a job is worked, as it is stored with the job.

Generated from the rows of job options by `python docs/make.py`: change a row, not this.
"""

from __future__ import annotations

import msgspec


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Pace, tries, budgets, limits. Kept with the job: a resume is as polite as the start."""

    max_pages: int | None = None  # fetch no more targets than this over the job's life
    time_limit_s: float | None = None  # active time of the job
    concurrency: int = 8  # fetches at once
    per_host: int = 2  # fetches at once per host
    delay_ms: int = 500  # between fetches to one host
    max_attempts: int = 3  # tries per target
    max_bytes: int = 50_000_000  # size per response
    bytes_in_flight: int = 48_000_000  # answers that one process holds at once; beyond it, fetches wait
    timeout_s: float = 60.0  # whole exchange
    connect_timeout_s: float = 10.0  # until a host is connected
    first_byte_timeout_s: float = 30.0  # until an answer begins
    idle_timeout_s: float = 20.0  # between two parts of an answer
    user_agent: str = ""  # what sites are told
    headers: tuple[tuple[str, str], ...] = ()  # `K: V`; secrets by `env:NAME` or `file:PATH`
    headers_to: tuple[str, ...] = ()  # hosts that headers go to, beside the seeds'
    ca_bundle: str = ""  # certificates to trust besides the system's
    proxy: str = ""  # a proxy; with a password `env:NAME` or `file:PATH`
    cookies: bool = False  # keep cookies
    ignore_robots: bool = False  # fetch what robots.txt disallows
    browser: bool = False  # fetch pages with Chromium
    record: bool = False  # keep every exchange, failed ones too, as WARC
    allow_private: bool = False  # permit private addresses
    allow: tuple[str, ...] = ()  # private addresses let through, one by one
    resolve: dict[str, str] = {}  # names of simulated worlds, and where they are
    detect_blocks: bool = True  # `false`: neither block pages nor 403 ten times in a row pause the job
    targets_per_host: int = 0  # targets of one host in a job; links beyond are skipped; 0: any number
    checkpoint_targets: int = 10  # a checkpoint after so many targets, at most one a second; 0: not by number
    checkpoint_s: float = 120.0  # a checkpoint after so much time
    auto_resume: bool = True  # `false`: a bare `holdfast resume` pauses what a crash left, and says so
    jitter: float = 0.2  # the share by which a delay is longer or shorter
    private_headers: tuple[tuple[str, str], ...] = ()  # filled in for a fetcher, never stored
    own: tuple[str, ...] = ()  # fields given for this job itself; the others follow the configuration
    recipe_source: str = ""  # where a recipe of one's own lies: /path/forum.py:forum, module:forum
    recipe_sha256: str = ""  # of the code of that recipe
    batch: str = ""  # the list that the job is a row of
    output: str = ""  # the file that results are written to when a command that works the job ends
    output_form: str = ""  # and its form
    model_url: str = ""  # a model service that words the report
    model: str = ""  # which model of it
    model_key: str = ""  # its key: `env:NAME` or `file:PATH`
    nofollow: str = "pages"  # which nofollow is obeyed: `pages`, `all`, `off`


# A job from elsewhere may bring these: how fast, how long, how often, how much; or nothing but a name.
HARMLESS = frozenset(
    {
        "max_pages",
        "time_limit_s",
        "concurrency",
        "per_host",
        "delay_ms",
        "max_attempts",
        "max_bytes",
        "bytes_in_flight",
        "timeout_s",
        "connect_timeout_s",
        "first_byte_timeout_s",
        "idle_timeout_s",
        "user_agent",
        "cookies",
        "record",
        "detect_blocks",
        "targets_per_host",
        "checkpoint_targets",
        "checkpoint_s",
        "auto_resume",
        "jitter",
        "own",
        "recipe_sha256",
        "batch",
        "output",
        "output_form",
    }
)
# What people are told first of others that it brings; of those in neither, name and value.
TOLD = {
    "headers_to": "sends its headers also to {}",
    "ca_bundle": "trusts also the certificates in {}",
    "proxy": "fetches everything through {}",
    "ignore_robots": "does not obey robots.txt",
    "allow_private": "fetches from private addresses: this computer and the networks around it",
    "allow": "fetches from these private addresses: {}",
    "resolve": "takes these names to other addresses: {}",
    "recipe_source": "runs the code in {}",
}
# Texts that may name a secret (`env:NAME`, `file:PATH`), and what they are called where it cannot be had.
SECRETS = {
    "proxy": "--proxy",
    "model_key": "--model-key",
}
