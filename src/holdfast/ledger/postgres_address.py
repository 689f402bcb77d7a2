"""The address of a PostgreSQL ledger, checked before anybody is asked. What is said of it quotes nothing of it: any
character that is wrong may be one of the password.
"""

from __future__ import annotations

import re

import psycopg
from psycopg.conninfo import conninfo_to_dict

from holdfast.errors import BadParams

FORM = "--database postgresql://USER:PASSWORD@HOST:PORT/NAME; in USER and PASSWORD write @ as %40, / as %2F, % as %25"
PORT_MAX = 65535
NOT_ESCAPED = "a character in its user name or password must be written in another way"
NO_PORT = f"its port is not a number from 1 to {PORT_MAX}"
NO_OPTIONS = "what stands behind its ? is not NAME=VALUE&NAME=VALUE of options that PostgreSQL has"
NO_HOST = "its host is not written as one"
_WHO = re.compile(r"(?<=://).*@", re.DOTALL)


def check_address(url: str) -> None:
    """BadParams where no server can be meant by it."""
    wrong = _wrong_with(url)
    if wrong:
        raise BadParams(f"the address of the PostgreSQL ledger cannot be read: {wrong}", hint=FORM)


def _wrong_with(url: str) -> str:
    address = url.partition("?")[0]
    who = address.partition("://")[2].rpartition("@")[0]
    if not who.startswith("/") and re.search("[@/]", who):
        return NOT_ESCAPED
    if _is_readable(url):
        ports = str(conninfo_to_dict(url).get("port", "")).split(",")
        return "" if all(map(_is_port, ports)) else NO_PORT
    if address != url and _is_readable(address):
        return NO_OPTIONS
    return NOT_ESCAPED if "@" in address and _is_readable(_WHO.sub("", address)) else NO_HOST


def _is_readable(url: str) -> bool:
    try:
        conninfo_to_dict(url)
    except psycopg.Error:
        return False
    return True


def _is_port(text: str) -> bool:
    return text == "" or (re.fullmatch("[0-9]{1,5}", text) is not None and 0 < int(text) <= PORT_MAX)
