"""Secrets by reference: `env:NAME` or `file:PATH`. What is kept is the reference; what is shown is never the secret."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from math import log2
from pathlib import Path
from urllib.parse import unquote_plus

from holdfast.errors import BadParams
from holdfast.model.exchange import HARMLESS_HEADERS
from holdfast.model.value_types import REFERENCES as REFERENCES

# In a header's name, anywhere or as a word of its own; how values look that are a secret under any name; and how those
# look that may be one, or a version, a digest or an address as well.
_SECRET_PARTS = ("token", "secret", "password", "passwd", "apikey", "cookie", "session", "credential", "authoriz")
_SECRET_WORDS = frozenset({"key", "auth", "pwd", "sid", "jwt", "authentication", "signature"})
_SECRET_VALUE = re.compile(
    r"(?i:bearer|basic|digest|token|apikey|negotiate)\s+\S{6,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}.*"
    r"|(?:gh[a-z]_|github_pat_|glpat-|sk-|xox[a-z]-|AKIA|AIza|hf_|npm_|pypi-)\S{10,}"
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_RUN = re.compile(r"[A-Za-z0-9+=]{20,}")
_BITS_MIN = 3.0  # per character: English without spaces has less in so short a text, or no digits
SECRET_BYTES_MAX = 64_000
_FIELD = re.compile(r"([^\s&;?='\"]++)(\s*+=\s*+)('(?:[^'\\]|\\.)*+'?|[^&;\s]*+)", re.DOTALL)
_SECRET_FIELD = re.compile(r"pass|.*(?:password|passwd|passphrase|pwd|secret|token)", re.DOTALL)  # a passfile is none


def is_reference(text: str) -> bool:
    return text.startswith(REFERENCES)


def secret(text: str, *, what: str, environ: Mapping[str, str] | None = None) -> str:
    """What a reference stands for; any other text stands for itself. `what` names it in the error."""
    kind, _, where = text.partition(":")
    if f"{kind}:" not in REFERENCES:
        return text
    if kind == "env":
        found = (os.environ if environ is None else environ).get(where)
        if found is None:
            raise BadParams(f"{what}: the environment has no {where}")
        return found
    return read_secret(Path(where), what=what)


def read_secret(path: Path, *, what: str) -> str:
    """The contents of a file that holds one secret, without the line end."""
    try:
        if path.stat().st_size > SECRET_BYTES_MAX:
            raise BadParams(f"{what}: {path} is too large to hold a secret")
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadParams(f"{what}: {path} cannot be read: {error}") from error


def redacted(text: str) -> str:
    """An address, or the words of a connection, without its secrets. Rather too much is hidden than too little."""
    if is_reference(text):
        return text
    text = _FIELD.sub(_field, text)
    scheme, mark, rest = text.partition("://")
    before, at, behind = (rest if mark else text).rpartition("@")  # a password may have any character, also an @
    if at and ":" in before:
        behind = f"{before.partition(':')[0]}:***@{behind}"
    elif at:
        behind = f"{before}@{behind}"
    elif mark:
        behind = _without_odd_port(behind)
    return f"{scheme}{mark}{behind}" if mark else behind


def _without_odd_port(rest: str) -> str:
    """`u:secret` where `host:port` should stand: the host was forgotten."""
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    for host in authority.split(","):
        _, colon, port = host.rpartition(":")
        if colon and port and not port.isdigit() and not host.endswith("]"):
            return f"{authority.partition(':')[0]}:***{rest[len(authority) :]}"
    return rest


def _field(found: re.Match[str]) -> str:
    name = unquote_plus(found[1]).lower()
    return f"{found[1]}{found[2]}***" if _SECRET_FIELD.fullmatch(name) else found[0]


def refuse_clear_password(text: str) -> None:
    """ValueError where an address carries its password."""
    if redacted(text) != text:
        raise ValueError("a password would be stored in the clear; write env:NAME or file:PATH in place of the address")


def refuse_clear_header(line: str) -> None:
    """ValueError where a header that carries a secret carries it in the clear."""
    name, _, value = line.partition(":")
    if is_secret(name.strip(), value.strip()) and not is_reference(value.strip()):
        raise ValueError(f"{name} would be stored in the clear; write {name}: env:NAME or {name}: file:PATH")


def is_secret(name: str, value: str) -> bool:
    """Whether this header carries a secret, by its name or by the form of its value: typed, it is refused."""
    low = name.lower()
    if low in HARMLESS_HEADERS:
        return False
    words = re.split(r"[^a-z0-9]+", low)
    if not _SECRET_WORDS.isdisjoint(words) or any(part in low.replace("-", "") for part in _SECRET_PARTS):
        return True
    return _SECRET_VALUE.fullmatch(value) is not None


def is_perhaps_secret(name: str, value: str) -> bool:
    """Whether it may carry one as well: a guess, which refuses nothing and sends it to as few hosts as it can."""
    if name.lower() in HARMLESS_HEADERS:
        return False
    looks = _UUID.fullmatch(value) is not None or any(map(_is_random, _RUN.findall(value)))
    return looks or is_secret(name, value)


def _is_random(run: str) -> bool:
    """Letters and digits mixed, hardly one of them twice: nothing that a person made up."""
    if run.isalpha() or run.isdigit():
        return False
    shares = [run.count(char) / len(run) for char in set(run)]
    return -sum(share * log2(share) for share in shares) >= _BITS_MIN


def placed(text: str, folder: Path) -> str:
    """A reference to a file, made independent of where a command runs; other text as it is."""
    if not text.startswith("file:"):
        return text
    return f"file:{folder.absolute() / os.path.expanduser(text.removeprefix('file:'))}"
