"""How a court is asked that has a search and not a URL per case: read once from what was configured, kept with the job.

Everything has the name that the field of `sources.NAME` has. What a site calls its fields differs; what is believed of
its answers (`completeness`) does not.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from holdfast.errors import BadParams
from holdfast.model.keys import Address, canonical
from holdfast.recipes.cases.completeness import SETTLE_MS
from holdfast.recipes.cases.ids import case_parts

SEARCH, FORM = "search", "form"
PLACEHOLDERS = ("case", "prefix", "number", "year")
SETTLE_MS_MAX = 60_000
PLACE = re.compile(r"\{([^{}]*)\}")
HINT = "sources.NAME = { url = …, search = 'https://court.example/api?number={case}', detail = … }"


class CaseSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`client`: `search` asks the endpoint by plain HTTP, `form` fills in the page's form with a browser."""

    url: str  # the search page: where a session begins, and what records name as their page
    client: str = SEARCH
    court: str = ""  # as records have it
    # The endpoint
    search: str = ""
    detail: str = ""
    rows: str = "data"  # where the answer has its rows
    number: str = "court_number"  # fields of a row
    title: str = "style_of_cause"
    echo: str = "number"  # where the answer repeats what was asked; empty: it does not
    settle: int = SETTLE_MS  # ms that a miss must last
    # The page
    tab: str = 'a[href="#tab02"]'
    input: str = "#selectCourtNumber"
    submit: str = "#tab02Submit"
    row: str = "#datatable tbody tr"
    open: str = "button#re"  # within the row: what shows the case
    modal: str = "#ModalForm"
    busy: str = "#loadingscreen"  # stands there while something loads

    def address(self, case: str) -> Address:
        """What a case is asked for at: the target's URL, whose host has the pace."""
        return address_of(self.search if self.client == SEARCH else self.url, case)


def read_source(given: dict[str, Any]) -> CaseSource:
    """Checked; BadParams says what is missing."""
    try:
        source = msgspec.convert(given, CaseSource)
    except msgspec.ValidationError as error:
        raise BadParams(f"the source of the cases: {error}", hint=HINT) from None
    if source.client not in (SEARCH, FORM):
        raise BadParams(f"the source of the cases: there is no client {source.client!r}", hint=f"{SEARCH} {FORM}")
    if not 0 <= source.settle <= SETTLE_MS_MAX:
        raise BadParams(f"the source of the cases: settle is 0 to {SETTLE_MS_MAX // 1000} seconds")
    if canonical(source.url) is None:
        raise BadParams(f"the source of the cases: url {source.url!r} is not an http or https URL", hint=HINT)
    for name in ("search", "detail") if source.client == SEARCH else ():
        template = getattr(source, name)
        check_places(template, f"the source's {name}", PLACEHOLDERS)
        address_of(template, "IMM-1-25")
    return source


def document(source: CaseSource) -> dict[str, Any]:
    """As it is kept: what was not given takes the default of the program that reads it."""
    kept: dict[str, Any] = msgspec.to_builtins(source)
    return kept


def check_places(template: str, what: str, known: tuple[str, ...]) -> None:
    """BadParams where a template has a placeholder that there is not, or none for the number."""
    for place in PLACE.findall(template):
        if place not in known:
            there = " ".join(f"{{{name}}}" for name in known)
            raise BadParams(f"{what} has no placeholder {{{place}}}; there are: {there}")
    if not {"number", "case"} & set(PLACE.findall(template)):
        raise BadParams(f"{what} needs {{number}}: else every case would have the same address")


def address_of(template: str, case: str) -> Address:
    """The URL of one case."""
    prefix, number, year = case_parts(case)
    values = {"case": case, "prefix": prefix, "number": number, "year": year}
    address = canonical(PLACE.sub(lambda place: values[place[1]], template))
    if address is None:
        raise BadParams(f"{template!r} gives no http or https URL")
    return address
