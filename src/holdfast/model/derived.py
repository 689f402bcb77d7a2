"""What is derived from a page's stored bytes: Markdown, text, metadata. The same bytes give the same values. No I/O."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Protocol

import msgspec

MARKDOWN, TEXT, METADATA, FLAGS = "markdown", "text", "metadata", "flags"
DERIVED_FIELDS = (MARKDOWN, TEXT, METADATA, FLAGS)

CUT = "cut"  # only the first 5 MB were read
TOO_HEAVY = "too_heavy"  # it would grow too large as a tree: plain text stands in for Markdown
TOO_LONG = "too_long"  # its Markdown grew longer than the page allows: plain text stands in
TOO_SLOW = "too_slow"  # it used up its processor time or memory: plain text stands in
EMPTY = "empty"  # there is nothing in it to read: a redirect by script, a frameset without words
FAILED = "failed"  # nothing could be derived


class Derived(msgspec.Struct, frozen=True):
    """`markdown` and `text` are None of what is not text. `flags` say where something is less than it should be."""

    markdown: str | None = None
    text: str | None = None
    metadata: dict[str, Any] = {}
    flags: tuple[str, ...] = ()


class Deriver(Protocol):
    """Derives pages, several at once where there are hands for it."""

    def submit(self, content: bytes, url: str, content_type: str) -> Future[Derived]: ...
