"""The court's search as a service: a page, two endpoints, sessions, a guard of the pace, and the quirks on the dial."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from holdfast.demo.court import pages
from holdfast.demo.court.files import CourtFile, exists, file_of, last_number, number_of
from holdfast.demo.court.oracle import oracle_of
from holdfast.demo.court.pace import PaceGuard
from holdfast.demo.dial import CALM, Dial, read_dial
from holdfast.demo.faults import chance
from holdfast.demo.service import ServiceAnswer, ServiceClock, ServiceRequest, count_in

START_MS = 2_507_540_400_000  # in June 2049
DAY_S = 86_400
SESSION_COOKIE = "court_session"
PAGE_FAULTS = ("empty_first", "page_503")
QUERY_FAULTS = (
    "miss_first", "previous_row", "late_row", "redrawn_row", "overlay_stays", "session_expired", "query_503", "slow",
)  # fmt: skip
MODAL_FAULTS = ("half_header", "empty_entries", "neighbour_modal", "modal_503")
FAULTS = (*PAGE_FAULTS, *QUERY_FAULTS, *MODAL_FAULTS)
KNOBS = {"pace_ms": 0, "maintenance": 0}
LATE_MS = (100, 2_000)
REDRAWN_MS = 30
SLOW_MS = 300
JSON = ("content-type", "application/json; charset=utf-8")
HTML = ("content-type", "text/html; charset=utf-8")


class CourtSite:
    """Fulfils `service.Service`. A session begins with the page; queries without one are told to begin again."""

    name = "court"
    hosts = ()

    def __init__(self, seed: int, *, clock: ServiceClock | None = None, delay_ms: int = 0) -> None:
        self.seed, self.clock, self.delay_ms = seed, clock or ServiceClock(START_MS), delay_ms
        self.dial: Dial = CALM
        self.knobs = dict(KNOBS)
        self.day = 0
        self._pace = PaceGuard()
        self._previous: dict[str, list[dict[str, str]]] = {}  # by session: the row that still stands there
        self._missed: set[str] = set()  # numbers whose last answer was a miss that passes
        self._sessions_made = 0
        self._asks: Counter[str] = Counter()
        self._all_asks = 0

    @property
    def edition(self) -> int:
        return self.day + 1

    # --- orders of tests

    def oracle(self, base: str) -> dict[str, Any]:
        return oracle_of(self.seed, self.day, base)

    def advance(self, order: dict[str, Any]) -> dict[str, Any]:
        """`{"days": 1}` (or `editions`) files some more cases; `{"seconds": 60}` only sets the clock forward."""
        if set(order) - {"days", "editions", "seconds"}:
            raise ValueError('advance takes {"days": n} or {"seconds": n}')
        if "seconds" in order:
            self.clock.ahead(count_in(order, "seconds", 1))
        if "seconds" not in order or {"days", "editions"} & set(order):
            days = count_in(order, "days", count_in(order, "editions", 1))
            self.day += days
            self.clock.ahead(days * DAY_S)
        return {"edition": self.edition, "last": last_number(self.seed, self.day), "now_ms": self.clock.now_ms()}

    def set_faults(self, order: dict[str, Any]) -> dict[str, Any]:
        """Shares of FAULTS by name, `dial`, `pace_ms` (the least time between requests) and `maintenance` (1: all
        503).
        """
        knobs = {name: order.get(name, value) for name, value in KNOBS.items()}
        if any(type(value) is not int or value < 0 for value in knobs.values()):
            raise ValueError(f"{', '.join(KNOBS)} are numbers from 0")
        self.dial = read_dial({name: value for name, value in order.items() if name not in KNOBS}, FAULTS)
        self.knobs = knobs
        self._pace = PaceGuard(knobs["pace_ms"])
        self._asks.clear()
        self._all_asks = 0
        return {"dial": self.dial.name, **self.dial.shares, **knobs}

    # --- requests

    def key(self, request: ServiceRequest) -> str:
        if request.path == pages.API_PATH:
            return f"{request.base}{request.path}?number={request.asked().get('number', '')}"
        return f"{request.base}{request.path}"

    def answer(self, request: ServiceRequest) -> ServiceAnswer:
        self._all_asks += 1
        if request.path == "/robots.txt":
            return ServiceAnswer(200, b"User-agent: *\nAllow: /\n", (("content-type", "text/plain"),))
        match self._pace.judge(self.clock.now_ms()):
            case "429":
                return ServiceAnswer(429, b"Too many requests\n", (HTML, ("retry-after", "2")))
            case "403":
                return ServiceAnswer(403, b"<h1>Forbidden</h1>\n")
            case "block":
                return ServiceAnswer(403, pages.block_page())
        if self.knobs["maintenance"] or self.dial.is_out(self._all_asks):
            return ServiceAnswer(503, pages.maintenance_page(), (HTML, ("retry-after", "30")))
        answer = self._routed(request)
        wait_ms = answer.wait_ms + self.delay_ms
        return ServiceAnswer(answer.status, answer.body, answer.headers, wait_ms, answer.cut)

    def _routed(self, request: ServiceRequest) -> ServiceAnswer:
        if request.path == "/":
            return ServiceAnswer(302, b"", (("location", pages.PAGE_PATH),))
        if request.path == pages.PAGE_PATH:
            return self._page(request)
        below = request.path.removeprefix(f"{pages.API_PATH}/")
        number, _, what = below.partition("/")
        routes: dict[str, Callable[[], ServiceAnswer]] = {
            "entries": lambda: self._entries(request, number),
            "parties": lambda: self._modal(request, number, pages.parties_of),
        }
        if request.path == pages.API_PATH:
            return self._query(request)
        return routes[what]() if below != request.path and what in routes else ServiceAnswer(404, b"<h1>Not found</h1>")

    def _fault(self, names: tuple[str, ...], about: str) -> str:
        self._asks[about] += 1
        return self.dial.fault(self.seed, names, about, self._asks[about])

    def _page(self, request: ServiceRequest) -> ServiceAnswer:
        fault = self._fault(PAGE_FAULTS, f"page {self._sessions_made}")
        if fault == "page_503":
            return ServiceAnswer(503, pages.maintenance_page())
        headers = [HTML, ("cache-control", "no-store")]
        if request.cookie(SESSION_COOKIE) not in self._previous:
            self._sessions_made += 1
            session = blake2b(repr((self.seed, self._sessions_made)).encode(), digest_size=12).hexdigest()
            self._previous[session] = []
            headers.append(("set-cookie", f"{SESSION_COOKIE}={session}; path=/; HttpOnly; SameSite=Lax"))
        return ServiceAnswer(200, pages.search_page(is_fresh=fault == "empty_first"), tuple(headers))

    def _query(self, request: ServiceRequest) -> ServiceAnswer:
        asked = request.asked()
        session, text = request.cookie(SESSION_COOKIE), asked.get("number", "")
        if session not in self._previous:
            return _begin_again()
        file = self._file(text) if asked.get("court", "t") in ("t", "b") else None
        rows = [] if file is None else [_row(file)]
        fault = self._passing(text, self._fault(QUERY_FAULTS, f"query {text}"))
        headers = [JSON]
        match fault:
            case "session_expired":
                del self._previous[session]
                return _begin_again()
            case "query_503":
                return ServiceAnswer(503, pages.maintenance_page())
            case "miss_first":
                rows = []
            case "previous_row" if self._previous[session]:
                rows = self._previous[session]
            case "late_row":
                low, high = LATE_MS
                late = low + int(chance(self.seed, "late", text) * (high - low))
                first = "miss" if chance(self.seed, "late first", text) < 0.5 else "previous"
                headers += [("x-draw-after", str(late)), ("x-draw-first", first)]
            case "redrawn_row":
                headers.append(("x-redraw-after", str(REDRAWN_MS)))
            case "overlay_stays":
                headers.append(("x-overlay", "stays"))
        if fault not in ("miss_first", "previous_row"):
            self._previous[session] = rows
        draw = int(asked["draw"]) if asked.get("draw", "").isdecimal() else 1
        body = {"draw": draw, "number": text, "recordsTotal": len(rows), "data": rows}
        return ServiceAnswer(200, json.dumps(body).encode(), tuple(headers), wait_ms=SLOW_MS if fault == "slow" else 0)

    def _passing(self, number: str, fault: str) -> str:
        """The fault, but for a miss directly after a miss about the same number: it is shown for a moment only."""
        if fault == "miss_first" and number not in self._missed:
            self._missed.add(number)
            return fault
        self._missed.discard(number)
        return "" if fault == "miss_first" else fault

    def _entries(self, request: ServiceRequest, number: str) -> ServiceAnswer:
        fault = self._fault(MODAL_FAULTS, f"entries {number}")
        match fault:
            case "modal_503":
                return ServiceAnswer(503, pages.maintenance_page())
            case "half_header":
                missing = "Filing Date" if chance(self.seed, "half", number) < 0.5 else "Office"
                return self._modal(request, number, lambda file: pages.modal_of(file, without_header=missing))
            case "empty_entries":
                return self._modal(request, number, lambda file: pages.modal_of(file, without_entries=True))
            case "neighbour_modal":
                return self._modal(request, number, lambda file: pages.modal_of(self._neighbour(file)))
        return self._modal(request, number, pages.modal_of)

    def _modal(self, request: ServiceRequest, number: str, write: Callable[[CourtFile], bytes]) -> ServiceAnswer:
        if request.cookie(SESSION_COOKIE) not in self._previous:
            return _begin_again()
        file = self._file(number)
        return ServiceAnswer(404, b"<p>No such file</p>") if file is None else ServiceAnswer(200, write(file), (HTML,))

    def _file(self, text: str) -> CourtFile | None:
        number = number_of(text)
        return file_of(self.seed, number) if number is not None and exists(self.seed, number, self.day) else None

    def _neighbour(self, file: CourtFile) -> CourtFile:
        number = number_of(file.case_id) or 1
        near = (other for other in range(number + 1, number + 99) if exists(self.seed, other, self.day))
        return file_of(self.seed, next(near, 1))


def make(seed: int, pages_count: int | None, delay_ms: int | None) -> CourtSite:
    if pages_count is not None:
        raise ValueError("the court has as many files as its days have filed")
    return CourtSite(seed, delay_ms=delay_ms or 0)


def _row(file: CourtFile) -> dict[str, str]:
    return {"court_number": file.case_id, "style_of_cause": file.style, "nature_of_proceeding": file.nature}


def _begin_again() -> ServiceAnswer:
    return ServiceAnswer(401, b"<h1>Your session has ended</h1><p>Please load the search page again.</p>\n")
