"""What schema.org says: names, posts, addresses, offers and dates out of a page's JSON-LD. The most certain rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.recipes.site.entities.countries import country_name
from holdfast.recipes.site.entities.dates import iso_date
from holdfast.recipes.site.entities.mention import Mention
from holdfast.recipes.site.entities.money import as_value, exact_amount
from holdfast.recipes.site.entities.source import Source, clean

HOW, SURE = "schema.org", 0.98
ORGANISATIONS = frozenset(
    {"Organization", "Corporation", "LocalBusiness", "NGO", "EducationalOrganization", "OnlineBusiness", "Store"}
    | {"ProfessionalService", "NewsMediaOrganization", "GovernmentOrganization", "ResearchOrganization"}
)
PRODUCTS = frozenset(
    {"Product", "SoftwareApplication", "WebApplication", "MobileApplication", "Service", "ProductGroup"}
)
DATES = ("foundingDate", "datePublished", "dateModified", "startDate", "endDate", "datePosted")


def structured(source: Source) -> Iterator[Mention]:
    for thing in source.data:
        kinds = types_of(thing)
        if "Person" in kinds:
            yield from _person(source, thing)
        if kinds & ORGANISATIONS:
            yield from _named(source, thing, "org", ("name", "legalName"))
        if kinds & PRODUCTS:
            yield from _named(source, thing, "product", ("name",))
        if "PostalAddress" in kinds:
            yield from _address(source, thing)
        if kinds & {"Offer", "AggregateOffer", "MonetaryAmount", "UnitPriceSpecification"}:
            yield from _price(source, thing)
        yield from _dates(source, thing)


def types_of(thing: dict[str, Any]) -> set[str]:
    kinds = thing.get("@type")
    listed = kinds if isinstance(kinds, list) else [kinds]
    return {str(kind).rpartition("/")[2] for kind in listed if isinstance(kind, str)}


def text_of(thing: dict[str, Any], name: str) -> str:
    """A field as text; of an object its name; of a list its first."""
    value = thing.get(name)
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("name")
    return clean(str(value))[:200] if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def texts_of(thing: dict[str, Any], name: str) -> list[str]:
    value = thing.get(name)
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]


def _mention(source: Source, kind: str, value: str, shown: str, detail: dict[str, str] | None = None) -> Mention:
    place = source.locate(shown, value)
    return Mention(kind, value, shown, place.passage, place.at, HOW, SURE, detail or {})


def _person(source: Source, thing: dict[str, Any]) -> Iterator[Mention]:
    if name := text_of(thing, "name"):
        role = text_of(thing, "jobTitle")
        yield _mention(source, "person", name, name, {"role": role} if role else {})


def _named(source: Source, thing: dict[str, Any], kind: str, fields: tuple[str, ...]) -> Iterator[Mention]:
    for field in fields:
        if name := text_of(thing, field):
            detail = {"legal_name": name} if field == "legalName" else {}
            yield _mention(source, kind, name, name, detail)


def _address(source: Source, thing: dict[str, Any]) -> Iterator[Mention]:
    city, country = text_of(thing, "addressLocality"), text_of(thing, "addressCountry")
    parts = [text_of(thing, "streetAddress"), city, text_of(thing, "addressRegion"), text_of(thing, "postalCode")]
    if parts[0]:
        value = ", ".join(part for part in (*parts, country) if part)
        yield _mention(source, "address", value, parts[0], {"country": country} if country else {})
    if city:
        yield _mention(source, "location", city, city, {"country": country} if country else {})
    if country:
        yield _mention(source, "location", country_name(country) or country, country, {"kind": "country"})


def _price(source: Source, thing: dict[str, Any]) -> Iterator[Mention]:
    currency = text_of(thing, "priceCurrency") or text_of(thing, "currency")
    shown = text_of(thing, "price") or text_of(thing, "value")
    amount = exact_amount(shown)
    if currency and amount is not None:
        yield _mention(source, "money", as_value(currency.upper()[:3], amount), shown)


def _dates(source: Source, thing: dict[str, Any]) -> Iterator[Mention]:
    for field in DATES:
        shown = text_of(thing, field)
        if shown and (value := iso_date(shown)):
            yield _mention(source, "date", value, shown, {"what": field})
