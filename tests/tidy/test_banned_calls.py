"""Time, files and chance come from their seams, so that a test can hold them; this names who else may touch them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from fnmatch import fnmatch

import pytest

from tidy.source_tree import our_package, references, walk_with_context


@dataclass(frozen=True, slots=True)
class Ban:
    """Names that are banned, what to use instead, and who is excused: file pattern (or pattern::function) and why."""

    names: frozenset[str]
    instead: str
    allowed: dict[str, str]


# fmt: off
BANS: dict[str, Ban] = {
    "clock": Ban(
        frozenset({
            "time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter",
            "time.perf_counter_ns", "time.clock_gettime", "time.clock_gettime_ns", "datetime.datetime.now",
            "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today",
        }),
        "ask the clock you were handed: wall_ms() or monotonic_ms()",
        {
            "clock.py": "it is the clock",
            "demo/*":   "the simulated sites live in real time, outside what they witness",
        },
    ),
    "sleep": Ban(
        frozenset({"time.sleep", "asyncio.sleep"}),
        "wait with the clock's wait(), or clock.pause_thread on the ledger thread; asyncio.sleep(0) may stay",
        {
            "clock.py": "it is the clock",
            "demo/*":   "a slow site is slow in real time",
        },
    ),
    "open": Ban(
        frozenset({"open", "os.open", "os.fdopen", "io.open", ".write_text", ".write_bytes", ".open"}),
        "keep bytes through the Blobs port; settings come from config.py",
        {
            "blobs/*":                    "the adapter that keeps bytes",
            "cli/main.py::_open_closed_streams": "/dev/null where the shell left no standard stream",
            "config.py":                  "reads the settings file",
            "control/list_store.py::_locked": "a lock file; nothing is read from it",
            "recipes/documents/list_file.py": "reads a stored list row by row, and writes nothing",
            "demo/*":                     "a site's own log is a witness outside the ledger",
            "testing/postgres.py":        "writes the password file of a throw-away cluster",
            "testing/postgres_keeper.py": "writes the log of a throw-away cluster",
        },
    ),
    "rename": Ban(
        frozenset({"os.rename", "os.renames", "os.replace", "shutil.move", ".rename", ".replace"}),
        "publish a file through publish() in blobs/: written beside, synced, renamed, folder synced",
        {
            "blobs/*::publish": "the one function that makes a file appear whole",
            "blobs/publish.py::put_in_place": "a file that is whole and durable already gets its name",
        },
    ),
    "dataclass replace": Ban(
        frozenset({"dataclasses.replace", "dataclasses.asdict"}),
        "values are structs, for which these fail when they run: take them from msgspec.structs",
        {},
    ),
    "random": Ban(
        frozenset({"random"}),
        "draw from the random.Random you were handed; import it for its type under TYPE_CHECKING",
        {
            "clock.py":  "jitter from a source that is handed in",
            "wiring/sessions.py": "makes the one source that everybody is handed",
            "demo/*":    "worlds are made from a seed",
            "testing/*": "faults are drawn from a seed",
        },
    ),
    "print": Ban(
        frozenset({"print"}),
        "log it, or return it to the CLI, which prints",
        {
            "cli/*":               "it talks to people",
            "demo/serve*.py":      "says where the site is served",
            "demo/engines/serve.py": "says where the engines are served",
            "testing/postgres.py": "as a command it says how long the start took",
        },
    ),
}
# fmt: on


def offences(path: str, text: str) -> list[str]:
    """Every banned use in one file, one sentence each."""
    tree = ast.parse(text)
    functions = _function_of_each_node(tree)
    found = [
        f"{path}:{node.lineno} uses {name}: {ban.instead}"
        for node, name in [*_named_uses(tree), *_method_uses(tree)]
        for ban in BANS.values()
        if _falls_under(name, ban) and not _excused(path, functions.get(id(node), ""), ban)
    ]
    return list(dict.fromkeys(found))


def _named_uses(tree: ast.AST) -> list[tuple[ast.expr | ast.stmt, str]]:
    harmless = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call) and _only_yields(node)}
    uses = [(node, name) for node, name in references(tree) if id(node) not in harmless]
    # `from asyncio import sleep` alone says nothing yet: its uses are judged.
    return [(node, name) for node, name in uses if not (name == "asyncio.sleep" and isinstance(node, ast.ImportFrom))]


def _only_yields(call: ast.Call) -> bool:
    """`asyncio.sleep(0)` waits for nothing: it lets other tasks run."""
    return ast.unparse(call.func) in ("asyncio.sleep", "sleep") and [ast.unparse(arg) for arg in call.args] == ["0"]


def _method_uses(tree: ast.AST) -> list[tuple[ast.expr, str]]:
    """Methods that only paths have. A lone positional argument tells Path.replace and .rename from those of strings."""
    imported = {name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in _bound(node)}
    found: list[tuple[ast.expr, str]] = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner))) if owner in imported:
                continue  # a function of a module: judged by its full name
            case ast.Call(func=ast.Attribute(attr="replace" | "rename" as method), args=[_], keywords=[]):
                found.append((node, f".{method}"))
            case ast.Call(func=ast.Attribute(attr="write_text" | "write_bytes" as method)):
                found.append((node, f".{method}"))
            case ast.Call(func=ast.Attribute(attr="open"), args=[ast.Constant(value=str(mode)), *_]) if _is_mode(mode):
                found.append((node, ".open"))
    return found


def _is_mode(text: str) -> bool:
    """`path.open("rb")` opens a file, `ledger.open("frogs")` does not."""
    return set(text) <= set("rwxabt+")


def _bound(node: ast.Import) -> list[str]:
    return [alias.asname or alias.name.partition(".")[0] for alias in node.names]


def _falls_under(name: str, ban: Ban) -> bool:
    return name in ban.names or ("random" in ban.names and name.startswith("random."))


def _excused(path: str, function: str, ban: Ban) -> bool:
    for pattern in ban.allowed:
        file_pattern, _, wanted = pattern.partition("::")
        if fnmatch(path, file_pattern) and wanted in ("", function):
            return True
    return False


def _function_of_each_node(tree: ast.AST) -> dict[int, str]:
    found: dict[int, str] = {}
    for function, _lazy, _typing in walk_with_context(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.update(dict.fromkeys(map(id, ast.walk(function)), function.name))
    return found


def test_holdfast_calls_nothing_that_is_banned() -> None:
    found = [offence for module in our_package().values() for offence in offences(module.path, module.text)]
    assert not found, "\n" + "\n".join(found)


def test_only_one_function_publishes_files() -> None:
    publishers = [
        f"{module.path}:{node.lineno}"
        for module in our_package().values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef) and node.name == "publish" and module.path.startswith("blobs/")
    ]
    assert len(publishers) <= 1, f"several functions publish files: {publishers}"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("engine/worker.py", "import time\nstart = time.time()"),
        ("engine/worker.py", "import time as t\nt.sleep(1)"),
        ("engine/worker.py", "from time import monotonic as m\nstart = m()"),
        ("engine/worker.py", "import time\ndef f(now=time.time): ..."),
        ("policy/retry.py", "import datetime\ndatetime.datetime.now()"),
        ("policy/retry.py", "from datetime import datetime\ndatetime.now(tz=None)"),
        ("engine/worker.py", "import asyncio\nasync def f():\n    await asyncio.sleep(1)"),
        ("engine/worker.py", "from asyncio import sleep\nasync def f():\n    await sleep(delay)"),
        ("engine/worker.py", "with open('x') as file: ..."),
        ("ledger/sqlite.py", "import os\nos.open('x', os.O_RDONLY)"),
        ("engine/worker.py", "path.write_text('x')"),
        ("engine/worker.py", "path.open('rb')"),
        ("blobs/files.py", "import os\ndef keep():\n    os.replace('a', 'b')"),
        ("blobs/files.py", "from os import rename"),
        ("engine/worker.py", "path.replace(target)"),
        ("engine/worker.py", "import random"),
        ("policy/retry.py", "from random import uniform"),
        ("engine/worker.py", "print('here')"),
        ("demo/world.py", "print('here')"),
    ],
)
def test_each_banned_use_is_found(path: str, text: str) -> None:
    assert offences(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("clock.py", "import time\ntime.sleep(1)"),
        ("demo/origin.py", "import time\ntime.monotonic()"),
        ("engine/worker.py", "from datetime import datetime, UTC\ndatetime.fromtimestamp(0, tz=UTC)"),
        ("engine/worker.py", "import asyncio\nasync def f():\n    await asyncio.sleep(0)"),
        ("blobs/files.py", "import os\ndef publish():\n    os.replace('a', 'b')"),
        ("policy/retry.py", "if TYPE_CHECKING:\n    from random import Random\ndef f(source: Random): ..."),
        ("policy/retry.py", "if TYPE_CHECKING:\n    import random\ndef f(source: random.Random): ..."),
        ("engine/worker.py", "'a'.replace('a', 'b')"),
        ("engine/worker.py", "import msgspec\nmsgspec.structs.replace(target, attempts=3)"),
        ("engine/worker.py", "ledger.open()\nself.time()\nreport.print()"),
        ("policy/retry.py", "def delay(random):\n    return random.uniform(0, 1)"),
        ("model/job.py", "class Door:\n    open: bool"),
        ("cli/main.py", "print('hello')"),
    ],
)
def test_a_lawful_use_is_left_alone(path: str, text: str) -> None:
    assert offences(path, text) == []


def test_the_message_names_the_replacement() -> None:
    [message] = offences("engine/worker.py", "import time\ntime.time()")
    assert message == "engine/worker.py:2 uses time.time: ask the clock you were handed: wall_ms() or monotonic_ms()"
