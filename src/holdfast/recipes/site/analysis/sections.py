"""The eight sections of SIT-07, each a pure function of the corpus. Numbers are counted, quotes are the site's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from holdfast.recipes.site.analysis.company import company_of, founded, own_organisation
from holdfast.recipes.site.analysis.corpus import Corpus
from holdfast.recipes.site.analysis.flags import flags
from holdfast.recipes.site.analysis.insights import insights
from holdfast.recipes.site.analysis.section import Quotation, Section, Writer, seen, seen_all
from holdfast.recipes.site.entities.countries import country_name
from holdfast.recipes.site.entities.mention import Entity
from holdfast.recipes.site.page_types import OF_A_COMPANY

LEADERS = (
    "chief",
    "ceo",
    "cto",
    "cfo",
    "coo",
    "founder",
    "director",
    "president",
    "chair",
    "owner",
    "geschäftsführer",
    "head",
)


def overview(corpus: Corpus) -> Section:
    writer, company = Writer(corpus), company_of(corpus)
    own = own_organisation(corpus, company.domain)
    if own is not None:
        legal = f" ({company.legal_name})" if company.legal_name and company.legal_name != company.name else ""
        writer.say(f"The site is that of {company.name}{legal}.", seen(own, 3), own.confidence, topic="name")
    _described(writer, corpus)
    for year in founded(corpus)[:1]:
        writer.say(f"Founded: {year.value}.", seen(year), year.confidence, topic="founded")
    addresses = corpus.of("address")
    if addresses:
        listed = "; ".join(each.value for each in addresses[:5])
        writer.say(
            f"{_count(addresses, 'postal address', 'postal addresses', listed=5)}: {listed}.",
            seen_all(addresses[:4]),
            0.9,
            topic="address",
        )
    for kind, one, many in (
        ("email", "e-mail address", "e-mail addresses"),
        ("phone", "phone number", "phone numbers"),
    ):
        found = corpus.of(kind)
        if found:
            listed = ", ".join(each.value for each in found[:6])
            writer.say(f"{_count(found, one, many, listed=6)}: {listed}.", seen_all(found[:4]), 0.93, topic=kind)
    writer.quote("mission", 2)
    writer.quote("offering", 3)
    return writer.section("company_overview", "Company overview", nothing="The pages do not say who runs the site.")


def products(corpus: Corpus) -> Section:
    writer = Writer(corpus)
    named, prices = corpus.of("product"), corpus.of("money")
    if named:
        listed = ", ".join(each.value for each in named[:12])
        more = f" and {len(named) - 12} more" if len(named) > 12 else ""
        writer.say(
            f"{_count(named, 'product or service', 'products or services')} named: {listed}{more}.",
            seen_all(named[:4]),
            0.85,
            topic="products",
        )
    repeating = [each for each in prices if each.detail.get("per")]
    if repeating:
        listed = ", ".join(f"{each.value} per {each.detail['per']}" for each in repeating[:6])
        writer.say(f"Recurring prices: {listed}.", seen_all(repeating[:4]), 0.88, topic="prices")
    single = [
        each
        for each in prices
        if not each.detail.get("per") and _on(corpus, each, "products", "pricing", "services", "home")
    ]
    if single:
        listed = ", ".join(each.value for each in single[:6])
        writer.say(f"Prices named on product and price pages: {listed}.", seen_all(single[:4]), 0.85, topic="prices")
    writer.quote("model", 4, topic="business model")
    writer.quote("offering", 3)
    return writer.section(
        "business_model_and_products", "Business model and products", nothing="No product, service or price was found."
    )


def team(corpus: Corpus) -> Section:
    writer, people = Writer(corpus), corpus.of("person")
    posts = [each for each in people if each.detail.get("role")]
    leaders = sorted((each for each in posts if _leads(each)), key=lambda each: (_seniority(each), each.value))
    for person in leaders[:10]:
        writer.say(f"{person.value}, {person.detail['role']}.", seen(person), person.confidence, topic="leadership")
    others = [each for each in posts if each not in leaders]
    if others:
        listed = ", ".join(f"{each.value} ({each.detail['role']})" for each in others[:10])
        writer.say(f"Also named with a post: {listed}.", seen_all(others[:4]), 0.85, topic="team")
    without = [each for each in people if not each.detail.get("role")]
    if without:
        listed = ", ".join(each.value for each in without[:10])
        writer.say(f"Named without a post: {listed}.", seen_all(without[:4]), 0.75, topic="team")
    writer.quote("headcount", 2)
    writer.quote("hiring", 2)
    return writer.section(
        "team_and_leadership", "Team and leadership", nothing="No person is named together with a post."
    )


def market(corpus: Corpus) -> Section:
    writer, company = Writer(corpus), company_of(corpus)
    own = own_organisation(corpus, company.domain)
    for cue, limit in (("customers", 3), ("competition", 3), ("partners", 3), ("awards", 3), ("funding", 3)):
        writer.quote(cue, limit)
    others = [each for each in corpus.of("org") if each != own]
    if others:
        listed = ", ".join(each.value for each in others[:10])
        writer.say(f"Other organisations named: {listed}.", seen_all(others[:4]), 0.8, topic="organisations")
    places = _countries(corpus)
    if places:
        listed = ", ".join(country_name(code) or code for code, _ in places[:10])
        evidence = [each for _, found in places for each in seen(found, 1)]
        writer.say(f"Countries of the places that are named: {listed}.", evidence, 0.8, topic="countries")
    return writer.section(
        "market_position", "Market position", nothing="The pages name no customers, partners, awards or rivals."
    )


def technology(corpus: Corpus) -> Section:
    writer, stack = Writer(corpus), corpus.of("tech_stack")
    site = [each for each in stack if any(one.how in ("generator tag", "script") for one in each.sources)]
    named = [each for each in stack if each not in site]
    if site:
        listed = ", ".join(_versioned(each) for each in site[:15])
        writer.say(f"The site itself is made with: {listed}.", seen_all(site[:4]), 0.9, topic="website")
    if named:
        listed = ", ".join(each.value for each in named[:15])
        writer.say(f"Technologies that it says it works with: {listed}.", seen_all(named[:4]), 0.78, topic="stack")
    writer.quote("compliance", 3)
    writer.quote("operations", 3)
    return writer.section(
        "technology_and_operations", "Technology and operations", nothing="Nothing is said of technology or operations."
    )


def key_insights(corpus: Corpus) -> Section:
    writer = Writer(corpus)
    insights(writer)
    return writer.section("key_insights", "Key insights", nothing="Too little was found to compare anything.")


def red_flags(corpus: Corpus) -> Section:
    writer = Writer(corpus)
    flags(writer)
    return writer.section("red_flags", "Red flags", nothing="None of the rules found anything to worry about.")


def summary(corpus: Corpus) -> Section:
    """What the other sections found, in the order in which a reader asks."""
    writer, company = Writer(corpus), company_of(corpus)
    own = own_organisation(corpus, company.domain)
    if own is not None:
        parts = [company.legal_name or company.name]
        year = founded(corpus)[:1]
        parts += [f"founded {year[0].value}"] if year else []
        parts += [f"at {company.address}"] if company.address else []
        evidence = [*seen(own, 1), *seen_all(year), *seen_all(corpus.of("address")[:1])]
        writer.say(", ".join(parts) + ".", evidence, own.confidence, topic="who")
    _described(writer, corpus)
    leaders = sorted(
        (each for each in corpus.of("person") if _leads(each)), key=lambda each: (_seniority(each), each.value)
    )
    if leaders:
        listed = ", ".join(f"{each.value} ({each.detail['role']})" for each in leaders[:3])
        writer.say(f"Led by {listed}.", seen_all(leaders[:3]), 0.88, topic="leadership")
    named = corpus.of("product")
    if named:
        listed = ", ".join(each.value for each in named[:4])
        writer.say(
            f"{_count(named, 'product', 'products')}, among them {listed}.", seen_all(named[:4]), 0.83, topic="products"
        )
    worries = red_flags(corpus)
    is_company = bool(corpus.typed(*OF_A_COMPANY))  # what would be a warning of a company is none of a manual
    real = [each for each in worries.statements if is_company and each.topic != "nothing found"]
    for flag in real[:3]:
        writer.say(
            flag.text,
            [worries.sources[place] for place in flag.sources],
            flag.confidence,
            topic="red flag",
        )
    return writer.section("executive_summary", "Executive summary", nothing="Too little was found to summarise.")


SECTIONS: dict[str, Callable[[Corpus], Section]] = {
    "executive_summary": summary,
    "company_overview": overview,
    "business_model_and_products": products,
    "team_and_leadership": team,
    "market_position": market,
    "technology_and_operations": technology,
    "key_insights": key_insights,
    "red_flags": red_flags,
}


def _described(writer: Writer, corpus: Corpus) -> None:
    for page in (*corpus.typed("home"), *corpus.typed("about")):
        if page.description:
            writer.say(
                page.description, [Quotation(page.url, page.description, -1)], 0.9, topic="description", quote=True
            )
            return


def _leads(person: Entity) -> bool:
    role = person.detail.get("role", "").lower()
    return any(word in role for word in LEADERS)


def _seniority(person: Entity) -> int:
    role = person.detail.get("role", "").lower()
    return next(
        (
            n
            for n, word in enumerate(("chief exec", "ceo", "founder", "managing director", "president", "chief", "cto"))
            if word in role
        ),
        9,
    )


def _on(corpus: Corpus, entity: Entity, *types: str) -> bool:
    pages = {page.url: page.type for page in corpus.typed(*types)}
    return any(one.url in pages for one in entity.sources)


def _countries(corpus: Corpus) -> list[tuple[str, Entity]]:
    """ISO codes by how many places are there, each with one of them."""
    counts: Counter[str] = Counter()
    first: dict[str, Entity] = {}
    for place in corpus.of("location"):
        code = place.detail.get("country", "")
        if len(code) == 2:
            counts[code] += place.count
            first.setdefault(code, place)
    return [(code, first[code]) for code, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def _versioned(tech: Entity) -> str:
    return f"{tech.value} {tech.detail['version']}" if tech.detail.get("version") else tech.value


def _count(found: list[Entity], one: str, many: str, listed: int | None = None) -> str:
    """`listed`: how many of them follow at most; "6 of 10" where that is not all."""
    some = f"{listed} of " if listed is not None and listed < len(found) else ""
    return f"{some}{len(found)} {one if len(found) == 1 else many}"
