"""The ordinary pages of the company: home, about, team, products, services, contact, careers, pricing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape

from holdfast.demo.company.facts import CompanyFacts, Office, Person, Product, spelled_date
from holdfast.demo.company.posts import blog, german, news
from holdfast.demo.company.prose import prose
from holdfast.demo.company.sheet import CompanySheet, social_of
from holdfast.demo.tidepool import Dice, slug
from holdfast.demo.world import BASE_MARK

BASE = BASE_MARK.decode()


def ordinary(facts: CompanyFacts, edition: int) -> Iterator[CompanySheet]:
    yield _home(facts)
    yield _about(facts)
    yield _team(facts)
    yield from (_person(facts, person) for person in facts.people)
    yield _products(facts)
    for n, product in enumerate(facts.products):
        yield _product(facts, product, n)
        yield _specs(facts, product)
    yield from _services(facts)
    yield _contact(facts)
    yield from (_office(facts, office, n) for n, office in enumerate(facts.offices))
    yield from _careers(facts)
    yield _pricing(facts)
    yield from blog(facts, edition)
    yield from news(facts)
    yield from german(facts)


def _hero(sheet: CompanySheet, heading: str, text: str) -> None:
    sheet.write(f"<section class=hero><h1>{escape(heading)}</h1><p>{escape(text, quote=False)}</p></section>")


def _home(facts: CompanyFacts) -> CompanySheet:
    sheet = CompanySheet(facts, "/", f"{facts.org}: {facts.trade.name}", rooted=True)
    sheet.head += [
        f'<meta property="og:site_name" content="{escape(facts.org)}">',
        f'<meta property="og:url" content="{BASE}/">',
        '<link rel="alternate" hreflang="de" href="/de/">',
    ]
    sheet.links.append("/de/")
    org = {"@context": "https://schema.org", "@type": "Organization", "name": facts.org, "url": f"{BASE}/",
           "foundingDate": facts.founded.isoformat(), "sameAs": list(social_of(facts).values())}  # fmt: skip
    sheet.head.append(f'<script type="application/ld+json">{json.dumps(org)}</script>')
    _hero(sheet, f"{facts.short}: {facts.trade.name}", prose(facts, "home", sentences=2))
    sheet.plant("org", facts.org, facts.org)
    for name, url in social_of(facts).items():
        account = url.partition("/")[2].partition("/")[2].partition("/")[2]
        sheet.plant("social_handle", f"{name.lower()}:{account}", name, network=name, link=url)
    engine, _, version = facts.trade.generator.rpartition(" ")
    sheet.plant("tech_stack", engine, facts.trade.generator, sign="generator", version=version)
    for url, tool in facts.trade.scripts:
        sheet.plant("tech_stack", tool, tool, sign=url)
        if "cdn.jsdelivr.net" in url:
            sheet.plant("tech_stack", "jsDelivr", url, sign=url)
    sheet.text(prose(facts, "home", 2))
    sheet.cards(sheet.link(f"/products/{each.slug}", each.name) for each in facts.products[:4])
    odd = {
        "/pricing?utm_source=newsletter": "Our prices, as in the newsletter", "/Services/": "All services",
        "/team": "Who we are", "/old-about": "About us, the old page", "/status": "Status of our systems",
        "/private/board": "Board papers", "/partner-portal": "Partner portal", "/notes": "Release notes",
    }  # fmt: skip
    sheet.write("<p class=note>" + " · ".join(sheet.link(url, text) for url, text in odd.items()) + "</p>")
    sheet.write("<p>" + sheet.outside("https://partner.invalid/", "Our partner") + "</p>")
    sheet.write('<p><a href="#top">Back to top</a> <a href="mailto:web@nobody.invalid">Write to the web team</a></p>')
    return sheet


def _about(facts: CompanyFacts) -> CompanySheet:
    sheet = CompanySheet(facts, "/about-us/", f"About {facts.short}", canonical="/about-us/")
    _hero(sheet, f"About {facts.short}", prose(facts, "about", sentences=2))
    day = spelled_date(facts.founded, facts.seed)
    line = facts.trade.founded_lines[0].format(org=facts.org, date=day, place=facts.offices[0].city)
    sheet.plant("date", facts.founded.isoformat(), line, meaning="founded")
    sheet.plant("location", facts.offices[0].city, line)
    sheet.plant("org", facts.org, line)
    sheet.text(line)
    sheet.text(prose(facts, "about", 2, sentences=6))
    sheet.write("<p>" + sheet.link("/team/", "The team", href="../team/#people") + "</p>")
    return sheet


def _team(facts: CompanyFacts) -> CompanySheet:
    """A list of cards, a table or running text, by the company's taste."""
    sheet = CompanySheet(facts, "/team/", f"Team of {facts.short}")
    sheet.write("<h1 id=people>The people</h1>")
    lines = []
    for n, person in enumerate(facts.people):
        line = _line(facts, person, n)
        sheet.plant("person", person.name, line, role=person.role)
        if str(person.since) in line:
            sheet.plant("date", str(person.since), line, meaning="joined")
        name = sheet.link(f"/team/{person.slug}", person.name, href=person.slug)
        lines.append(escape(line, quote=False).replace(escape(person.name, quote=False), name, 1))
    match facts.seed % 3:
        case 0:
            sheet.cards(lines)
        case 1:
            sheet.write("<table>", *(f"<tr><td>{line}</td></tr>" for line in lines), "</table>")
        case _:
            sheet.write(*(f"<p>{line}</p>" for line in lines))
    sheet.links += ["/team/alumni"]
    sheet.write('<p><a href="alumni" rel="nofollow">Alumni</a></p>')
    return sheet


