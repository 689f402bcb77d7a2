"""The address of a PostgreSQL ledger, checked before anybody is asked. What is said of it holds no password."""

from __future__ import annotations

import re

import psycopg
from psycopg.conninfo import conninfo_to_dict

from holdfast.errors import BadParams

FORM = "--database postgresql://USER:PASSWORD@HOST:PORT/NAME; in USER and PASSWORD write @ as %40, / as %2F, % as %25"
PORT_MAX = 65535
_WHO = re.compile(r"//.*@")
_PASSWORD = re.compile(r"(?<=password=)[^&]*")


def check_address(url: str) -> None:
    """BadParams where no server can be meant by it."""
    wrong = _wrong_with(url)
    if wrong:
        raise BadParams(f"the address of the PostgreSQL ledger cannot be read: {wrong}", hint=FORM)


def _wrong_with(url: str) -> str:
    """In the driver's words where they cannot quote a secret: what is told of is an address without one."""
    if told := _unreadable(_PASSWORD.sub("", _WHO.sub("//", url))):
        return told
    who = url.partition("?")[0].partition("//")[2].rpartition("@")[0]
    if "@" in who or "/" in who or _unreadable(url):
        return "a character in its user name or password must be written in another way"
    ports = str(conninfo_to_dict(url).get("port", "")).split(",")
    if not all(port == "" or (re.fullmatch("[0-9]+", port) and 0 < int(port) <= PORT_MAX) for port in ports):
        return f"its port is not a number from 1 to {PORT_MAX}"
    return ""


def _unreadable(url: str) -> str:
    try:
        conninfo_to_dict(url)
    except psycopg.Error as error:
        return " ".join(str(error).split())
    return ""
