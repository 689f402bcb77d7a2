"""One writer of status: SQL that changes one stands in ledger/ only, the lifecycle tables in model/states.py only."""

from __future__ import annotations

import ast
import re

import pytest

from tidy.source_tree import ROOT, our_package, string_constants

TABLES = r"(?:job|chunk|target|run)s?"
STATUS = r"(?:status|state)"
ASSIGNS_STATUS = rf"(?:\b{STATUS}\"?\s*=|\([^)]*\b{STATUS}\b[^)]*\)\s*=)"
UPDATE = re.compile(
    rf"\bUPDATE\s+(?:ONLY\s+)?(?:\w+\.)?\"?{TABLES}\"?\s+(?:AS\s+)?(?:\w+\s+)?SET\b(?P<sets>.*?)(?:\bWHERE\b|\bRETURNING\b|;|\Z)",
    re.IGNORECASE | re.DOTALL,
)
UPSERT = re.compile(
    rf"\bINSERT\s+(?:OR\s+\w+\s+)?INTO\s+(?:\w+\.)?\"?{TABLES}\"?\s*\((?P<columns>[^)]*)\)", re.IGNORECASE | re.DOTALL
)


def writes_status(sql: str) -> bool:
    """Whether this text changes a status in one of the lifecycle's tables, or makes a row that has one."""
    updates = any(re.search(ASSIGNS_STATUS, each["sets"], re.IGNORECASE) for each in UPDATE.finditer(sql))
    return updates or any(re.search(rf"\b{STATUS}\b", each["columns"], re.IGNORECASE) for each in UPSERT.finditer(sql))


def move_tables(tree: ast.Module) -> list[str]:
    """The lifecycle tables that a module defines: names given to something that holds rows made by `Move(…)`."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, (ast.Assign, ast.AnnAssign)) and _has_rows(node)]
    return [ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target) for node in assigned]


def _has_rows(node: ast.AST) -> bool:
    calls = [ast.unparse(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)]
    return any(name.rpartition(".")[2] == "Move" for name in calls)


def test_only_the_ledger_writes_a_status() -> None:
    found = [
        f"{module.path}:{line} writes a status; only ledger/ does, through a verb of Jobs or Work"
        for module in our_package().values()
        if module.part != "ledger"
        for line, text in string_constants(module.tree)
        if writes_status(text)
    ]
    assert not found, "\n" + "\n".join(found)


def test_no_sql_file_outside_the_ledger_writes_a_status() -> None:
    package = ROOT / "src" / "holdfast"
    outside = [file for file in package.rglob("*.sql") if "ledger" not in file.relative_to(package).parts[:1]]
    assert not [str(file.relative_to(ROOT)) for file in outside if writes_status(file.read_text())]


def test_only_model_states_defines_the_lifecycle_tables() -> None:
    homes = {name: module.path for module in our_package().values() for name in move_tables(module.tree)}
    assert homes == dict.fromkeys(("JOB_MOVES", "CHUNK_MOVES", "TARGET_MOVES"), "model/states.py")


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE job SET status = 'paused' WHERE id = ?",
        "update target set attempts=attempts+1, state=3 where id=?",
        "WITH x AS (SELECT 1) UPDATE target AS t SET held_epoch = 1, state = 0 FROM x",
        "UPDATE job SET (version, status) = (1, 'paused')",
        'UPDATE "job" SET "status" = ?',
        "UPDATE main.chunk\n   SET state = 'idle'",
        "INSERT INTO target (job, key, state) VALUES (?, ?, 4)",
        "INSERT OR REPLACE INTO job(id, status) VALUES (?, ?)",
    ],
)
def test_a_statement_that_writes_a_status_is_found(sql: str) -> None:
    assert writes_status(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT status FROM job WHERE state = 3",
        "UPDATE target SET attempts = 1 WHERE state = 3",
        "UPDATE host SET status = 200",
        "INSERT INTO attempt (target, status) VALUES (?, 200)",
        "an update on the job: set aside its status",
    ],
)
def test_a_statement_that_only_reads_one_is_left_alone(sql: str) -> None:
    assert not writes_status(sql)


def test_a_lifecycle_table_elsewhere_is_found() -> None:
    text = "RUN_MOVES: tuple = (states.Move('start', 'a', 'b'),)\nsteps = [Move()]\nVERBS = {'start': 1}"
    assert move_tables(ast.parse(text)) == ["RUN_MOVES", "steps"]


def test_sql_in_an_f_string_is_read_as_one_text_and_a_docstring_is_not() -> None:
    tree = ast.parse('"""UPDATE job SET status = 1"""\nquery = f"UPDATE job SET {column} = 1, status = {value}"')
    assert [text for _, text in string_constants(tree) if writes_status(text)] == ["UPDATE job SET {} = 1, status = {}"]
