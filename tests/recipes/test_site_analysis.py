"""Sections of a report: eight of them, every statement on passages that stand on their pages (SIT-07)."""

from __future__ import annotations

import html
from random import Random

import msgspec
import pytest

from holdfast.recipes.site.analysis.company import company_of
from holdfast.recipes.site.analysis.corpus import Corpus, PageLine, corpus_of
from holdfast.recipes.site.analysis.section import Quotation, Section, Writer
from holdfast.recipes.site.analysis.sections import SECTIONS
from holdfast.recipes.site.entities.extract import extract
from holdfast.recipes.site.entities.source import page_text
from holdfast.recipes.site.report.document import report_document
from recipes.companies import Company, company

HTML = "text/html; charset=utf-8"
THEN_MS = 1_760_000_000_000


def corpus(made: Company) -> Corpus:
    pairs = []
    for n, (url, body) in enumerate(made.pages.items()):
        facts = extract(url, body, HTML)
        line = PageLine(
            url, facts.type, facts.title, THEN_MS + n, depth=min(n, 2), words=facts.words, lang=facts.lang,
            entities=facts.count, description=facts.description, copyright_year=facts.copyright_year,
        )  # fmt: skip
        pairs.append((line, facts))
    return corpus_of(pairs)


def stands(evidence: Quotation, made: Company) -> bool:
    """Whether the passage stands on the page, letter by letter; in the markup, as a browser would read it."""
    body = made.pages[evidence.url]
    if evidence.at >= 0:
        text = page_text(body, HTML)
        return text[evidence.at : evidence.at + len(evidence.passage)] == evidence.passage
    flat = " ".join(html.unescape(body.decode()).split())
    return bool(evidence.passage) and " ".join(evidence.passage.split()) in flat


@pytest.mark.parametrize("seed", [1, 2])
def test_every_statement_of_all_eight_sections_stands_on_a_passage(seed: int) -> None:
    made = company(seed)
    sections = [make(corpus(made)) for make in SECTIONS.values()]
    assert [section.key for section in sections] == [
        "executive_summary", "company_overview", "business_model_and_products", "team_and_leadership",
        "market_position",
        "technology_and_operations", "key_insights", "red_flags",
    ]  # fmt: skip
    for section in sections:
        assert section.statements, section.key
        assert all(statement.sources for statement in section.statements)
        assert [each for each in section.sources if not stands(each, made)] == []
        assert 0 < section.confidence <= 1


@pytest.mark.parametrize("seed", [1, 2])
def test_every_entity_stands_where_it_says(seed: int) -> None:
    made = company(seed)
    for entity in corpus(made).entities:
        for seen in entity.sources:
            assert stands(Quotation(seen.url, seen.passage, seen.at), made), (entity.type, entity.value, seen)


def test_a_quote_is_the_sites_own_sentence() -> None:
    made = company(1)
    team = SECTIONS["team_and_leadership"](corpus(made))
    quotes = [statement.text for statement in team.statements if statement.quote]
    assert quotes
    assert all(any(text in page_text(body, HTML) for body in made.pages.values()) for text in quotes)


def test_a_statement_without_evidence_is_not_made() -> None:
    writer = Writer(corpus(company(1)))
    writer.say("Everybody loves it.", [], 1.0)
    section = writer.section("x", "X", nothing="nothing")
    assert [statement.text for statement in section.statements] == ["nothing"]


def test_the_order_of_pages_changes_nothing() -> None:
    made = company(1)
    pages = list(made.pages.items())
    Random(3).shuffle(pages)
    other = Company(made.pool, dict(pages), made.planted)
    facts = {url: extract(url, body, HTML) for url, body in made.pages.items()}

    def report(one: Company) -> bytes:
        lines = [(PageLine(url, facts[url].type, facts[url].title, THEN_MS), facts[url]) for url in sorted(one.pages)]
        whole = corpus_of(lines)
        return msgspec.json.encode(report_document(whole, [make(whole) for make in SECTIONS.values()]))

    assert report(made) == report(other)


def test_what_is_missing_contradictory_or_old_is_a_red_flag() -> None:
    pages = {
        "/": "<title>Acme</title><p>Acme Ltd was founded in 1999. Lorem ipsum dolor sit amet consectetur.</p>",
        "/about": "<title>About</title><p>Acme was founded in 2003 and is under investigation by a regulator.</p>",
        "/blog/a": "<title>Old</title><p>3 March 2019</p><p>Write to acme.frogs@gmail.com</p><p>© 2018 Acme Ltd</p>",
    }
    made = Company(company(1).pool, {f"https://acme.test{path}": body.encode() for path, body in pages.items()})
    topics = {statement.topic for statement in SECTIONS["red_flags"](corpus(made)).statements}
    assert {"risk", "unfinished", "contradiction", "out of date", "contact", "legal", "team"} <= topics


@pytest.mark.parametrize(("path", "is_told"), [("/about", True), ("/manual/core", False)])
def test_the_summary_of_a_manual_has_no_red_flags(path: str, is_told: bool) -> None:
    pages = {
        "/": "<title>Otter</title><p>The manual of Otter, which is a tool for ponds.</p>",
        "/news": "<title>News</title><p>3 March 2019</p>",
        path: "<title>Otter</title><p>In 2018 a lawsuit was about that very thing.</p>",
    }
    made = Company(company(1).pool, {f"https://otter.test{path}": body.encode() for path, body in pages.items()})
    topics = [statement.topic for statement in SECTIONS["executive_summary"](corpus(made)).statements]
    assert ("red flag" in topics) is is_told


@pytest.mark.parametrize(("count", "said"), [(6, "6 e-mail addresses: "), (10, "6 of 10 e-mail addresses: ")])
def test_a_count_says_how_many_of_them_are_listed(count: int, said: str) -> None:
    listed = " ".join(f"<p>frog{n}@otter.test</p>" for n in range(count))
    made = Company(company(1).pool, {"https://otter.test/": f"<title>Otter</title>{listed}".encode()})
    text = next(each.text for each in SECTIONS["company_overview"](corpus(made)).statements if each.topic == "email")
    assert text.startswith(said)
    assert text.count("@") == 6


def test_sections_of_nothing_say_that_nothing_was_found() -> None:
    empty = corpus_of([(PageLine("https://a.test/", "home", "A", THEN_MS), None)])
    for key, make in SECTIONS.items():
        section: Section = make(empty)
        assert (section.key, len(section.statements), section.statements[0].topic) == (key, 1, "nothing found")


def test_a_site_is_not_called_after_what_one_of_its_pages_mentions() -> None:
    """Neither what one page of several mentions nor a piece of a sentence is whose site it is."""
    pages = {
        "http://127.0.0.1/": b"<title>The API of Ponds</title><p>Welcome.</p>",
        "http://127.0.0.1/a": "<title>A</title><p>\u00a9 2020 Frog Pond</p>".encode(),
        "http://127.0.0.1/b": b"<title>B</title><p>(C) foo will force creation of a ClassExpression</p>",
    }
    assert company_of(corpus(Company(company(1).pool, pages))).name == "The API of Ponds"
    pages["http://127.0.0.1/b"] = pages["http://127.0.0.1/a"]
    assert company_of(corpus(Company(company(1).pool, pages))).name == "Frog Pond"
