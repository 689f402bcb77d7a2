"""The report as Markdown: plain enough for a terminal, whole enough to be kept. Crawled words cannot become markup."""

from __future__ import annotations

from typing import Any

from holdfast.model.spelling import in_markdown as text
from holdfast.views.reports.evidence import page_link, short_url, shown_passage, statements_of, wording_of

ENTITIES_SHOWN = 25


def as_markdown(report: dict[str, Any]) -> str:
    company, meta, analysis = report["company"], report["metadata"], report["analysis"]
    lines = [f"# {text(company['name'])}", "", _headline(report), ""]
    if meta.get("partial"):
        lines += [f"> **Partial report:** {text(meta['because'])}.", ""]
    for key, section in analysis["sections"].items():
        lines += _section(key, section)
    for key in analysis["missing"]:
        lines += [f"## {text(key.replace('_', ' ').capitalize())}", "", "This section could not be made.", ""]
    return "\n".join([*lines, *_entities(report), *_pages(report), *_footer(meta)]) + "\n"


def _headline(report: dict[str, Any]) -> str:
    meta, analysis = report["metadata"], report["analysis"]
    version = f"version {analysis['version']}" if analysis["version"] else "built now"
    parts = [f"{meta['pages']} pages", f"{meta['entities']} entities", version, f"as of {meta['as_of']}"]
    return f"[{text(report['company']['domain'])}](<{_first_url(report)}>) · " + " · ".join(parts)


def _first_url(report: dict[str, Any]) -> str:
    return next(
        (page["url"] for page in report["pages"] if page["type"] == "home"), f"https://{report['company']['domain']}"
    )


def _section(key: str, section: dict[str, Any]) -> list[str]:
    lines = [f"## {text(section['title'])}", ""]
    if said := wording_of(section):
        lines += [f"*{text(said)}*", ""]
    for statement in statements_of(section):
        words = text(statement["text"])
        marks = " ".join(f"[^{key}-{place + 1}]" for place in statement["sources"])
        flag = "**Red flag:** " if statement["topic"] == "red flag" else ""
        lines.append(f"- {flag}{f'“{words}”' if statement['quote'] else words} {marks}")
    lines.append("")
    for place, source in enumerate(section["sources"], 1):
        link = page_link(source["url"], source["passage"], source["at"])
        lines.append(
            f"[^{key}-{place}]: “{text(shown_passage(source['passage']))}” — [{text(short_url(source['url']))}](<{link}>)"
        )
    return [*lines, ""]


def _entities(report: dict[str, Any]) -> list[str]:
    lines = ["## Entities", ""]
    for kind, count in report["metadata"]["entities_by_type"].items():
        found = [entity for entity in report["entities"] if entity["type"] == kind][:ENTITIES_SHOWN]
        if not found:
            continue
        lines += [
            f"### {text(kind.replace('_', ' '))} ({count})",
            "",
            "| value | pages | sure | source |",
            "|---|---|---|---|",
        ]
        for entity in found:
            best = entity["sources"][0]
            link = page_link(best["url"], best["passage"], best["at"])
            more = ", ".join(text(value) for value in entity["detail"].values())
            value = f"{text(entity['value'])} ({more})" if more else text(entity["value"])
            lines.append(
                f"| {value} | {entity['count']} | {entity['confidence']:.2f} | [{text(short_url(best['url']))}](<{link}>) |"
            )
        lines.append("")
    return lines


def _pages(report: dict[str, Any]) -> list[str]:
    lines = ["## Pages", "", "| page | type | depth | words | fetched |", "|---|---|---|---|---|"]
    for page in report["pages"]:
        name = text(page["title"] or short_url(page["url"]))
        lines.append(
            f"| [{name}](<{page['url']}>) | {page['type']} | {page['depth']} | {page['words']} | {page['crawled_at']} |"
        )
    return [*lines, ""]


def _footer(meta: dict[str, Any]) -> list[str]:
    return [
        f"Job {text(meta['name'])} ({meta['job']}), {meta['run'] or 'never run'}. Made by rules; every statement names its passage."
    ]
