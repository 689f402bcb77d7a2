"""The types of targets that a report is made of, which are also the kinds of their records."""

from __future__ import annotations

PAGE = "page"
EXTRACT, SECTION, REPORT = "entities", "section", "report"
