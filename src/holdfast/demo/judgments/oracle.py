"""What a correct collection of the judgments site holds, folded over the versions published so far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from holdfast.demo.judgments.docket import GOOD, STAGES, ListedRuling, rows_of
from holdfast.demo.judgments.files import file_of, registers


@dataclass(slots=True)
class _Fold:
    """The cases as one version after the other is read; what the last one changed."""

    cases: dict[str, dict[str, Any]] = field(default_factory=dict)
    last: dict[str, list[str]] = field(default_factory=dict)

    def read(self, version: str, rows: tuple[ListedRuling, ...]) -> None:
        listed: dict[str, dict[str, Any]] = {}
        for row in rows:
            for token in row.tokens:
                listed.setdefault(token, _said(row))
        before = dict(self.cases)
        self.last = {
            "new": [token for token in listed if token not in before],
            "changed": [token for token in listed if token in before and _differs(before[token], listed[token])],
            "removed": [token for token, case in before.items() if case["is_active"] and token not in listed],
            "returned": [token for token in listed if token in before and not before[token]["is_active"]],
        }
        self.cases = {token: {**case, "is_active": False} for token, case in before.items()}
        for token, said in listed.items():
            first = before[token]["first_seen"] if token in before else version
            self.cases[token] = {**said, "is_active": True, "first_seen": first, "last_seen": version}


def oracle_of(seed: int, stage: str, base: str) -> dict[str, Any]:
    """`stage` is one of docket.STAGES. A bad list leaves the cases as the last good one made them."""
    reached = STAGES[: STAGES.index(stage) + 1]
    good = [version for version in GOOD if version in reached]
    fold = _Fold()
    for version in good:
        fold.read(version, rows_of(seed, version))
    is_news = stage in GOOD
    rows = rows_of(seed, good[-1])
    collectable = [case for case in fold.cases.values() if case["is_active"] and not case["is_criminal"]]
    return {
        "seed": seed,
        "seeds": [f"{base}/judgments/unreported-judgments/"],
        "version": stage,
        "current": good[-1],
        "list_is_valid": stage not in ("v3", "v4"),
        "rows": len(rows),
        "cases": [{"token": token, **case, **_file(seed, token)} for token, case in sorted(fold.cases.items())],
        "rows_without_file": sum(not row.tokens for row in rows),
        "rows_repeated": sum(len(row.tokens) for row in rows) - len({t for row in rows for t in row.tokens}),
        "cases_total": sum(case["is_active"] for case in fold.cases.values()),
        "cases_planned": len(collectable),
        **{name: sorted(keys) if is_news else [] for name, keys in fold.last.items()},
        "registers": [_register(seed, token, row) for token, row in sorted(registers(seed).items())],
    }


def _said(row: ListedRuling) -> dict[str, Any]:
    return {
        "title": row.title,
        "cause_number": row.cause,
        "court": row.court,
        "category": row.category,
        "subject": row.subject,
        "judgment_date": row.day.isoformat() if row.is_dated else "",
        "is_criminal": row.is_criminal,
    }


def _differs(before: dict[str, Any], said: dict[str, Any]) -> bool:
    return any(before[name] != value for name, value in said.items())


def _file(seed: int, token: str) -> dict[str, Any]:
    body = file_of(seed, token) or b""
    return {"sha256": sha256(body).hexdigest(), "bytes": len(body), "path": f"{token}.pdf"}


def _register(seed: int, token: str, row: tuple[str, str, str, str]) -> dict[str, Any]:
    kind, name, reference, day = row
    said = {"register_type": kind, "name": name, "reference": reference, "date": day}
    return {"token": token, **said, **_file(seed, token)}


def tokens_in(oracle: dict[str, Any]) -> Iterator[str]:
    """Those that a complete collection holds."""
    return (case["token"] for case in oracle["cases"] if case["is_active"] and not case["is_criminal"])
