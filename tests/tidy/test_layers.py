"""Imports go down only, siblings do not know each other, adapters are known to wiring alone, and nothing is a cycle."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidy.source_tree import PACKAGE, Import, Module, imports_of, our_package, read_package

# fmt: off
LAYERS: dict[str, int] = {
    "errors":  0, "clock":   0, "faults": 0, "version": 0, "roots": 0, "cores": 0,
    "model":   1,
    "policy":  2, "audit":   2,
    "ports":   3, "recipe":  3,
    "engine":  4, "ledger":  4, "fetch":  4, "blobs":   4, "hot":    4, "recipes": 4,
    "control": 5, "views":   5, "config": 5, "wiring":  5, "health_checks": 5,
    "dispatch": 6,
    "client":  7, "api":     7, "demo":   7, "testing": 7,
    "dash":    8, "cli":     8, "__main__": 9,
}

# Imports between parts of one layer, each with its reason. Layer 4 has none, ever.
SIDEWAYS: dict[tuple[str, str], str] = {
    ("faults",   "errors"):  "an armed point raises our own errors",
    ("faults",   "clock"):   "an armed point may delay",
    ("recipe",   "ports"):   "a step is handed a Fetcher",
    ("wiring",   "config"):  "settings in, objects out",
    ("health_checks", "config"):  "reading the settings is its first check",
    ("health_checks", "wiring"):  "it looks at the objects that settings make",
    ("demo",     "client"):  "the demo uses Holdfast as its users do",
    ("testing",  "client"):  "recipe authors' tests submit jobs",
    ("testing",  "demo"):    "the fake web serves the demo's worlds",
    ("cli",      "dash"):    "`serve` starts the dashboard",
}

ADAPTERS = frozenset({"ledger", "fetch", "blobs", "hot"})
MAY_IMPORT_ADAPTERS = frozenset({"wiring", "testing"})

# Downward imports that are forbidden all the same.
APART: dict[tuple[str, str], str] = {
    ("engine", "audit"): "the judge shares nothing with the judged",
}
# fmt: on


def violations(modules: dict[str, Module]) -> list[str]:
    """Every broken rule in these modules, one sentence each."""
    unknown = [
        f"{module.path} has no layer: give it a row in LAYERS" for module in modules.values() if not _has_layer(module)
    ]
    imports = [each for module in modules.values() for each in imports_of(module, modules)]
    judged = [f"{each}: {complaint}" for each in imports if (complaint := complaint_about(each))]
    return unknown + judged + [f"import cycle: {' -> '.join(cycle)}" for cycle in cycles(modules, imports)]


def complaint_about(each: Import) -> str | None:
    importer, imported = each.importer.part, each.part
    if importer == "":
        return _complaint_about_the_package_itself(each)
    if imported in ("", importer):
        return None  # the package itself (only cycles matter) or one's own part
    if imported not in LAYERS:
        return f"{imported!r} has no layer: give it a row in LAYERS"
    if (importer, imported) in APART:
        return APART[importer, imported]
    if imported in ADAPTERS and importer not in MAY_IMPORT_ADAPTERS and LAYERS.get(importer, 0) != LAYERS[imported]:
        return "only wiring/ and testing/ know adapters; everybody else is handed a port"
    return _complaint_about_direction(importer, imported)


def _complaint_about_direction(importer: str, imported: str) -> str | None:
    above, below = LAYERS.get(importer, 0), LAYERS[imported]
    if below > above:
        return f"goes up, from layer {above} to layer {below}"
    if below == above and (importer, imported) not in SIDEWAYS:
        return f"siblings of layer {above} do not import each other"
    return None


def _complaint_about_the_package_itself(each: Import) -> str | None:
    if each.part == "version":
        return None
    if each.part != "client":
        return "holdfast/__init__.py imports nothing but holdfast.client and its version"
    if not (each.lazy or each.typing):
        return "holdfast/__init__.py imports the client lazily: `import holdfast` must stay cheap"
    return None


def _has_layer(module: Module) -> bool:
    return module.name == PACKAGE or module.part in LAYERS


def cycles(modules: dict[str, Module], imports: list[Import]) -> list[list[str]]:
    """Tarjan's strongly connected components with more than one module, or one that imports itself."""
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for each in imports:
        if each.imported in graph:
            graph[each.importer.name].add(each.imported)
    return [sorted(group) for group in _components(graph) if len(group) > 1 or group[0] in graph[group[0]]]


