"""The judgments site as a service: pages with nonces, the lists, signed addresses, and the second host with the
files.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import blake2b, sha256
from typing import Any

from holdfast.demo.dial import CALM, Dial, read_dial
from holdfast.demo.faults import chance
from holdfast.demo.judgments import pages, voice
from holdfast.demo.judgments.docket import HEADERS, STAGES, csv_of, newest_first, rows_of
from holdfast.demo.judgments.files import file_of, has_legacy_path, registers
from holdfast.demo.judgments.oracle import oracle_of
from holdfast.demo.service import ServiceAnswer, ServiceClock, ServiceRequest, count_in

BOX_HOST = "127.0.0.2"
START_MS = 1_748_854_800_000  # 2025-06-02 09:00 UTC
SIGNED_S = 60
NONCE_MINUTES = 720
SESSION_COOKIE = "wp_session"
PAGE_FAULTS = ("page_unavailable",)
AJAX_FAULTS = ("session_lost", "ajax_false", "ajax_zero", "ajax_html", "ajax_500", "ajax_429", "born_expired")
FILE_FAULTS = (
    "html_for_pdf", "tiny_pdf", "cut_half", "cut_short", "reset", "box_429", "box_429_bare", "box_503", "slow",
)  # fmt: skip
FAULTS = (*PAGE_FAULTS, *AJAX_FAULTS, *FILE_FAULTS)
SLOW_MS = 400
# `consent` 1: only a session whose cookie banner was accepted is given addresses. `blocked_after`: a block page for
# whatever the site itself is asked for then; 0: never.
KNOBS = {"nonce_every": 0, "nonce_minutes": NONCE_MINUTES, "signed_s": SIGNED_S, "consent": 0, "blocked_after": 0}
UNAVAILABLE_AS = ("503", "html", "timeout")
JSON = (("content-type", "application/json; charset=UTF-8"),)
PLAIN = (("content-type", "text/html; charset=UTF-8"),)
REFUSED = ServiceAnswer(403, b"-1", PLAIN)


class JudgmentsSite:
    """Fulfils `service.Service`. `clock` is handed in by tests that step it; `stage` is one of docket.STAGES."""

    name = "judgments"
    hosts = (BOX_HOST,)

    def __init__(self, seed: int, *, clock: ServiceClock | None = None, delay_ms: int = 0) -> None:
        self.seed, self.clock, self.delay_ms = seed, clock or ServiceClock(START_MS), delay_ms
        self.dial: Dial = CALM
        self.knobs = dict(KNOBS)
        self.unavailable_as = "503"
        self.edition = 1
        self._sessions: dict[str, int] = {}  # id -> number, which chooses the nonce and its form
        self._posts = 0
        self._asks: Counter[str] = Counter()
        self._all_asks = 0

    @property
    def stage(self) -> str:
        return STAGES[self.edition - 1]

    # --- orders of tests

    def oracle(self, base: str) -> dict[str, Any]:
        return oracle_of(self.seed, self.stage, base)

    def advance(self, order: dict[str, Any]) -> dict[str, Any]:
        """`{"editions": 1}`, `{"version": "v2"}` or `{"seconds": 61}`."""
        if set(order) - {"editions", "version", "seconds"}:
            raise ValueError('advance takes {"editions": n}, {"version": "v2"} or {"seconds": n}')
        if "seconds" in order:
            self.clock.ahead(count_in(order, "seconds", 1))
        if "version" in order:
            if order["version"] not in STAGES:
                raise ValueError(f"unknown version {order['version']!r}; allowed: {', '.join(STAGES)}")
            self.edition = STAGES.index(order["version"]) + 1
        elif "seconds" not in order or "editions" in order:
            self.edition = min(len(STAGES), self.edition + count_in(order, "editions", 1))
        return {"edition": self.edition, "version": self.stage, "now_ms": self.clock.now_ms()}

    def set_faults(self, order: dict[str, Any]) -> dict[str, Any]:
        """Shares of FAULTS by name, `dial`, the knobs of KNOBS, and `unavailable_as`."""
        shape = order.get("unavailable_as", "503")
        if shape not in UNAVAILABLE_AS:
            raise ValueError(f"unavailable_as is one of {', '.join(UNAVAILABLE_AS)}")
        knobs = {name: order.get(name, value) for name, value in KNOBS.items()}
        if any(type(value) is not int or value < 0 for value in knobs.values()):
            raise ValueError(f"{', '.join(KNOBS)} are numbers from 0")
        shares = {name: value for name, value in order.items() if name not in (*KNOBS, "unavailable_as")}
        self.dial = read_dial(shares, FAULTS)
        if self.dial.name != "calm" and "nonce_every" not in order:
            knobs["nonce_every"] = 40
        self.knobs, self.unavailable_as = knobs, shape
        self._asks.clear()
        self._all_asks = 0
        return {"dial": self.dial.name, **self.dial.shares, **knobs, "unavailable_as": shape}

    # --- requests

    def key(self, request: ServiceRequest) -> str:
        if request.path == pages.AJAX_PATH:
            return f"{request.base}{request.path}?fname={voice.letters(request.form().get('fname', ''))}"
        return f"{request.base}{request.path}"  # a signature is new each time

    def answer(self, request: ServiceRequest) -> ServiceAnswer:
        self._all_asks += 1
        if self.dial.is_out(self._all_asks):
            return _error(503)
        if request.host == BOX_HOST:
            return self._delayed(self._box(request))
        if self.knobs["blocked_after"] and self._all_asks > self.knobs["blocked_after"]:
            return ServiceAnswer(403, pages.block_page())
        routes: dict[str, Callable[[ServiceRequest], ServiceAnswer]] = {
            "/": lambda _: ServiceAnswer(200, pages.home_page()),
            "/robots.txt": lambda _: _text("User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n"),
            pages.LIST_PATH: self._list_page,
            pages.REGISTERS_PATH: self._list_page,
            pages.AJAX_PATH: self._ajax,
            f"{pages.UPLOADS}judgments.csv": self._judgments_csv,
            f"{pages.UPLOADS}public-registers.csv": lambda asked: self._csv(asked, self._registers_csv()),
        }
        route = routes.get(request.path)
        return self._delayed(route(request) if route else self._legacy(request))

    def _delayed(self, answer: ServiceAnswer) -> ServiceAnswer:
        if not self.delay_ms:
            return answer
        return ServiceAnswer(answer.status, answer.body, answer.headers, answer.wait_ms + self.delay_ms, answer.cut)

    def _fault(self, names: tuple[str, ...], about: str) -> str:
        self._asks[about] += 1
        return self.dial.fault(self.seed, names, about, self._asks[about])

    # --- pages and their sessions

    def _list_page(self, request: ServiceRequest) -> ServiceAnswer:
        if self._fault(PAGE_FAULTS, request.path):
            return _error(503)
        session = request.cookie(SESSION_COOKIE)
        headers = list(PLAIN)
        if session not in self._sessions:
            session = _digest(self.seed, "session", len(self._sessions))[:26]
            self._sessions[session] = len(self._sessions)
            headers.append(("set-cookie", f"{SESSION_COOKIE}={session}; path=/; HttpOnly; SameSite=Lax"))
        headers.append(("cache-control", "no-store"))
        form = self._sessions[session] % pages.NONCE_FORMS
        made = self._registers_page if request.path == pages.REGISTERS_PATH else self._judgments_page
        return ServiceAnswer(200, made(self._nonce(session), form), tuple(headers))

    def _judgments_page(self, nonce: str, form: int) -> bytes:
        rows = newest_first(rows_of(self.seed, self.stage))
        data = [
            {
                "cells": [row.citation, row.cause, row.date_text, row.title, row.subject, row.court, row.category],
                "files": list(row.tokens),
            }
            for row in rows
        ]
        header = HEADERS["v1"][:-1]
        return pages.list_page(
            title="Unreported Judgments",
            table_id="judgment-registers",
            header=header,
            rows=data,
            nonce=nonce,
            form=form,
        )

    def _registers_page(self, nonce: str, form: int) -> bytes:
        data = [{"cells": list(row), "files": [token]} for token, row in registers(self.seed).items()]
        header = ("Register Type", "Name", "Reference", "Date")
        return pages.list_page(
            title="Public Registers", table_id="public-registers", header=header, rows=data, nonce=nonce, form=form
        )

    def _nonce(self, session: str) -> str:
        """The nonce that is good now: bound to the session, new after so many posts or minutes."""
        every, minutes = self.knobs["nonce_every"], self.knobs["nonce_minutes"]
        turn = self._posts // every if every else 0
        period = self.clock.now_ms() // (minutes * 60_000) if minutes else 0
        return _digest(self.seed, "nonce", session, turn, period)[:10]

    # --- lists

    def _judgments_csv(self, request: ServiceRequest) -> ServiceAnswer:
        if self.stage == "v4":
            if self.unavailable_as == "html":
                return ServiceAnswer(200, pages.error_page("Service unavailable"))
            return _error(503) if self.unavailable_as == "503" else ServiceAnswer(200, b"", wait_ms=600_000, cut="none")
        return self._csv(request, csv_of(self.seed, self.stage), tagged=self.stage != "v1 again")

    def _csv(self, request: ServiceRequest, body: bytes, *, tagged: bool = True) -> ServiceAnswer:
        headers = [("content-type", "text/csv")]
        if tagged:
            tag = f'"{sha256(body).hexdigest()[:16]}"'
            day = datetime(2025, 6, self.edition, 6, 0, tzinfo=UTC)
            changed = f"{day:%a, %d %b %Y %H:%M:%S} GMT"
            headers += [("etag", tag), ("last-modified", changed)]
            asked = request.headers
            if tag == asked.get("if-none-match") or (
                "if-none-match" not in asked and asked.get("if-modified-since") == changed
            ):
                return ServiceAnswer(304, b"", tuple(headers))
        return ServiceAnswer(200, body, tuple(headers))

    def _registers_csv(self) -> bytes:
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow(("Register Type", "Name", "Reference", "Date"))
        writer.writerows(registers(self.seed).values())
        return out.getvalue().encode("utf-8-sig")

    # --- signed addresses

    def _ajax(self, request: ServiceRequest) -> ServiceAnswer:
        form = request.form()
        token = voice.letters(form.get("fname", ""))
        session = request.cookie(SESSION_COOKIE)
        is_ours = request.method == "POST" and form.get("action") == "dl_bfile"
        if not is_ours or request.headers.get("x-requested-with") != "XMLHttpRequest":
            return ServiceAnswer(400, b"0", PLAIN)
        good = session in self._sessions and form.get("security") == self._nonce(session)
        self._posts += 1
        if not good or (self.knobs["consent"] and not request.cookie("cookie_consent")):
            return REFUSED
        match self._fault(AJAX_FAULTS, f"ajax {token}"):
            case "session_lost":
                del self._sessions[session]
                self._sessions[f"lost {session}"] = 0  # the number of sessions made only grows
                return REFUSED
            case "ajax_false":
                return _json({"success": False, "data": {"message": "Unable to create link"}})
            case "ajax_zero":
                return ServiceAnswer(200, b"0", PLAIN)
            case "ajax_html":
                return ServiceAnswer(200, pages.error_page("Error"))
            case "ajax_500":
                return _error(500)
            case "ajax_429":
                return ServiceAnswer(429, b"", (*PLAIN, ("retry-after", "1")))
            case fault:
                return self._signed(request, token, is_expired=fault == "born_expired")

    def _signed(self, request: ServiceRequest, token: str, *, is_expired: bool) -> ServiceAnswer:
        if file_of(self.seed, token) is None:
            return _json({"success": False, "data": {"message": "File not found"}})
        port = request.base.rpartition(":")[2]
        until = self.clock.now_ms() // 1000 + (-1 if is_expired else self.knobs["signed_s"])
        path = f"/d/1/{token}/download"
        url = f"http://{BOX_HOST}:{port}{path}?expires={until}&signature={self._signature(path, until)}"
        body = json.dumps({"success": True, "data": {"fid": url}}).replace("/", "\\/")
        return ServiceAnswer(200, body.encode(), JSON)

    def _signature(self, path: str, until: int) -> str:
        return _digest(self.seed, "signature", path, until)

    # --- files

    def _box(self, request: ServiceRequest) -> ServiceAnswer:
        parts = request.path.split("/")
        asked = request.asked()
        until = int(asked["expires"]) if asked.get("expires", "").isdecimal() else 0
        signed = asked.get("signature") == self._signature(request.path, until)
        body = file_of(self.seed, parts[3]) if len(parts) == 5 and request.path.startswith("/d/1/") else None
        if body is None or not signed:
            return _error(404)
        if self.clock.now_ms() >= until * 1000:
            return _error(401 if chance(self.seed, "expired", parts[3]) < 0.5 else 404)
        return self._file(parts[3], body)

    def _file(self, token: str, body: bytes) -> ServiceAnswer:
        named = (("content-type", "application/pdf"), ("content-disposition", f'attachment; filename="{token}.pdf"'))
        match self._fault(FILE_FAULTS, f"file {token}"):
            case "html_for_pdf":
                return ServiceAnswer(200, pages.error_page("Sign in to Box"))
            case "tiny_pdf":
                return ServiceAnswer(200, body[:700], named)
            case "cut_half":
                return ServiceAnswer(200, body, named, cut="half")
            case "cut_short":
                return ServiceAnswer(200, body, named, cut="short")
            case "reset":
                return ServiceAnswer(200, body, named, cut="none")
            case "box_429":
                return ServiceAnswer(429, b"", (*PLAIN, ("retry-after", "1")))
            case "box_429_bare":
                return ServiceAnswer(429, b"")
            case "box_503":
                return _error(503)
            case fault:
                return ServiceAnswer(200, body, named, wait_ms=SLOW_MS if fault == "slow" else 0)

    def _legacy(self, request: ServiceRequest) -> ServiceAnswer:
        token = request.path.removeprefix(pages.UPLOADS).removesuffix(".pdf")
        body = file_of(self.seed, token) if has_legacy_path(self.seed, token) else None
        if body is None or not request.path.startswith(pages.UPLOADS):
            return _error(404)
        return ServiceAnswer(200, body, (("content-type", "application/pdf"),))


def make(seed: int, pages_count: int | None, delay_ms: int | None) -> JudgmentsSite:
    if pages_count is not None:
        raise ValueError("the judgments are as many as their versions say")
    return JudgmentsSite(seed, delay_ms=delay_ms or 0)


def _digest(*about: object) -> str:
    return blake2b(repr(about).encode(), digest_size=16).hexdigest()


def _json(answer: dict[str, Any]) -> ServiceAnswer:
    return ServiceAnswer(200, json.dumps(answer).encode(), JSON)


def _error(status: int) -> ServiceAnswer:
    return ServiceAnswer(status, pages.error_page({401: "Unauthorized", 404: "Page not found"}.get(status, "Error")))


def _text(text: str) -> ServiceAnswer:
    return ServiceAnswer(200, text.encode(), (("content-type", "text/plain; charset=UTF-8"),))
