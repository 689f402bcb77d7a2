"""A page as a Markdown file: what is known of it as YAML between `---` lines, then its content. Pure.

When a page was fetched is in the index, not in its file: the same page gives the same bytes whenever it was fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

START = '---\nurl: "'  # how every one of these files begins
FROM_METADATA = ("description", "language", "site_name", "author", "published", "modified", "canonical")
# What YAML does not allow in a quoted text, or what would turn or hide a line on the screen.
_TO_ESCAPE = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff]")


def page_file(page: Mapping[str, Any]) -> bytes:
    """The bytes of a page's file, from the object that exports have of it. Keys that say nothing are left out."""
    metadata = page["metadata"] or {}
    known: dict[str, Any] = {"url": page["url"]}
    if page["final_url"] != page["url"]:
        known["final_url"] = page["final_url"]
    known["title"] = page["title"] or metadata.get("title")
    known |= {name: metadata.get(name) for name in FROM_METADATA}
    known |= {name: page.get(name) for name in ("content_type", "sha256", "depth", "duplicate_of", "near_duplicate_of")}
    known["flags"] = list(page["flags"] or ())
    lines = [f"{name}: {quoted(value)}\n" for name, value in known.items() if value not in (None, "", [])]
    return f"---\n{''.join(lines)}---\n\n{page['markdown']}".encode("utf-8", "replace")


def quoted(value: Any) -> str:
    """A value as YAML; JSON is YAML, but for a few signs."""
    return _TO_ESCAPE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