def _components(graph: dict[str, set[str]]) -> list[list[str]]:
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = lowest[name] = len(index)
        stack.append(name)
        for other in sorted(graph[name]):
            if other not in index:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], index[other])
        if lowest[name] == index[name]:
            at = stack.index(name)
            found.append(stack[at:])
            del stack[at:]

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


def test_holdfast_keeps_its_layers() -> None:
    """CFG-03: recipes and what they bring along are known to nothing below them."""
    broken = violations(our_package())
    assert not broken, "\n" + "\n".join(broken)


def test_no_exception_stands_inside_layer_4() -> None:
    assert not [pair for pair in SIDEWAYS if LAYERS[pair[0]] == 4 or LAYERS[pair[0]] != LAYERS[pair[1]]]


def test_a_lawful_tree_has_no_violations(tmp_path: Path) -> None:
    tree = make_tree(
        tmp_path,
        {
            "__init__.py": "def __getattr__(name):\n    from holdfast import client\n    return client",
            "errors.py": "",
            "model/__init__.py": "",
            "model/states.py": "from holdfast.errors import Corrupt",
            "ports.py": "from .model import states",
            "recipe.py": "from holdfast.ports import Fetcher",
            "ledger/sqlite.py": "from holdfast import ports",
            "config.py": "",
            "wiring.py": "from holdfast.ledger import sqlite\nfrom holdfast.config import Settings",
            "client.py": "from holdfast import wiring",
            "cli/main.py": "from holdfast import __version__, client",
            "__main__.py": "from holdfast.cli.main import main",
        },
    )
    assert violations(tree) == []


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("model/states.py", "import holdfast.engine.worker", "goes up, from layer 1 to layer 4"),
        ("model/states.py", "from ..engine import worker", "goes up"),
        ("policy/retry.py", "def f():\n    from holdfast.engine import worker", "goes up"),
        ("policy/retry.py", "if TYPE_CHECKING:\n    from holdfast.wiring import build", "goes up"),
        ("policy/retry.py", "importlib.import_module('holdfast.cli.main')", "goes up"),
        ("policy/retry.py", "from holdfast.audit import counts", "siblings of layer 2"),
        ("audit/counts.py", "from holdfast.engine import worker", "goes up"),
        ("engine/worker.py", "from holdfast.ledger.sqlite import Ledger", "siblings of layer 4"),
        ("engine/worker.py", "from holdfast.audit import counts", "shares nothing"),
        ("recipes/site/steps.py", "from holdfast.fetch import http", "siblings of layer 4"),
        ("cli/main.py", "from holdfast.ledger import sqlite", "only wiring/ and testing/ know adapters"),
        ("demo/serve.py", "import holdfast.blobs.files", "only wiring/ and testing/ know adapters"),
        ("__init__.py", "from holdfast.client import Holdfast", "lazily"),
        ("__init__.py", "def f():\n    from holdfast.engine import worker", "nothing but holdfast.client"),
        ("gadgets.py", "", "gadgets.py has no layer"),
        ("cli/main.py", "from holdfast.gadgets import thing", "'gadgets' has no layer"),
    ],
)
def test_each_kind_of_violation_is_found(tmp_path: Path, path: str, text: str, complaint: str) -> None:
    found = violations(make_tree(tmp_path, {path: text}))
    assert len(found) == 1
    assert complaint in found[0]


def test_a_cycle_is_found_even_if_one_side_is_only_for_types(tmp_path: Path) -> None:
    tree = make_tree(
        tmp_path,
        {
            "engine/worker.py": "from holdfast.engine.execute import execute",
            "engine/execute.py": "from holdfast.engine.finish import finish",
            "engine/finish.py": "if TYPE_CHECKING:\n    from holdfast.engine.worker import Worker",
        },
    )
    assert violations(tree) == [
        "import cycle: holdfast.engine.execute -> holdfast.engine.finish -> holdfast.engine.worker"
    ]


def make_tree(folder: Path, files: dict[str, str]) -> dict[str, Module]:
    """A made-up package, as `our_package` reads the real one."""
    for path, text in files.items():
        file = folder / PACKAGE / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return read_package(folder)
