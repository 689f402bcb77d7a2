"""A reference walker of the judgments site: plain standard library, no Holdfast. About a page, as a patient person
works.

It reads the CSV for what is listed, loads the page for cookies and nonce, asks for each signed address and fetches
it.
"""

from __future__ import annotations

import csv
import hashlib
import html
import http.client
import io
import json
import re
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

LIST = "/judgments/unreported-judgments/"
CSV = "/wp-content/uploads/box_files/judgments.csv"
AJAX = "/wp-admin/admin-ajax.php"
NONCE = re.compile(r"""(?:"?security"?|"?_nonce"?|data-security)["']?\s*[:=]\s*["']([0-9a-f]{10})["']""")
TRIES = 6


def ask(
    url: str, form: dict[str, str] | None = None, headers: dict[str, str] | None = None
) -> tuple[int, http.client.HTTPMessage, bytes]:
    """(status, headers, body); a body that ends early has what came."""
    at = urlsplit(url)
    connection = http.client.HTTPConnection(at.netloc, timeout=20)
    try:
        sent = dict(headers or {})
        if form is not None:
            sent |= {"Content-Type": "application/x-www-form-urlencoded", "X-Requested-With": "XMLHttpRequest"}
        path = f"{at.path}?{at.query}" if at.query else at.path
        connection.request("GET" if form is None else "POST", path, urlencode(form) if form else None, sent)
        response = connection.getresponse()
        try:
            body = response.read()
        except http.client.IncompleteRead as cut:
            body = cut.partial
        return response.status, response.headers, body
    finally:
        connection.close()


def tokens_of(cell: str) -> list[str]:
    if named := re.search(r'data-dl="([^"]+)"|fname=([^"&]+)', cell):
        cell = named[1] or named[2]
    plain = html.unescape(unquote(cell)).replace("\u00a0", " ")
    parts = re.split(r"[\s|,;/\\]+", plain.upper())
    return [token for part in parts if re.search(r"\d", token := re.sub(r"[^A-Z0-9]", "", part))]


class Session:
    """The cookies and the nonce of one page load, renewed whenever the site refuses them."""

    def __init__(self, base: str) -> None:
        self.base, self.cookie, self.nonce, self.loads = base, "", "", 0

    def load(self) -> None:
        for _ in range(TRIES):
            status, headers, body = ask(self.base + LIST, headers={"Cookie": self.cookie} if self.cookie else {})
            if status == 200:
                break
        self.loads += 1
        if "set-cookie" in headers:
            self.cookie = headers["set-cookie"].partition(";")[0]
        found = NONCE.search(body.decode())
        assert found, "a page without a nonce"
        self.nonce = found[1]

    def file(self, token: str) -> bytes:
        for _ in range(TRIES):
            if not self.nonce:
                self.load()
            form = {"action": "dl_bfile", "fid": token, "fname": token, "security": self.nonce}
            status, _, body = ask(self.base + AJAX, form, {"Cookie": self.cookie})
            if status == 403:
                self.nonce = ""
                continue
            try:
                answer = json.loads(body)
                url = answer["data"]["fid"]
            except (ValueError, KeyError, TypeError):
                continue
            status, headers, pdf = ask(url)
            whole = len(pdf) == int(headers.get("content-length", -1)) and pdf.rstrip().endswith(b"%%EOF")
            if status == 200 and pdf.startswith(b"%PDF") and len(pdf) >= 1024 and whole:
                return pdf
        raise AssertionError(f"no file for {token}")


def walk(base: str) -> dict[str, Any]:
    """Every civil token of the current list with the hash of its file, and what the list says of each."""
    rows = list(csv.DictReader(io.StringIO(ask(base + CSV)[2].decode("utf-8-sig"), newline="")))
    named = next(name for name in rows[0] if name in ("Actions", "Action"))
    titled = next(name for name in rows[0] if name in ("Title", "Case Title"))
    session = Session(base)
    titles: dict[str, str] = {}
    criminal: set[str] = set()
    for row in rows:
        for token in tokens_of(row[named]):
            titles.setdefault(token, row[titled])
            if "crim" in row["Category"].lower():
                criminal.add(token)
    files = {token: hashlib.sha256(session.file(token)).hexdigest() for token in titles if token not in criminal}
    return {"titles": titles, "criminal": criminal, "files": files, "page_loads": session.loads}
