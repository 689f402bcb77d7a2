"""The report as one HTML file: no other resource, no script, a policy that allows neither. Crawled words are escaped."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import Any

from holdfast.views.reports.evidence import page_link, short_url, shown_passage, statements_of, wording_of
from holdfast.views.reports.figures import figures
from holdfast.views.reports.style import CSS

ENTITIES_SHOWN = 40
PAGES_SHOWN = 500
_KINDS = {
    "social_handle": "accounts",
    "tech_stack": "technology",
    "org": "organisations",
    "money": "amounts",
    "email": "e-mail",
}


def as_html(report: dict[str, Any]) -> str:
    policy = f"default-src 'none'; style-src 'sha256-{b64encode(sha256(CSS.encode()).digest()).decode()}'"
    name = escape(report["company"]["name"])
    sections = report["analysis"]["sections"]
    return "".join([
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}; base-uri \'none\'; form-action \'none\'">',
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">',
        f'<meta name="color-scheme" content="light dark"><title>{name}: report</title><style>{CSS}</style></head><body>',
        _head(report), '<div class="columns">', _contents(report), "<main>", _figures(report),
        *(_section(key, section) for key, section in sections.items()),
        *(_missing(key) for key in report["analysis"]["missing"]),
        _entities(report), _pages(report), "</main></div>", _foot(report), "</body></html>\n",
    ])  # fmt: skip


def _head(report: dict[str, Any]) -> str:
    company, meta, analysis = report["company"], report["metadata"], report["analysis"]
    version = f"version {analysis['version']}" if analysis["version"] else "built now"
    partial = (
        f'<p class="partial"><strong>Partial report.</strong> {escape(_sentence(meta["because"]))}</p>'
        if meta["partial"]
        else ""
    )
    about = f'<p class="lead">{escape(company["description"])}</p>' if company["description"] else ""
    facts = [("Legal name", company["legal_name"]), ("Founded", company["founded"]), ("Address", company["address"])]
    facts += [("E-mail", ", ".join(company["emails"][:2])), ("Phone", ", ".join(company["phones"][:2]))]
    shown = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts if value)
    tiles = [("pages", meta["pages"]), ("entities", meta["entities"]), ("mentions", meta["mentions"])]
    tiles.append(("statements", sum(len(statements_of(each)) for each in analysis["sections"].values())))
    numbers = "".join(f'<div class="tile"><b>{n:,}</b><span>{noun}</span></div>' for noun, n in tiles)
    return (
        f'<header><p class="kicker">Company report · {escape(company["domain"])} · {version} · as of {escape(_day(meta["as_of"]))}</p>'
        f'<h1>{escape(company["name"])}</h1>{about}{partial}<dl class="facts">{shown}</dl><div class="tiles">{numbers}</div></header>'
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _day(stamp: str | None) -> str:
    return (stamp or "")[:10]


def _contents(report: dict[str, Any]) -> str:
    rows = [(key, section["title"]) for key, section in report["analysis"]["sections"].items()]
    rows += [("entities", "Entities"), ("pages", "Pages")]
    items = "".join(f'<li><a href="#{key}">{escape(title)}</a></li>' for key, title in rows)
    return f'<nav aria-label="Contents"><ol>{items}</ol></nav>'


def _figures(report: dict[str, Any]) -> str:
    made = "".join(
        f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>" for caption, svg in figures(report)
    )
    return f'<section class="figures" aria-label="Figures">{made}</section>' if made else ""


def _section(key: str, section: dict[str, Any]) -> str:
    said = "".join(_statement(key, each) for each in statements_of(section))
    listed = "".join(_source(key, place, each) for place, each in enumerate(section["sources"], 1))
    sure = round(100 * section["confidence"])
    return (
        f'<section id="{key}"><h2>{escape(section["title"])} <small title="mean confidence of its statements">{sure} % sure</small></h2>'
        f'{_worded(section)}<ul class="said">{said}</ul><h3>Evidence</h3><ol class="evidence">{listed}</ol></section>'
    )


def _worded(section: dict[str, Any]) -> str:
    said = wording_of(section)
    return f'<p class="worded">{escape(said)}</p>' if said else ""


def _statement(key: str, statement: dict[str, Any]) -> str:
    words = escape(statement["text"])
    words = f"<q>{words}</q>" if statement["quote"] else words
    marks = "".join(f'<a href="#{key}-{place + 1}">{place + 1}</a>' for place in statement["sources"])
    flag = " flag" if statement["topic"] == "red flag" or key == "red_flags" else ""
    topic = f'<span class="topic{flag}">{escape(statement["topic"])}</span>' if statement["topic"] else ""
    return f"<li>{topic}{words}<sup>{marks}</sup></li>"


def _source(key: str, place: int, source: dict[str, Any]) -> str:
    where = "" if source["at"] >= 0 else ' <span class="where">in the markup</span>'
    return (
        f'<li id="{key}-{place}"><blockquote>{escape(shown_passage(source["passage"]))}</blockquote>'
        f"{_link(source['url'], short_url(source['url']), source['passage'], source['at'])}{where}</li>"
    )


def _link(url: str, text: str, passage: str = "", at: int = -1) -> str:
    target = page_link(url, passage, at)
    shown = escape(text if len(text) <= 90 else text[:89] + "…")
    return f'<a class="page" rel="noopener noreferrer" href="{escape(target)}">{shown}</a>' if target else shown


def _missing(key: str) -> str:
    title = escape(key.replace("_", " ").capitalize())
    return f'<section id="{key}"><h2>{title}</h2><p class="partial">This section could not be made.</p></section>'


def _entities(report: dict[str, Any]) -> str:
    parts = ['<section id="entities"><h2>Entities</h2>']
    for kind, count in report["metadata"]["entities_by_type"].items():
        found = [entity for entity in report["entities"] if entity["type"] == kind]
        if found:
            parts.append(_of_kind(kind, count, found[:ENTITIES_SHOWN]))
    return "".join([*parts, "</section>"])


def _of_kind(kind: str, count: int, found: list[dict[str, Any]]) -> str:
    rows = "".join(_entity(entity) for entity in found)
    more = f'<p class="more">{count - len(found)} more are in the JSON form.</p>' if count > len(found) else ""
    head = '<tr><th scope="col">Value</th><th scope="col">Pages</th><th scope="col">Sure</th><th scope="col">Passage</th></tr>'
    title = escape(_KINDS.get(kind, f"{kind}s" if not kind.endswith("s") else f"{kind}es"))
    return f'<h3>{title} <small>{count}</small></h3><table class="entities"><thead>{head}</thead><tbody>{rows}</tbody></table>{more}'


def _entity(entity: dict[str, Any]) -> str:
    best = entity["sources"][0]
    more = ", ".join(
        f"{escape(str(value))}" for name, value in entity["detail"].items() if name not in ("what", "kind")
    )
    detail = f' <span class="detail">{more}</span>' if more else ""
    passage = escape(shown_passage(best["passage"])[:160])
    return (
        f'<tr><td><strong>{escape(entity["value"])}</strong>{detail}</td><td class="n">{entity["count"]}</td>'
        f'<td class="n">{round(100 * entity["confidence"])} %</td><td class="passage">{passage} '
        f"{_link(best['url'], short_url(best['url']), best['passage'], best['at'])}</td></tr>"
    )


def _pages(report: dict[str, Any]) -> str:
    shown = report["pages"][:PAGES_SHOWN]
    rows = "".join(
        f'<tr><td>{_link(page["url"], page["title"] or short_url(page["url"]))}<br><span class="detail">{escape(short_url(page["url"])[:100])}</span></td>'
        f'<td>{escape(page["type"])}</td><td class="n">{page["depth"]}</td><td class="n">{page["words"]:,}</td><td class="n">{escape(_day(page["crawled_at"]))}</td></tr>'
        for page in shown
    )
    left = report["metadata"]["pages"] - len(shown)
    more = f'<p class="more">{left} more pages are in the JSON form.</p>' if left > 0 else ""
    head = "".join(f'<th scope="col">{name}</th>' for name in ("Page", "Type", "Depth", "Words", "Fetched"))
    return f'<section id="pages"><h2>Pages <small>{report["metadata"]["pages"]}</small></h2><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}</section>'


def _foot(report: dict[str, Any]) -> str:
    meta = report["metadata"]
    run = f", {escape(meta['run'])}" if meta["run"] else ""
    return (
        f"<footer>Made by Holdfast from job {escape(meta['name'])} ({escape(meta['job'])}{run}) by fixed rules, version {meta['rules']}. "
        "Every statement names passages it stands on; a link opens the page at those words where the browser can.</footer>"
    )