def _line(facts: CompanyFacts, person: Person, n: int) -> str:
    form = facts.trade.person_lines[n % len(facts.trade.person_lines)]
    return form.format(name=person.name, role=person.role, org=facts.org, year=person.since)


def _person(facts: CompanyFacts, person: Person) -> CompanySheet:
    sheet = CompanySheet(facts, f"/team/{person.slug}", f"{person.name}, {person.role}")
    sheet.head.append(
        '<script type="application/ld+json">'
        + json.dumps({"@type": "Person", "name": person.name, "jobTitle": person.role})
        + "</script>"
    )
    line = f"{person.name}, {person.role}"
    sheet.write(f"<h1>{sheet.plant('person', person.name, line, role=person.role)}</h1>")
    mail = f"{person.name.split()[0].lower()}@{facts.domain}"
    passage = f"Write to {mail}"
    sheet.write(f'<p>Write to <a href="mailto:{mail}">{mail}</a></p>')
    sheet.plant("email", mail, passage)
    sheet.text(prose(facts, person.name, sentences=6))
    return sheet


def _products(facts: CompanyFacts) -> CompanySheet:
    sheet = CompanySheet(facts, "/products/", f"Products of {facts.short}")
    sheet.write("<h1>Products</h1>")
    sheet.text(prose(facts, "products"))
    sheet.cards(sheet.link(f"/products/{each.slug}", each.name, href=each.slug) for each in facts.products)
    sheet.write("<p>" + sheet.link("/catalogue/all", "Everything on one page") + "</p>")
    return sheet


def _product(facts: CompanyFacts, product: Product, n: int) -> CompanySheet:
    sheet = CompanySheet(facts, f"/products/{product.slug}", f"{product.name} by {facts.short}")
    sheet.canonical = f"/products/{product.slug}"
    if n == 3:  # the one wrong canonical tag: it names another product
        sheet.canonical = f"/products/{facts.products[4].slug}"
    sheet.write(f"<h1>{sheet.plant('product', product.name, product.name)}</h1>")
    price = f"{product.name} costs {facts.money(product.price)}."
    sheet.plant("money", facts.value(product.price), price)
    sheet.text(price)
    sheet.text(prose(facts, product.name, sentences=7))
    folder = f"/products/{product.slug}/"
    sheet.write("<p>" + sheet.link(f"{folder}specs", "Technical data", href=f"{product.slug}/specs") + "</p>")
    if n == 0:
        sheet.write("<p>" + sheet.link("/files/datasheet.pdf", "Data sheet (PDF)") + "</p>")
    if n == 1:
        sheet.write("<p>" + sheet.link("/products/discontinued", "Its predecessor") + "</p>")
    return sheet


