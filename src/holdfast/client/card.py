"""A job as notebooks show it: one card, every text escaped, no script and nothing from elsewhere. Pure."""

from __future__ import annotations

from html import escape
from typing import Any

COLOURS = (("succeeded", "#1a7f5a"), ("failed", "#b3261e"), ("skipped", "#8a8a8a"), ("in_progress", "#2f6fb0"))


def card(document: dict[str, Any]) -> str:
    """The job document of every surface, drawn."""
    counts: dict[str, int] = document["counts"]
    whole = max(counts["discovered"], 1)
    bars = "".join(
        f'<span title="{name} {counts[name]}" style="display:inline-block;height:100%;background:{colour};'
        f'width:{100 * counts[name] / whole:.2f}%"></span>'
        for name, colour in COLOURS
    )
    numbers = " + ".join(f"{count} {escape(name.replace('_', ' '))}" for name, count in list(counts.items())[1:])
    return (
        '<div style="font:13px sans-serif;border:1px solid #8888;border-radius:6px;padding:8px 12px;max-width:46em">'
        f"<b>{escape(document['name'])}</b> {escape(document['id'])} {escape(document['kind'])} &middot; "
        f"{escape(document['status'])}: {escape(document['because'])}"
        f'<div style="height:8px;background:#8883;border-radius:4px;overflow:hidden;margin:6px 0">{bars}</div>'
        f"discovered {counts['discovered']} = {numbers}</div>"
    )
