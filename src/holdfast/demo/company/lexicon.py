"""The words of three invented trades and of the people in them. Which of them a company uses is its seed's choice.

All of it is made up. Two seeds of different trades share neither names nor phrases, so that a rule which was tuned on
one company can be tried on another.
"""

from __future__ import annotations

import msgspec

GIVEN = (
    "Ines", "Tomas", "Maren", "Oskar", "Priya", "Leandro", "Sunniva", "Callum", "Yara", "Dmitri", "Noor", "Elspeth",
    "Rafael", "Hanneke", "Joaquin", "Mirela", "Bram", "Aoife", "Kenji", "Lucasta", "Pieter", "Zofia", "Amadou", "Greta",
)  # fmt: skip
FAMILY = (
    "Calloway", "Lindqvist", "Okonkwo", "Varga", "Brennick", "Thorsby", "Delacourt", "Mistry", "Halloran", "Quennell",
    "Sandoval", "Petrossian", "Ashdown", "Kowalczyk", "Tregarth", "Ferreira", "Nakagawa", "Overbeck", "Stavros",
    "Whitlock", "Marchetti", "Dunmore", "Ekström", "O'Shea",
)  # fmt: skip
STREETS = ("Harbour Row", "Tannery Lane", "Orchard Street", "Foundry Road", "Castle Hill", "Weaver's Yard", "Mill Lane")


class Trade(msgspec.Struct, frozen=True):
    """What a company of one trade makes, and how it talks."""

    name: str
    stems: tuple[str, ...]
    suffixes: tuple[str, ...]
    families: tuple[str, ...]  # of products
    models: tuple[str, ...]
    things: tuple[str, ...]
    virtues: tuple[str, ...]
    customers: tuple[str, ...]
    services: tuple[str, ...]
    roles: tuple[str, ...]  # the first leads the company
    jobs: tuple[str, ...]
    claims: tuple[str, ...]  # sentences with {thing} {virtue} {customer} {number}
    person_lines: tuple[str, ...]  # sentences with {name} {role} {org} {year}
    founded_lines: tuple[str, ...]  # with {org} {date} {place}
    generator: str
    scripts: tuple[tuple[str, str], ...]  # (URL, what it tells)


