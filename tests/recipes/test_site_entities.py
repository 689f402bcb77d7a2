"""Entities of made-up companies: precision and recall per type, passages that stand on the page (SIT-06)."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from holdfast.recipes.site.entities.extract import RULES, PageFacts, extract
from holdfast.recipes.site.entities.mention import TYPES
from holdfast.recipes.site.entities.merge import merged
from holdfast.recipes.site.entities.organisations import org_key
from holdfast.recipes.site.entities.places import address_key
from recipes.companies import Company, company

HTML = "text/html; charset=utf-8"


def facts(made: Company) -> list[PageFacts]:
    return [extract(url, body, HTML) for url, body in made.pages.items()]


def normal(kind: str, value: str) -> tuple[str, str]:
    keys = {"org": org_key, "address": address_key}
    return kind, keys[kind](value) if kind in keys else value


def scores(made: Company) -> dict[str, tuple[float, float, list[str], list[str]]]:
    """By type: recall, precision, what was missed, what was invented."""
    found = {normal(each.type, each.value) for each in merged(facts(made))}
    meant = {
        normal(kind, value.replace("/", ", ")) if kind == "address" else normal(kind, value)
        for kind, value in made.every
    }
    hits, asked, given = (Counter(kind for kind, _ in which) for which in (found & meant, meant, found))
    return {
        kind: (
            hits[kind] / asked[kind], hits[kind] / max(1, given[kind]),
            sorted(value for name, value in meant - found if name == kind),
            sorted(value for name, value in found - meant if name == kind),
        )
        for kind in TYPES
    }  # fmt: skip


@pytest.mark.parametrize("seed", [1, 2])
def test_every_type_is_found_and_little_else(seed: int) -> None:
    for kind, (recall, precision, missed, invented) in scores(company(seed)).items():
        floor = 1.0 if seed == 1 else 0.8  # the first company is what the rules were made on
        assert min(recall, precision) >= floor, (kind, missed, invented)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("phone", "Tel. +1 202 555 0143", "+12025550143"),
        ("email", "frog (at) marsh (dot) test", "frog@marsh.test"),
        ("date", "le 4 juillet 2021", "2021-07-04"),
        ("date", "12.11.2020", "2020-11-12"),
        ("money", "1 299,50 €", "EUR 1299.50"),
        ("money", "US$3 billion", "USD 3000000000"),
        ("address", "221B Baker Street, London NW1 6XE", "221B Baker Street, London NW1 6XE"),
        ("person", "Prof. Ada van der Berg, Head of Research", "Ada van der Berg"),
        ("org", "a company of Otter & Sons Pty Ltd.", "Otter & Sons Pty Ltd"),
        ("location", "Our headquarters are in Nairobi, Kenya.", "Nairobi"),
        ("social_handle", "Mastodon: @otter", "mastodon:otter"),
        ("tech_stack", "It is written in Rust and Python.", "Rust"),
    ],
)
def test_a_spelling_is_normalised(kind: str, text: str, value: str) -> None:
    found = extract("https://otter.test/x", f"<p>{text}</p>".encode(), HTML)
    assert value in [each.value for each in found.entities if each.type == kind]


@pytest.mark.parametrize(
    "text",
    [
        "Order 2044 1187 3321", "icon@2x.png", "Version 12.4.2019.1", "Our Team, Director of Nothing", "in May we rest",
        "go and rust in Reading rooms", "5 all, 3 sek", "Read More, Manager", "https://x.com/intent/tweet",
    ],
)  # fmt: skip
def test_what_only_looks_like_an_entity_is_none(text: str) -> None:
    assert extract("https://otter.test/x", f"<p>{text}</p>".encode(), HTML).entities == ()


@pytest.mark.parametrize(
    ("text", "is_risk"),
    [
        ("Recall that Otter is a modular system of tools.", False),
        ("Each switch has a latency penalty of some cycles.", False),
        ("It was done without huge performance penalties.", False),
        ("We paid a performance penalty for every call.", False),
        ("The founder recalled the day when it all began.", False),
        ("Its precision and recall of all terms are high.", False),
        ("The penalty of a miss is eleven cycles or more.", False),
        ("Otter recalled its chargers after two fires.", True),
        ("In May a voluntary recall was begun by Otter.", True),
        ("A recall of 12,000 faulty units was announced.", True),
        ("Two models were recalled by Otter last summer.", True),
        ("A penalty of £2,000 was the end of the matter.", True),
        ("The regulator asked for penalties in two cases.", True),
        ("Otter was fined in 2021 for what it had said.", True),
    ],
)
def test_only_goods_are_recalled_and_penalties_are_of_the_law(text: str, is_risk: bool) -> None:
    found = extract("https://otter.test/x", f"<p>{text}</p>".encode(), HTML)
    assert ("risk" in [each.cue for each in found.passages]) is is_risk


FSF = "51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA"


@pytest.mark.parametrize(
    ("path", "body", "count"),
    [
        ("/license.gfdl.html", f"<p>Copyright (C) 2000, {FSF}", 0),
        ("/x", f"<title>GNU GPL</title><p>Copyright (C) 2000, {FSF}", 0),
        ("/x", f"<p>write to the Free Software\nFoundation, Inc., {FSF}", 0),
        ("/x", f"<p>Free Software Foundation<address>{FSF}</address>", 0),
        ("/x", f"<p>Visit us at {FSF}", 1),
        ("/x", f"<p>Free Software Foundation<p>{'Frogs sing. ' * 30}<p>Visit us at {FSF}", 1),
    ],
)
def test_the_address_in_a_licence_is_not_that_of_the_site(path: str, body: str, count: int) -> None:
    found = extract(f"https://otter.test{path}", body.encode(), HTML)
    assert len([each for each in found.entities if each.type == "address"]) == count


def test_a_page_is_extracted_to_the_same_record_every_time() -> None:
    first, second = (facts(company(1)) for _ in range(2))
    assert first == second


def test_a_record_says_by_which_rules_it_was_made() -> None:
    record = msgspec.json.encode(extract("https://otter.test/x", b"<p>Frogs.</p>", HTML))
    assert msgspec.json.decode(record)["rules"] == RULES
    old = msgspec.json.decode(b'{"url": "https://otter.test/x", "type": "other", "count": 0}', type=PageFacts)
    assert old.rules != RULES


def test_the_same_entity_on_several_pages_is_one_with_all_sources() -> None:
    entity = next(each for each in merged(facts(company(1))) if each.type == "org" and "Kelpworks" in each.value)
    assert (entity.count, len(entity.sources), entity.confidence) == (8, 8, 0.99)
    assert set(entity.names) | {entity.value} == {"Kelpworks", "Kelpworks Ltd"}


@pytest.mark.parametrize("body", [b"", b"\xff\xfe\x00", b"<div>" * 50_000, b"{}" * 100_000, b"<p>" + b"a@" * 100_000])
def test_any_bytes_give_a_record(body: bytes) -> None:
    assert extract("https://otter.test/", body, HTML).url == "https://otter.test/"


if __name__ == "__main__":
    for seed in (1, 2):
        for kind, score in scores(company(seed)).items():
            print(seed, f"{kind:14} R {score[0]:.2f} P {score[1]:.2f}", score[2], score[3])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("(C) foo will force creation of a ClassExpression", []),
        ("(c) Whenever the pond is full", []),
        ("(c) 2020 Frog Pond", ["Frog Pond"]),
        ("Copyright (c) Frog Pond", ["Frog Pond"]),
        ("Copyright © 2003-2020 The Frog Foundation. All rights reserved.", ["Frog Foundation"]),
        ("© Copyright 1993, 2020, Newts and/or their eggs", ["Newts"]),
        ("© 2024 npm", ["npm"]),
        ("© 2024, the frogs of the pond", []),
        ("© 2024 all rights reserved", []),
    ],
)
def test_a_copyright_notice_has_a_sign_or_a_year_and_an_owner(text: str, names: list[str]) -> None:
    found = extract("https://x.example/", f"<p>{text}</p>".encode(), HTML).entities
    assert [each.value for each in found if each.type == "org"] == names
