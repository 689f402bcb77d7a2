"""What PostgreSQL and its driver say, in our words: by SQLSTATE, since a server's sentences are in its own language."""

from __future__ import annotations

import os
import re
import select
import shlex

import psycopg
from psycopg import errors as pg
from psycopg import pq

from holdfast.errors import BadParams, Denied, DiskFull, HoldfastError, LedgerUnavailable, LedgerUnfit

DISK_FULL = pg.DiskFull.sqlstate
NO_DATABASE = pg.InvalidCatalogName.sqlstate
NOT_LET_IN = (
    pg.InsufficientPrivilege.sqlstate,
    pg.InvalidAuthorizationSpecification.sqlstate,
    pg.InvalidPassword.sqlstate,
)
# A process that was stopped inside a transaction, and a server that is being promoted: both pass.
PASSING = (pg.IdleInTransactionSessionTimeout, pg.ReadOnlySqlTransaction)
# A connection that is refused has no SQLSTATE in libpq. In English, which is most, the words do as well.
_WORDS = (
    (
        re.compile(
            r'authentication failed|no password supplied|role ".*" (does not exist|is not permitted)'
            r"|no pg_hba.conf entry"
        ),
        pg.InvalidAuthorizationSpecification.sqlstate,
    ),
    (re.compile(r'FATAL: +database ".*" does not exist'), NO_DATABASE),
)
_HEARD = re.compile(rb'\tErrorResponse\t.*? C "([0-9A-Z]{5})"')
ANSWER_S = 5.0
WAITS = {pq.PollingStatus.READING: select.POLLIN, pq.PollingStatus.WRITING: select.POLLOUT}


def translated(error: psycopg.Error, code: str | None = None) -> HoldfastError:
    """What the driver says, in our words. Only what may pass by itself is LedgerUnavailable: that is waited for."""
    text = " ".join(str(error).split())
    code = code or error.sqlstate or next((code for words, code in _WORDS if words.search(text)), None)
    if code == DISK_FULL:
        return DiskFull(f"PostgreSQL has no room left: {text}")
    if code in NOT_LET_IN:
        return Denied(f"PostgreSQL does not let this user in: {text}", hint="check the user and password of --database")
    if code == NO_DATABASE:
        name = "" if error.pgconn is None else error.pgconn.db.decode(errors="replace")
        hint = f"createdb {shlex.quote(name)}, or check the name in --database"
        return BadParams(f'PostgreSQL has no database "{name}"', hint=hint)
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, *PASSING)):
        return LedgerUnavailable(f"PostgreSQL did not answer: {text}")
    return LedgerUnfit(f"PostgreSQL refused: {text}")


def not_connected(error: psycopg.Error, conninfo: str) -> HoldfastError:
    """Why there is no connection. What is not understood is asked once more, by its SQLSTATE."""
    told = translated(error)
    if not isinstance(told, LedgerUnavailable) or error.pgconn is None or isinstance(error, pg.ConnectionTimeout):
        return told
    code = _sqlstate_heard(conninfo)
    return told if code is None else translated(error, code)


def _sqlstate_heard(conninfo: str) -> str | None:
    """With which SQLSTATE a server refuses us, if it does: libpq keeps only the sentence, but its trace has both.

    The trace has the password as it is sent, so it is kept in memory. Older libpqs trace no beginnings, and the driver
    none outside Linux: then nothing is heard.
    """
    if not hasattr(os, "memfd_create"):
        return None
    trace = os.memfd_create("trace")
    try:
        connection = pq.PGconn.connect_start(conninfo.encode())
        try:
            connection.trace(trace)
            _poll(connection)
        finally:
            connection.untrace()  # only now is all of it in the trace, and none of it left to be written elsewhere
            connection.finish()
        said = _HEARD.search(os.pread(trace, os.fstat(trace).st_size, 0))
        return None if said is None else said[1].decode()
    except psycopg.Error:
        return None
    finally:
        os.close(trace)


def _poll(connection: pq.abc.PGconn) -> None:
    """To the end of the attempt, whichever it is, or until nothing comes any more."""
    while connection.status != pq.ConnStatus.BAD and (wait := _awaited(connection)) is not None:
        waiting = select.poll()
        waiting.register(connection.socket, wait)
        if not waiting.poll(ANSWER_S * 1000):
            return


def _awaited(connection: pq.abc.PGconn) -> int | None:
    return WAITS.get(pq.PollingStatus(connection.connect_poll()))
