"""Pages that say they are not there, with the status of one that is (a "soft 404").

Three signs together: the title says so in one of its parts, the text says so again, and there is hardly any other text.
A page *about* the status 404 is long; a short one with another title is a page.
"""

from __future__ import annotations

import re

from holdfast.recipes.site.text import visible_text

SOFT_404 = "soft_404"
TEXT_MAX = 1_500  # characters that a reader sees
_PARTS = re.compile(r"\s+[-|·–—»:]+\s+|:\s+")
_SAYS = (
    r"(?:(?:error|fehler|erreur)\s*)?404(?:\s*error)?(?:[\s:!-]*(?:page |file )?not found)?"
    r"|(?:sorry, )?(?:the |this )?(?:page|file|document|content)? ?(?:was |could )?not (?:be )?found"
    r"|page (?:doesn't|does not) exist|seite nicht gefunden|page (?:introuvable|non trouvée)|página no encontrada"
    r"|pagina non trovata"
)
_HINTS = ("404", "not", "exist", "nicht", "trouv", "encontrad", "trovat")  # one of them is in all that says it
_TITLE = re.compile(rf"(?:{_SAYS})[.!]?", re.IGNORECASE)
_TEXT = re.compile(
    rf"\b(?:{_SAYS}|(?:does not|doesn't|no longer) exists?|nicht gefunden|introuvable|no encontrada|non trovata)",
    re.IGNORECASE,
)


def soft_404(title: str | None, body: bytes, content_type: str) -> str:
    """What shows that an answer with status 200 is none, for people; "" where it is a page."""
    lower = (title or "").lower()
    if not title or not any(map(lower.__contains__, _HINTS)):
        return ""
    said = next((part for part in _PARTS.split(title) if _TITLE.fullmatch(part.strip())), "")
    if not said:
        return ""
    text = visible_text(body, content_type) or ""
    if len(text) > TEXT_MAX or not _TEXT.search(text):
        return ""
    return f"its title says {said.strip()!r}, so does its text, and there is hardly any other: a missing page"
