"""Request headers as typed: `K: V`, with secrets by reference. What is stored is the reference, never the secret."""

from __future__ import annotations

import os
import re
from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from holdfast.errors import BadParams
from holdfast.model.job import Job, Options

_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]{0,4000})")
SECRET = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key"})
OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "user-agent"})
REFERENCES = ("env:", "file:")


def read_header(text: str) -> tuple[str, str]:
    """A header line; one that carries a secret must name where the secret is."""
    found = _HEADER.fullmatch(text)
    if found is None:
        raise ArgumentTypeError(f"{text!r} is not a header such as 'Accept-Language: en'")
    name, value = found[1], found[2].strip()
    if name.lower() in OURS:
        raise ArgumentTypeError(f"{name} is set by Holdfast itself (the agent by --user-agent)")
    if name.lower() in SECRET and not value.startswith(REFERENCES):
        raise ArgumentTypeError(f"{name} would be stored in the clear; write {name}: env:NAME or {name}: file:PATH")
    return name, value


def check_secrets(options: Options) -> None:
    """Refuse a reference that cannot be read now, before it is kept with a job."""
    for name, value in options.headers:
        _value(name, value, os.environ)


def with_secrets(job: Job, environ: Mapping[str, str] | None = None) -> Job:
    """The job with its headers filled in, for the fetcher of this process only."""
    env = os.environ if environ is None else environ
    headers = tuple((name, _value(name, value, env)) for name, value in job.options.headers)
    return replace(job, options=msgspec.structs.replace(job.options, headers=headers))


def _value(name: str, value: str, env: Mapping[str, str]) -> str:
    kind, _, where = value.partition(":")
    if f"{kind}:" not in REFERENCES:
        return value
    if kind == "env":
        if where not in env:
            raise BadParams(f"header {name}: the environment has no {where}")
        return env[where]
    try:
        return Path(where).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadParams(f"header {name}: {where} cannot be read: {error}") from error
