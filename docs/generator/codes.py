"""The page of failure codes, from the table of model/codes.py."""

from __future__ import annotations

from generator.markdown import page, table, yes

from holdfast.model.codes import CODES

# In the table for what comes; a test makes sure that nothing gives them yet.
RESERVED = ("disk_full", "stale", "lost_lease")
HEAD = ("code", "means", "tried again", "attempts", "whose side", "slows the host", "pauses the job")


def failure_codes() -> str:
    return page(
        "Failure codes",
        "Every failed target carries one of these codes, and the decision about another attempt reads only this table "
        "(`model/codes.py`). *Attempts* is the cap for that cause; *job* means the job's own limit (`--max-attempts`, "
        "3). The wait before another attempt doubles from 1 s up to 30 s; a `Retry-After` of the host is obeyed, up to "
        "a day. A code that slows the host makes every page of that host wait, in this job and in every other. Where "
        "no attempt is spent, the page is given back: the job pauses, or nothing is fetched for a while, 0.25 s at "
        "first, up to 30 s.",
        table(HEAD, [_row(name) for name in CODES if name not in RESERVED]),
        "See them with `holdfast targets JOB --where 'status:failed'`, those of one code with "
        "`holdfast targets JOB --where 'code:http_404'`.",
        "## Not given yet\n\nThese are part of the table, and nothing in this version fails a target with them. "
        "A full disk pauses the whole job instead, and a lost lease drops the work without a word about the target.",
        table(HEAD, [_row(name) for name in CODES if name in RESERVED]),
    )


def _row(name: str) -> tuple[object, ...]:
    code = CODES[name]
    cap = "none spent" if code.hands_back else (code.attempts or "job") if code.retryable else ""
    return f"`{name}`", code.meaning, yes(code.retryable), cap, code.fault, yes(code.slows_host), yes(code.pauses_job)
