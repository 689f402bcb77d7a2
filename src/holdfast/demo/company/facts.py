"""What is true of one company: its people, offices, products, prices and dates. Drawn once from the seed; no HTML.

The oracle's entities are these facts, each where a page states it.
"""

from __future__ import annotations

from datetime import date, timedelta

import msgspec

from holdfast.demo.company.lexicon import COUNTRIES, FAMILY, GIVEN, STREETS, TRADES, Country, Trade
from holdfast.demo.tidepool import Dice, slug

PEOPLE = 8
PRODUCTS = 12
POSTS = 28
NEWS = 18
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


class Person(msgspec.Struct, frozen=True):
    name: str
    role: str
    since: int

    @property
    def slug(self) -> str:
        return slug(self.name)


class Office(msgspec.Struct, frozen=True):
    street: str
    city: str
    postal_code: str
    country: Country
    phone: str  # digits behind the prefix

    @property
    def e164(self) -> str:
        return self.country.prefix + self.phone

    @property
    def address(self) -> str:
        return f"{self.street}, {self.city} {self.postal_code}, {self.country.name}"

    def spelled(self, way: int) -> str:
        """One of three ways to write the number."""
        area, rest = self.country.area, self.phone.removeprefix(self.country.area)
        halves = f"{rest[:3]} {rest[3:]}"
        if way == 0:
            return f"{self.country.prefix} {area} {halves}"
        if way == 1:
            return f"({'' if self.country.prefix == '+1' else '0'}{area}) {halves.replace(' ', '-')}"
        return f"{self.country.prefix.replace('+', '00')}-{area}-{halves.replace(' ', '-')}"


class Product(msgspec.Struct, frozen=True):
    name: str
    price: int  # whole units of the currency
    family: str

    @property
    def slug(self) -> str:
        return slug(self.name)


class CompanyFacts(msgspec.Struct, frozen=True):
    seed: int
    trade: Trade
    org: str
    short: str
    founded: date
    people: tuple[Person, ...]
    offices: tuple[Office, ...]
    products: tuple[Product, ...]
    posts: tuple[tuple[date, str], ...]
    news: tuple[tuple[date, str], ...]

    @property
    def domain(self) -> str:
        return f"{slug(self.short)}.example"

    @property
    def handle(self) -> str:
        return slug(self.short).replace("-", "")

    @property
    def country(self) -> Country:
        return self.offices[0].country

    def money(self, amount: int) -> str:
        return f"{self.country.sign}{amount:,}"

    def value(self, amount: int) -> str:
        return f"{self.country.currency} {amount}"


def draw_facts(seed: int) -> CompanyFacts:
    """The seed modulo the number of trades decides the trade: three neighbours are three trades."""
    dice = Dice(seed, "company")
    trade, country = TRADES[seed % len(TRADES)], COUNTRIES[seed % len(COUNTRIES)]
    short = dice.one(trade.stems)
    founded = date(dice.number(1978, 2015), dice.number(1, 12), dice.number(1, 28))
    given, family = dice.some(GIVEN, PEOPLE), dice.some(FAMILY, PEOPLE)
    people = [
        Person(f"{first} {last}", role, dice.number(founded.year, 2029))
        for first, last, role in zip(given, family, trade.roles, strict=True)
    ]
    offices = [_office(dice, country, n) for n in range(2)]
    families = [trade.families[n % len(trade.families)] for n in range(PRODUCTS)]
    products = [
        Product(f"{model} {family}", dice.number(12, 480) * 5, family)
        for model, family in zip(dice.some(trade.models, PRODUCTS), families, strict=True)
    ]
    return CompanyFacts(
        seed=seed,
        trade=trade,
        org=f"{short} {dice.one(trade.suffixes)}",
        short=short,
        founded=founded,
        people=tuple(people),
        offices=tuple(offices),
        products=tuple(products),
        posts=_dated(
            dice, trade, POSTS, ("How {customer} use {thing}", "Why {thing} matters", "A day with {customer}")
        ),
        news=_dated(dice, trade, NEWS, ("{customer} choose us", "New: {thing}, {virtue}", "Award for {thing}")),
    )


def _office(dice: Dice, country: Country, n: int) -> Office:
    city, code = country.cities[n]
    number = country.area + country.local.format(n=dice.number(100, 199))
    return Office(f"{dice.number(2, 98)} {dice.one(STREETS)}", city, code, country, number)


def _dated(dice: Dice, trade: Trade, count: int, forms: tuple[str, ...]) -> tuple[tuple[date, str], ...]:
    """Headlines with their days, newest first; each headline once."""
    rows: list[tuple[date, str]] = []
    day = date(2031, 3, 28)
    for n in range(count):
        form = forms[n % len(forms)]
        words = {
            "customer": dice.one(trade.customers), "thing": dice.one(trade.things), "virtue": dice.one(trade.virtues),
        }  # fmt: skip
        text = form.format(**words)
        rows.append((day, f"{text[0].upper()}{text[1:]} (part {n + 1})"))
        day -= timedelta(days=dice.number(3, 30))
    return tuple(rows)


def spelled_date(day: date, way: int) -> str:
    month = MONTHS[day.month - 1]
    return (f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}", day.isoformat())[way % 3]