INSTRUMENTS = Trade(
    name="marine instruments",
    stems=("Norrvik", "Saltholm", "Brinewell", "Tidemark"),
    suffixes=("Instruments Ltd", "Marine Systems Ltd"),
    families=("Gauge", "Logger", "Beacon", "Probe"),
    models=("Heron 2", "Puffin", "Gannet XL", "Avocet", "Curlew 5", "Dunlin", "Plover Mini", "Skua", "Fulmar 9",
            "Petrel", "Godwit", "Turnstone"),
    things=("a mooring sensor", "the tide gauge", "every data logger", "a harbour display", "the calibration bench"),
    virtues=("accurate to a millimetre", "quiet on the wire", "readable in full sun", "sealed for ten years"),
    customers=("harbour masters", "survey crews", "ferry operators", "coastal councils"),
    services=("Calibration", "Field installation", "Data hosting", "Rental pool", "Training", "Repairs"),
    roles=("Chief Executive", "Chief Technology Officer", "Head of Sales", "Head of Research", "Finance Director",
           "Operations Manager", "Lead Engineer", "Customer Success Manager"),
    jobs=("Firmware Engineer", "Calibration Technician", "Field Engineer", "Account Manager", "Data Analyst",
          "Production Planner", "Technical Writer", "Warehouse Lead"),
    claims=(
        "Built for {customer}, {thing} stays {virtue}.",
        "In {number} trials {thing} was {virtue}, and nobody had to climb a mast.",
        "Most {customer} keep {thing} for {number} seasons or more.",
        "We test {thing} until it is {virtue}; then we test it again in winter.",
        "Ask {customer} about us: {number} of them wrote back last year.",
    ),
    person_lines=("{name}, {role}, joined {org} in {year}.", "{name} is {role} at {org}."),
    founded_lines=("{org} was founded on {date} in {place}.",),
    generator="WordPress 6.5.2",
    scripts=(("https://plausible.io/js/script.js", "Plausible"), ("https://js.stripe.com/v3/", "Stripe")),
)  # fmt: skip
BAKERY = Trade(
    name="bakery ovens",
    stems=("Crumbold", "Hearthwick", "Ovenshaw", "Levain & Rook"),
    suffixes=("Ovens GmbH", "Baking Technology GmbH"),
    families=("Deck oven", "Proofer", "Mixer", "Cooler"),
    models=("Rye 40", "Spelt", "Emmer Duo", "Einkorn", "Durum 12", "Millet", "Barley S", "Oat", "Teff 3", "Sorghum",
            "Quinoa Pro", "Buckwheat"),
    things=("a stone hearth", "our steam valve", "the dough trolley", "one loading belt", "the control panel"),
    virtues=("even from edge to edge", "hot within nine minutes", "cheap to run at night", "simple to clean"),
    customers=("village bakers", "hotel kitchens", "pastry schools", "night-shift crews"),
    services=("Oven planning", "Assembly on site", "Steam tuning", "Spare parts", "Baking school", "Leasing"),
    roles=("Managing Director", "Technical Director", "Director of Sales", "Master Baker", "Chief Financial Officer",
           "Plant Manager", "Service Coordinator", "Purchasing Lead"),
    jobs=("Welder", "Control Systems Developer", "Service Technician", "Export Clerk", "Test Baker",
          "Quality Inspector", "Apprentice Mechatronics", "Payroll Specialist"),
    claims=(
        "Who bakes before dawn needs {thing} that is {virtue}.",
        "{number} of our ovens are older than their owners, and {thing} is still {virtue}.",
        "For {customer} we made {thing} {virtue}, without a single extra button.",
        "There is a reason why {customer} come back: {thing}, {virtue}.",
        "It takes {number} loaves to learn {thing}; the rest is routine.",
    ),
    person_lines=("At {org}, {name} works as {role} since {year}.", "{role}: {name}"),
    founded_lines=("Our story begins on {date}, when {org} opened its first workshop in {place}.",),
    generator="TYPO3 CMS 12.4",
    scripts=(("https://www.googletagmanager.com/gtag/js?id=G-0000000000", "Google Analytics"),
             ("https://cdn.jsdelivr.net/npm/alpinejs@3/dist/cdn.min.js", "Alpine.js")),
)  # fmt: skip
SOFTWARE = Trade(
    name="scheduling software",
    stems=("Rotaplane", "Shiftwell", "Quillo", "Daymason"),
    suffixes=("Inc.", "Software Inc."),
    families=("Planner", "Roster", "Forecast", "Connect"),
    models=("Atlas", "Basil", "Cedar", "Dahlia", "Ember", "Fjord", "Grove", "Hazel", "Iris", "Juniper", "Kite",
            "Lumen"),
    things=("the weekly roster", "each handover", "a swap request", "the audit trail", "your time sheet"),
    virtues=("clear at a glance", "done in two taps", "fair by design", "in sync with payroll"),
    customers=("ward managers", "depot leads", "festival teams", "clinic chains"),
    services=("Onboarding", "Data migration", "Payroll integration", "Premium support", "Workshops",
              "Compliance audit"),
    roles=("Founder & CEO", "Co-founder and CTO", "VP of Sales", "VP of Product", "Head of Finance", "Head of People",
           "Principal Engineer", "Support Lead"),
    jobs=("Backend Engineer", "Product Designer", "Site Reliability Engineer", "Sales Development Rep",
          "Implementation Consultant", "Security Engineer", "Customer Educator", "Revenue Analyst"),
    claims=(
        "With us {thing} is {virtue}. Full stop.",
        "{customer} told us they lose {number} hours a month to {thing}; we gave them back.",
        "Imagine {thing} being {virtue}, every single Monday.",
        "No spreadsheet makes {thing} {virtue}. We tried {number} of them.",
        "Trusted by {customer} who need {thing} to be {virtue}.",
    ),
    person_lines=("Meet {name} ({role}), with us from {year} on.", "{name} · {role}"),
    founded_lines=("Since {date} {org} has been building from {place}.",),
    generator="Hugo 0.126.1",
    scripts=(("https://js.hs-scripts.com/0000000.js", "HubSpot"), ("https://widget.intercom.io/widget/x0", "Intercom")),
)  # fmt: skip
TRADES = (INSTRUMENTS, BAKERY, SOFTWARE)


class Country(msgspec.Struct, frozen=True):
    name: str
    cities: tuple[tuple[str, str], ...]  # (city, postal code)
    prefix: str
    area: str
    local: str  # {n}: the last digits; all of them kept free for stories by those who give numbers out
    currency: str
    sign: str


COUNTRIES = (
    Country(
        "United Kingdom", (("Falmouth", "TR11 3XA"), ("Whitby", "YO21 1DN")), "+44", "1632", "960{n:03d}", "GBP", "£"
    ),
    Country("United States", (("Duluth", "MN 55802"), ("Savannah", "GA 31401")), "+1", "218", "555{n:04d}", "USD", "$"),
    Country("Ireland", (("Kinsale", "P17 X281"), ("Westport", "F28 K6T0")), "+353", "20", "91{n:05d}", "EUR", "€"),
)