def _specs(facts: CompanyFacts, product: Product) -> CompanySheet:
    dice = Dice(facts.seed, "specs", product.name)
    sheet = CompanySheet(facts, f"/products/{product.slug}/specs", f"{product.name}: technical data")
    sheet.write(f"<h1>{escape(product.name)}: technical data</h1>", "<table>")
    for name in ("Weight", "Height", "Width", "Power"):
        sheet.write(f"<tr><th>{name}</th><td>{dice.number(2, 400)}</td></tr>")
    sheet.write("</table>")
    sheet.text(prose(facts, "specs", product.name))
    if product is facts.products[0]:
        sheet.write("<p>" + sheet.link(f"/products/{product.slug}/specs/history", "Earlier revisions") + "</p>")
    return sheet


def _services(facts: CompanyFacts) -> Iterator[CompanySheet]:
    sheet = CompanySheet(facts, "/services/", f"Services of {facts.short}", canonical="/services/")
    sheet.write("<h1>Services</h1>")
    sheet.cards(sheet.link(f"/services/{slug(name)}", name) for name in facts.trade.services)
    yield sheet
    for name in facts.trade.services:
        one = CompanySheet(facts, f"/services/{slug(name)}", f"{name} by {facts.short}")
        one.write(f"<h1>{escape(name)}</h1>")
        one.text(prose(facts, "service", name, sentences=6))
        yield one


def _contact(facts: CompanyFacts) -> CompanySheet:
    sheet = CompanySheet(facts, "/contact", f"Contact {facts.short}")
    sheet.write("<h1>Contact</h1>")
    for n, office in enumerate(facts.offices):
        call = f"Call {office.city}: {office.spelled(n)}"
        sheet.plant("phone", office.e164, call)
        sheet.plant("location", office.city, call)
        sheet.text(call)
        sheet.write("<p>" + sheet.link(f"/contact/{slug(office.city)}", f"Office in {office.city}") + "</p>")
    hello = f"hello@{facts.domain}"
    sheet.write(f"<p>{sheet.plant('email', hello, f'General questions: {hello}')}</p>")
    hidden = f"press [at] {facts.domain.replace('.', ' [dot] ')}"
    press = f"For the press: {hidden}"
    sheet.write(f"<p>{sheet.plant('email', f'press@{facts.domain}', press, obfuscated='yes')}</p>")
    sheet.write("<p>" + sheet.link("/announcements", "Announcements") + "</p>")
    return sheet


def _office(facts: CompanyFacts, office: Office, n: int) -> CompanySheet:
    sheet = CompanySheet(facts, f"/contact/{slug(office.city)}", f"{facts.short} in {office.city}")
    sheet.write(f"<h1>{escape(office.city)}</h1>")
    sheet.write(f"<address>{sheet.plant('address', office.address, office.address)}</address>")
    sheet.plant("location", office.city, office.address)
    sheet.plant("location", office.country.name, office.address)
    call = f"Telephone {office.spelled(2 - n)}"
    sheet.write(f'<p><a href="tel:{office.e164}">{sheet.plant("phone", office.e164, call)}</a></p>')
    sheet.text(prose(facts, office.city))
    return sheet


def _careers(facts: CompanyFacts) -> Iterator[CompanySheet]:
    sheet = CompanySheet(facts, "/careers/", f"Careers at {facts.short}")
    sheet.write("<h1>Work with us</h1>")
    sheet.cards(sheet.link(f"/careers/{slug(job)}", job) for job in facts.trade.jobs)
    yield sheet
    for n, job in enumerate(facts.trade.jobs):
        one = CompanySheet(facts, f"/careers/{slug(job)}", f"{job} at {facts.short}")
        one.write(f"<h1>{escape(job)}</h1>")
        office = facts.offices[n % len(facts.offices)]
        place = f"This position is in {office.city}."
        one.plant("location", office.city, place)
        one.text(place, prose(facts, "job", job, sentences=6))
        yield one


def _pricing(facts: CompanyFacts) -> CompanySheet:
    sheet = CompanySheet(facts, "/pricing", f"Prices of {facts.short}")
    sheet.write("<h1>Pricing</h1>", "<table>")
    dice = Dice(facts.seed, "pricing")
    for name in ("Starter", "Professional", "Fleet"):
        amount = dice.number(2, 90) * 10
        line = f"{name}: {facts.money(amount)} per month"
        sheet.write(f"<tr><td>{sheet.plant('money', facts.value(amount), line, per='month')}</td></tr>")
    sheet.write("</table>")
    sheet.text(prose(facts, "pricing"))
    sheet.write("<p>" + sheet.link("/files/annual-report.pdf", "Annual report (PDF)") + "</p>")
    return sheet
