"""Companies that do not exist: pages with planted entities, and decoys that look like some. Two seeds, two pools.

Rules were tuned on the first company only; the second has other names, other wordings and another country.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

Planted = set[tuple[str, str]]


@dataclass(frozen=True)
class Pool:
    """What a seed draws from."""

    host: str
    name: str
    legal: str
    people: tuple[str, ...]
    roles: tuple[str, ...]
    products: tuple[str, ...]
    streets: tuple[tuple[str, str, str, str], ...]  # street, city, postcode, country code
    phones: tuple[tuple[str, str], ...]  # as written, E.164
    prices: tuple[tuple[str, str], ...]  # as written, normalised
    dates: tuple[tuple[str, str], ...]
    cities: tuple[str, ...]
    tech: tuple[str, ...]
    partners: tuple[str, ...]
    lang: str


POOLS = {
    1: Pool(
        "kelpworks.test", "Kelpworks", "Kelpworks Ltd",
        ("Ines Calloway", "Tomás Oyelaran", "Priya Raman", "Jonas Feldt", "Mei-Lin Zhou", "Rory O'Hanlon", "Anke van Dijk"),
        ("Chief Executive", "Chief Technology Officer", "Head of Operations", "Finance Director", "VP Marketing", "Founder",
         "Senior Software Engineer"),
        ("Tidegauge", "Anchor Cloud", "Mooring Pro", "Harbour Desk"),
        (("12 Harbour Street", "Leeds", "LS1 4AB", "GB"), ("48 Clyde Quay", "Glasgow", "G2 8JD", "GB")),
        (("+44 20 7946 0958", "+442079460958"), ("0113 496 0345", "+441134960345"), ("+44 (0)141 496 0123", "+441414960123")),
        (("£49 per month", "GBP 49"), ("£1,299.00", "GBP 1299"), ("€2.5 million", "EUR 2500000"), ("$99", "USD 99")),
        (("3 March 2024", "2024-03-03"), ("March 18, 2025", "2025-03-18"), ("2025-11-02", "2025-11-02"), ("June 2023", "2023-06")),
        ("Rotterdam", "Hamburg", "Lisbon"), ("PostgreSQL", "Kubernetes", "Python"), ("Marrow & Sons GmbH", "Pelagic Systems Inc"),
        "en-GB",
    ),
    2: Pool(
        "nordlichtoptik.test", "Nordlicht Optik", "Nordlicht Optik GmbH",
        ("Elif Brandt", "Sören Mikkelsen", "Camille Dubois", "Radek Novák", "Hana Suzuki", "Luca De Santis", "Bridget Achebe"),
        ("Managing Director", "CTO", "Director of Research", "Chief Financial Officer", "Sales Manager", "Co-founder", "Lead Designer"),
        ("Prisma One", "Lumen Scanner", "Polarlight", "Focus Kit"),
        (("Musterstraße 14", "Dresden", "01067", "DE"), ("Keizersgracht 241", "Utrecht", "3511 AB", "NL")),
        (("+49 351 4867890", "+493514867890"), ("0351 4867891", "+493514867891"), ("+31 30 234 5678", "+31302345678")),
        (("€ 1.490,00", "EUR 1490"), ("89 EUR", "EUR 89"), ("CHF 12'500", "CHF 12500"), ("$3.2m", "USD 3200000")),
        (("14. März 2023", "2023-03-14"), ("7 July 2025", "2025-07-07"), ("21.09.2024", "2024-09-21"), ("October 2022", "2022-10")),
        ("Copenhagen", "Warsaw", "Turin"), ("Rust", "TypeScript", "ClickHouse"), ("Halden Photonics AB", "Ostrava Glass s.r.o."),
        "de-DE",
    ),
}  # fmt: skip


@dataclass
class Company:
    """Pages by URL, and what was planted on each."""

    pool: Pool
    pages: dict[str, bytes] = field(default_factory=dict)
    planted: dict[str, Planted] = field(default_factory=dict)

    @property
    def every(self) -> Planted:
        return {one for found in self.planted.values() for one in found}

    def add(self, path: str, title: str, body: str, planted: Planted, head: str = "") -> None:
        pool = self.pool
        url = f"https://{pool.host}{path}"
        menu = "".join(
            f'<a href="/{word}">{word.title()}</a> ' for word in ("about", "team", "products", "pricing", "contact")
        )
        footer = f"<footer>© 2019–2025 {pool.legal}. All rights reserved. Company number 08812345. Order 555 0199 221.</footer>"
        self.pages[url] = (
            f'<!doctype html><html lang="{pool.lang}"><head><title>{title}</title>{head}</head><body><nav>{menu}</nav>'
            f"<main>{body}</main>{footer}</body></html>"
        ).encode()
        self.planted[url] = planted | {("org", pool.name)}


def company(seed: int) -> Company:
    pool, random = POOLS[seed], Random(seed)
    made = Company(pool)
    people = list(zip(pool.people, pool.roles, strict=True))
    random.shuffle(people)
    _home(made)
    _about(made, people)
    _team(made, people[2:])
    _products(made)
    _contact(made)
    _careers(made)
    _news(made, people)
    return made


def _home(made: Company) -> None:
    pool = made.pool
    head = (
        '<meta name="generator" content="WordPress 6.5"><meta property="og:site_name" content="' + pool.name + '">'
        f'<meta name="description" content="{pool.name} makes instruments for people who measure.">'
        '<script src="https://js.stripe.com/v3/"></script><script src="/assets/app.js"></script>'
    )
    body = (
        f"<h1>{pool.name}</h1><p>{pool.name} is a company that builds instruments. Trusted by 1,200 customers across Europe."
        f'</p><a href="https://www.linkedin.com/company/{pool.host.partition(".")[0]}">LinkedIn</a>'
        f'<a href="https://x.com/{pool.host.partition(".")[0]}">X</a>'
        '<a href="https://twitter.com/intent/tweet?text=hi">Share</a><p>Read More About Our Products</p>'
    )
    handle = pool.host.partition(".")[0]
    planted = {("tech_stack", "WordPress"), ("tech_stack", "Stripe")}
    made.add(
        "/",
        pool.name,
        body,
        planted | {("social_handle", f"linkedin:company/{handle}"), ("social_handle", f"x:{handle}")},
        head,
    )


def _about(made: Company, people: list[tuple[str, str]]) -> None:
    pool = made.pool
    (boss, post), (second, role) = people[0], people[1]
    body = (
        f"<h1>About us</h1><p>{pool.legal} was founded in 2009. {boss}, {post}, leads a team of 140 people. "
        f"We have offices in {pool.cities[0]} and {pool.cities[1]}.</p><p>{second} is our {role}.</p>"
        f"<p>In {pool.dates[0][0]} we raised {pool.prices[2][0]} together with {pool.partners[0]}.</p>"
    )
    made.add("/about", "About us", body, {
        ("person", boss), ("person", second), ("date", "2009"), ("location", pool.cities[0]), ("location", pool.cities[1]),
        ("date", pool.dates[0][1]), ("money", pool.prices[2][1]), ("org", pool.partners[0]),
    })  # fmt: skip


def _team(made: Company, people: list[tuple[str, str]]) -> None:
    cards = "".join(f"<div><h3>{name}</h3><p>{role}</p></div>" for name, role in people[:-1])
    name, role = people[-1]
    data = f'{{"@context":"https://schema.org","@type":"Person","name":"{name}","jobTitle":"{role}"}}'
    body = f'<h1>Our Team</h1><h2>Leadership Team</h2>{cards}<script type="application/ld+json">{data}</script><p>{name}</p>'
    made.add("/team", "Our team", body, {("person", name) for name, _ in people})


def _products(made: Company) -> None:
    pool = made.pool
    links = "".join(
        f'<li><a href="/products/{name.lower().replace(" ", "-")}">{name}</a> <a href="/products/x-{n}">Learn more</a></li>'
        for n, name in enumerate(pool.products[:-1])
    )
    data = f'{{"@type":"Product","name":"{pool.products[-1]}","offers":{{"@type":"Offer","price":"310.50","priceCurrency":"eur"}}}}'
    body = f'<h1>Products</h1><ul>{links}</ul><script type="application/ld+json">{data}</script>'
    made.add("/products", "Products", body, {("product", name) for name in pool.products} | {("money", "EUR 310.50")})
    first = pool.products[0]
    page = f"<h1>{first}</h1><p>{first} costs {pool.prices[0][0]}. Setup is {pool.prices[1][0]}.</p><p>Version 12 has 40 modes.</p>"
    made.add(f"/products/{first.lower().replace(' ', '-')}", first, page, {
        ("product", first), ("money", pool.prices[0][1]), ("money", pool.prices[1][1]),
    })  # fmt: skip


def _contact(made: Company) -> None:
    pool = made.pool
    mail = f"hello@{pool.host}"
    (street, city, code, country), (other, town, post, _) = pool.streets
    written, home, third = pool.phones
    data = (
        f'{{"@type":"Organization","name":"{pool.name}","address":{{"@type":"PostalAddress","streetAddress":"{street}",'
        f'"addressLocality":"{city}","postalCode":"{code}","addressCountry":"{country}"}}}}'
    )
    tail = f"{post} {town}" if pool.lang == "de-DE" else f"{town} {post}"
    body = (
        f'<h1>Contact</h1><p>Write to <a href="mailto:{mail}?subject=Hi">us</a>, or to press [at] {pool.host.replace(".", " [dot] ")}.</p>'
        f'<p>Phone: {home[0]}</p><p>International: {written[0]}</p><p><a href="tel:{third[1]}">{third[0]}</a></p>'
        f"<address>{pool.legal}<br>{street}<br>{code} {city}</address><p>Second office: {other}, {tail}</p>"
        f'<p>Invoice 2044 1187 3321, reference 77-3321-0091.</p><script type="application/ld+json">{data}</script>'
    )
    made.add("/contact", "Contact", body, {
        ("email", mail), ("email", f"press@{pool.host}"), *(("phone", number) for _, number in pool.phones),
        ("address", f"{street}/{code}"), ("address", f"{other}/{post}"), ("location", city), ("location", town),
        ("location", {"GB": "United Kingdom", "DE": "Germany"}[country]),
    })  # fmt: skip


def _careers(made: Company) -> None:
    pool = made.pool
    listed = ", ".join(pool.tech)
    body = (
        f"<h1>Careers</h1><p>We are hiring. Our stack: {listed}.</p><p>You will rust nothing and go far; we react quickly.</p>"
        f"<p>Send your CV to jobs@{pool.host}. Our people work from {pool.cities[2]}.</p>"
    )
    planted = {("tech_stack", name) for name in pool.tech}
    made.add("/careers", "Careers", body, planted | {("email", f"jobs@{pool.host}"), ("location", pool.cities[2])})


def _news(made: Company, people: list[tuple[str, str]]) -> None:
    pool = made.pool
    author = people[3][0]
    body = (
        f"<h1>We open a laboratory</h1><p>By {author}</p><p>{pool.dates[1][0]}</p><p>Together with {pool.partners[1]} we opened a "
        f"laboratory, the first since {pool.dates[3][0]}. Next review: {pool.dates[2][0]}. It cost {pool.prices[3][0]}.</p>"
        "<p>The May meeting and the 14 guests of March were a pleasure.</p>"
    )
    made.add("/news/laboratory", "We open a laboratory", body, {
        ("person", author), ("date", pool.dates[1][1]), ("date", pool.dates[2][1]), ("date", pool.dates[3][1]),
        ("money", pool.prices[3][1]), ("org", pool.partners[1]),
    })  # fmt: skip
