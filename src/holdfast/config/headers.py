"""Request headers and proxies as typed, secrets by reference: what is stored is the reference, never the secret."""

from __future__ import annotations

import os
import re
from argparse import ArgumentTypeError
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from holdfast.config.certificates import more_roots
from holdfast.config.secrets import REFERENCES, is_perhaps_secret, is_secret
from holdfast.errors import BadParams
from holdfast.model.exchange import HARMLESS_HEADERS
from holdfast.model.job import Job, Options
from holdfast.model.job_options import SECRETS
from holdfast.model.keys import canonical

_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]{0,4000})")
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_PROXY = re.compile(
    r"(?:https?|socks5)://(?P<user>[^/@\s]*@)?(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\]):(?P<port>[0-9]{1,5})/?"
)
ANYWHERE = "any"
OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "user-agent"})


def read_header(text: str) -> tuple[str, str]:
    """A header line; one that carries a secret must name where the secret is."""
    found = _HEADER.fullmatch(text)
    if found is None:
        raise ArgumentTypeError(f"{text!r} is not a header such as 'Accept-Language: en'")
    name, value = found[1], found[2].strip()
    if name.lower() in OURS:
        raise ArgumentTypeError(f"{name} is set by Holdfast itself (the agent by --user-agent)")
    if is_secret(name, value) and not value.startswith(REFERENCES):
        raise ArgumentTypeError(f"{name} would be stored in the clear; write {name}: env:NAME or {name}: file:PATH")
    return name, value


def read_headers_to(text: str) -> str:
    """A further origin that typed headers go to, `https://api.example.org`; or `any`, for those without a secret."""
    if text == ANYWHERE:
        return text
    address = canonical(text if "://" in text else f"https://{text}")
    if address is None:
        raise ArgumentTypeError(f"{text!r} is neither a host, such as api.example.org, nor `any`")
    return address.origin


def read_proxy(text: str) -> str:
    """`http://proxy.example:3128`, or where such a URL is to be found; a password is never typed."""
    if text.startswith(REFERENCES):
        return text
    try:
        return _proxy(text, clear=True)
    except BadParams as error:
        raise ArgumentTypeError(error.message) from None


def check_secrets(options: Options) -> None:
    """Refuse a reference that cannot be read now, or says what cannot be used, before it is kept with a job.

    Certificates are refused alike.
    """
    filled(options)


def with_secrets(job: Job, environ: Mapping[str, str] | None = None) -> Job:
    """The job with its secrets filled in, for the fetcher of this process only."""
    return replace(job, options=filled(job.options, environ))


def filled(options: Options, environ: Mapping[str, str] | None = None) -> Options:
    """The options with their secrets, for a fetcher of this process only.

    Headers go apart that are only for the origins that the job was given: all but the harmless ones, unless those
    without a secret are for every host.
    """
    env = os.environ if environ is None else environ
    more_roots(options.ca_bundle, env)
    headers = [(name, _value(f"header {name}", value, env)) for name, value in options.headers]
    anywhere = ANYWHERE in options.headers_to
    secret = [
        value.startswith(REFERENCES)
        or is_perhaps_secret(name, value)
        or not (anywhere or name.lower() in HARMLESS_HEADERS)
        for name, value in options.headers
    ]
    return msgspec.structs.replace(
        options,
        headers=tuple(header for header, hidden in zip(headers, secret, strict=True) if not hidden),
        private_headers=tuple(header for header, hidden in zip(headers, secret, strict=True) if hidden),
        **{field: _text(field, text, env) for field in SECRETS if (text := getattr(options, field))},
    )


def _text(field: str, text: str, env: Mapping[str, str]) -> str:
    """What the text of an option that may name a secret stands for."""
    return _proxy(_secret(SECRETS[field], text, env)) if field == "proxy" else _value(SECRETS[field], text, env)


def _value(what: str, value: str, env: Mapping[str, str]) -> str:
    found = _secret(what, value, env)
    if _VALUE.fullmatch(found) is None:
        raise BadParams(f"{what}: its value has a line break or other characters that no header may have")
    return found


def _proxy(text: str, *, clear: bool = False) -> str:
    """A proxy's URL, checked. A wrong one may hold a password, so it is not repeated."""
    found = _PROXY.fullmatch(text)
    if found is None or not 0 < int(found["port"]) < 65536:
        raise BadParams("a proxy is written http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT")
    if clear and found["user"]:
        raise BadParams("a proxy's password would be stored in the clear; write --proxy env:NAME or --proxy file:PATH")
    return text


def _secret(what: str, value: str, env: Mapping[str, str]) -> str:
    kind, _, where = value.partition(":")
    if f"{kind}:" not in REFERENCES:
        return value
    if kind == "env":
        if where not in env:
            raise BadParams(f"{what}: the environment has no {where}")
        return env[where]
    try:
        return Path(where).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadParams(f"{what}: {where} cannot be read: {error}") from error
