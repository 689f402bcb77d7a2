"""File names for pages, made of their URLs alone: the same URL has the same name on every computer. Pure.

A name is safe on file systems that know no upper case, on Windows, and when shown on a screen: letters,
digits and `.`, `_`, `-` only. Where a URL says more than its name can, ten characters of its hash are part of the name,
so two URLs never share one; where plain names differ only in case or suffix, the first of them (`plainest`) has the
plain name and the writer asks for the hash of the others.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import sha256
from urllib.parse import SplitResult, unquote, urlsplit

SUFFIX = ".md"
PART_BYTES_MAX, QUERY_BYTES_MAX, NAME_BYTES_MAX, PARTS_MAX = 100, 40, 200, 12
HASH_LENGTH = 10
INDEX = "index"
RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$)(?:\.|$)", re.IGNORECASE)
PAGE_SUFFIX = re.compile(r"\.(?:html?|xhtml|php|aspx?|jsp|md|markdown)$", re.IGNORECASE)
_LIKE_A_HASH = re.compile(rf"-[0-9a-f]{{{HASH_LENGTH}}}$", re.IGNORECASE)  # else a page could take another's name
_DASHES = re.compile(r"-{2,}")
_SAFE = re.compile(r"[A-Za-z0-9._-]+")


def file_name(url: str, home: str, *, with_hash: bool = False) -> str:
    """A relative path with `/` between its parts. Pages of the host `home` are at the top, others below their host."""
    split = _split(url)
    parts, is_exact = _parts(split)
    if split.netloc.lower() != home.lower():
        parts.insert(0, _host(split.netloc))
    name = "/".join(parts)
    if len(name.encode()) > NAME_BYTES_MAX:
        name, is_exact = _cut(name, NAME_BYTES_MAX).rstrip("/.-_") or INDEX, False
    if with_hash or not is_exact or _LIKE_A_HASH.search(name):
        name = f"{name}-{sha256(url.encode('utf-8', 'surrogatepass')).hexdigest()[:HASH_LENGTH]}"
    return name + SUFFIX


def plainest(url: str) -> tuple[int, str]:
    """The order of URLs that would have the same name: `/` before `/index.html`, `/a` before `/a.html`."""
    return len(url), url


def folded(name: str) -> str:
    """What is the same for file systems that take upper and lower case, or composed letters, for the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def is_ours(name: str) -> bool:
    """Whether a name in an index can be one of these: nothing outside of its folder, nothing hidden."""
    parts = name.split("/")
    whole = all(part and not part.startswith(".") and "\\" not in part and "\0" not in part for part in parts)
    return whole and name.endswith(SUFFIX) and len(name) < 4_000


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def _parts(split: SplitResult) -> tuple[list[str], bool]:
    """The parts of the path as names, and whether they say all that the URL says."""
    raw = split.path.split("/")
    last, folders = raw[-1], [part for part in raw[:-1] if part]
    is_exact = not split.query and len(folders) < PARTS_MAX and raw[:-1].count("") <= 1
    parts = [_part(part) for part in folders[: PARTS_MAX - 1]]
    stem = PAGE_SUFFIX.sub("", last)
    named, exact = _part(stem) if stem else (INDEX, not last)
    asked = _cut(_DASHES.sub("-", _part(split.query)[0]).strip("-_."), QUERY_BYTES_MAX) if split.query else ""
    parts.append((f"{named}-{asked}" if asked else named, exact))
    names = [name for name, _ in parts]
    for at, name in enumerate(names[:-1]):
        if name.lower().endswith(SUFFIX):  # a folder is never called as a file may be
            names[at], is_exact = f"{name}_", False
    return names, is_exact and all(exact for _, exact in parts)


def _part(raw: str) -> tuple[str, bool]:
    """One part of a path as a name, and whether it is the same."""
    try:
        text = unicodedata.normalize("NFC", unquote(raw, errors="strict"))
    except UnicodeDecodeError:
        text = unquote(raw, errors="replace")
    name = "".join(sign if _is_safe(sign) else "-" for sign in text)
    name = _cut(name, PART_BYTES_MAX)
    if name.startswith("."):
        name = f"_{name[1:]}"
    if name.endswith("."):
        name = f"{name[:-1]}_"
    if RESERVED.match(name):
        name = f"_{name}"
    return name or "-", name == text


def _is_safe(sign: str) -> bool:
    """Letters, digits and what belongs to them; no sign that hides or turns what follows."""
    return _SAFE.fullmatch(sign) is not None or (sign > "\x7f" and unicodedata.category(sign)[0] in "LNM")


def _cut(text: str, size: int) -> str:
    return text.encode()[:size].decode(errors="ignore")


def _host(netloc: str) -> str:
    return _part(netloc.rpartition("@")[2].lower().replace(":", "_"))[0]
