"""docs/performance.md and its picture, written from the kept numbers. It measures nothing.

python -m bench.report        writes them anew from docs/performance*.json
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench import prose
from bench.long_list import LOOK_EVERY_S
from bench.plot import Bar, Panel, picture
from bench.targets import targets

DOCS = Path(__file__).resolve().parents[1] / "docs"
RESULTS, FRONTIER, PAGE = "performance.json", "performance-frontier.json", "performance.md"
CASES = "performance-cases.json"
IMAGES = "performance-images.json"
MARKDOWN = "performance-markdown.json"
FILES = "performance-files.json"
BESIDE = (FRONTIER, CASES, IMAGES, MARKDOWN, FILES)  # what `page` tells of besides, in its order
PICTURE = Path("images") / "performance.svg"
FRONTIER_COLUMNS = (
    ("case", "ledger", "{}"), ("resume_s", "resume, s (≤ 1.0)", "{:.2f}"), ("vmhwm_mb", "peak MB (≤ 120)", "{:.0f}"),
    ("ratio", "CPU against a small ledger (≤ 1.2)", "{:.2f} ×"), ("cpu_per_1000", "CPU s per 1000 pages", "{:.2f}"),
    ("server_cpu_per_1000", "the server's", "{:.2f}"), ("pages_per_s", "pages/s", "{:,.0f}"),
    ("bytes_per_target", "bytes per target", "{:.0f}"), ("fill_rows_per_s", "rows/s while filled", "{:,.0f}"),
    ("others_share", "others' share of the cores", "{:.0%}"),
)  # fmt: skip
HEAD = (
    "crawler", "keeps its place", "pages/s", "CPU s per 1000 pages", "without start-up", "start-up: CPU, wall",
    "peak memory", "pages/s against aiohttp", "CPU against aiohttp", "without start-up",
)  # fmt: skip


def write(folder: Path, results: dict[str, Any]) -> list[Path]:
    """The numbers, the page and the picture below `folder`."""
    files = {
        folder / RESULTS: json.dumps(results, indent=1, ensure_ascii=False) + "\n",
        folder / PAGE: page(results, *(read(DOCS / name) for name in BESIDE)),
        folder / PICTURE: drawing(results),
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(files)


def page(
    results: dict[str, Any],
    frontier: dict[str, Any] | None,
    cases: dict[str, Any] | None,
    images: dict[str, Any] | None = None,
    markdown: dict[str, Any] | None = None,
    files: dict[str, Any] | None = None,
) -> str:
    sections = [
        prose.TITLE,
        scope_line(results),
        f"![Pages per second and CPU seconds per 1000 pages of each crawler]({PICTURE.as_posix()})",
        table(HEAD, map(main_row, results["rows"])),
        prose.READING,
        *_targets(results),
        *_processes(results),
        *_reader(results),
        *_checkpoints(results),
        *_costs(results),
        "## A big frontier",
        _frontier(frontier),
        *_cases(cases),
        *_images(images),
        *_files(files),
        *_markdown(markdown),
        prose.REPEAT,
    ]
    return "\n\n".join(section.strip() for section in sections) + "\n"


def scope_line(results: dict[str, Any]) -> str:
    scope, site = results["scope"], results["site"]
    versions = ", ".join(f"{name} {number}" for name, number in scope["versions"].items())
    noise = max((row["others_share_max"] for row in results["rows"]), default=0.0)
    changed = " with uncommitted changes" if scope["changed"] else ""
    return (
        f"{scope['date']}, commit `{scope['commit']}`{changed}: {results['rounds']} rounds of {site['pages']:,} pages, "
        f"{site['bytes_mean'] / 1000:.1f} KB and {site['links']} links each, medians. {scope['cpu']}, "
        f"{scope['cores']} cores, {scope['memory_gb']:g} GB, {scope['system']}, kernel {scope['kernel']}, "
        f"{scope['filesystem']}, Python {scope['python']}; {versions}. "
        f"Other programs took at most {noise:.0%} of the cores during a crawl."
    )


def main_row(row: dict[str, Any]) -> tuple[str, ...]:
    against = row["against"] or {}
    ratios = (against.get(name) for name in ("pages_per_s", "cpu_per_1000", "cpu_per_1000_apart"))
    return (
        row["title"], row["durable"], f"{row['pages_per_s']:,.0f}", f"{row['cpu_per_1000']:.2f}",
        f"{row['cpu_per_1000_apart']:.2f}", f"{row['startup_cpu_s']:.2f} s, {row['startup_wall_s']:.2f} s",
        f"{row['peak_mb']:.0f} MB",
        *("" if ratio is None else f"{ratio:.2f} ×" for ratio in ratios),
    )  # fmt: skip


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _targets(results: dict[str, Any]) -> list[str]:
    found = targets(results)
    rows = [(target.says, target.measured, "yes" if target.met else "**no**") for target in found]
    return ["## Targets", prose.TARGETS, table(("target", "measured", "met"), rows)] if found else []


def _row(results: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((row for row in results["rows"] if row["contestant"] == name), None)


def _processes(results: dict[str, Any]) -> list[str]:
    row = _row(results, "processes")
    if row is None or not row["against_holdfast"]:
        return []
    against, waits = row["against_holdfast"], row.get("lock_wait_ms")
    waited = ", ".join(f"{name} {value:,.4g}" for name, value in waits.items()) if waits else "not told"
    return [
        "## Two processes",
        prose.PROCESSES.format(
            rate=against["pages_per_s"], cpu=against["cpu_per_1000"], busy=row["busy_share"], waits=waited
        ),
    ]


def _reader(results: dict[str, Any]) -> list[str]:
    row = _row(results, "reader")
    if row is None or not row["against_holdfast"]:
        return []
    reader, against = row["reader"], row["against_holdfast"]
    alone = _row(results, "holdfast") or row
    return [
        "## While somebody reads",
        prose.READER.format(
            **reader, rate=against["pages_per_s"], cpu=against["cpu_per_1000"], wal=row["wal_mb_max"],
            wal_alone=alone["wal_mb_max"],
        ),
    ]  # fmt: skip


def _checkpoints(results: dict[str, Any]) -> list[str]:
    head = (
        "targets in the ledger",
        "median in a settle",
        "of it CPU",
        "share of a crawl's CPU",
        "written: settles, crawl",
    )
    rows = [
        (
            f"{size['targets']:,}", f"{size['settles']['wall_ms_median']:.2f} ms",
            f"{size['settles']['cpu_ms_median']:.2f} ms",
            f"{size['crawl']['cpu_s'] / size['crawl']['process_cpu_s']:.2%}",
            f"{size['settles']['checkpoints']}, {size['crawl']['checkpoints']}",
        )
        for size in results.get("checkpoints") or []
    ]  # fmt: skip
    return ["## Checkpoints", prose.CHECKPOINTS, table(head, rows)] if rows else []


def _costs(results: dict[str, Any]) -> list[str]:
    found = results.get("profile")
    if not found:
        return []
    rows = [
        (f"{row['share']:.1%}", f"`{row['function']}`", f"`{row['where']}`", row["thread"]) for row in found["rows"]
    ]
    told = prose.COSTS.format(samples=found["samples"], rate=found["per_second"])
    return ["## Where the CPU goes", told, table(("share", "function", "file", "thread"), rows)]


def _frontier(frontier: dict[str, Any] | None) -> str:
    rows = (frontier or {}).get("rows") or []
    if not rows:
        return prose.NO_FRONTIER
    head = [title for _, title, _ in FRONTIER_COLUMNS]
    shown = ([form.format(row[name]) for name, _, form in FRONTIER_COLUMNS] for row in rows)
    return prose.FRONTIER + "\n\n" + table(head, shown)


def _cases(cases: dict[str, Any] | None) -> list[str]:
    return [] if cases is None else ["## A range of cases, killed", prose.CASES.format(**cases)]


def _images(images: dict[str, Any] | None) -> list[str]:
    if images is None:
        return []
    least, middle, most = images["kb"]
    told = prose.IMAGES.format(**images, least=least, middle=middle, most=most)
    head = (
        "program", "images/s", "against img2dataset", "CPU s per 1000", "without start-up", "CPU against img2dataset",
        "peak memory", "kept",
    )  # fmt: skip
    rows = [
        (
            row["title"], f"{row['per_s']:.1f}", _spread(row["speed_against"]), f"{row['cpu_per_1000']:.1f}",
            f"{row['cpu_per_1000_apart']:.1f}", _spread(row["cpu_against"]), f"{row['peak_mb']:.0f} MB",
            str(row["kept"]),
        )
        for row in images["rows"]
    ]  # fmt: skip
    does = "\n".join(f"- *{row['name']}* {row['does']}." for row in images["rows"] if row["processes"] == 1)
    crash = [(row["title"], str(row["killed_after"]), str(row["redone"]), str(row["lost"])) for row in images["killed"]]
    killed = table(("program", "killed after", "fetched again", "lost"), crash)
    return ["## An image set", told, table(head, rows), does, prose.IMAGES_KILLED, killed, prose.IMAGES_INDEX]


def _files(files: dict[str, Any] | None) -> list[str]:
    if files is None:
        return []
    told = prose.FILES.format(**files, kb=files["bytes"] / 1000)
    head = ("program", "wall s", "against the faster of curl and aria2c", "CPU s", "CPU against it", "peak memory")
    rows = [
        (row["title"], f"{row['wall_s']:.2f}", _spread(row["against"]), f"{row['cpu_s']:.2f}",
         _spread(row["cpu_against"]), f"{row['peak_mb']:.0f} MB")
        for row in files["rows"]
    ]  # fmt: skip
    return ["## A list of files", told, table(head, rows), _file_bars(files)]


def _file_bars(files: dict[str, Any]) -> str:
    """The bars of this kind of job, and what came out."""
    ours = min((row for row in files["rows"] if row["title"].startswith("holdfast")), key=lambda row: row["wall_s"])
    synced = next(row for row in files["rows"] if row["title"] == "curl + sync")
    ratio, long, large = median(ours["against"]), files["list"], files["large"]
    durable = ours["wall_s"] / synced["wall_s"]
    looks = len(long["resident_mb"])
    resident = long["resident_mb"][looks // 2 :]  # the first looks are at its start
    (first, _), (second, sent) = large["answers"][0], large["answers"][-1]
    continued = second == 206 and large["same_hash"] and sent <= large["bytes"] - large["killed_at"] + (1 << 20)
    rows = [
        ("wall ≤ 1.3 × the faster of curl and aria2c", f"{ratio:.2f} × ({ours['title']})", ratio <= 1.3),
        ("wall ≤ 1.3 × curl and one `sync -f` at its end ([why](decisions/0102-files-are-measured-on-the-disk.md))",
         f"{durable:.2f} × ({ours['title']})", durable <= 1.3),
        (f"a list of {long['rows']:,} links is submitted in < 2 s",
         f"{long['submitted_s']:.2f} s, {long['cpu_s']:.2f} s of CPU", long["submitted_s"] < 2),
        ("memory is flat while it is worked",
         f"{min(resident)} to {max(resident)} MB from second {looks // 2 * LOOK_EVERY_S} on",
         max(resident) - min(resident) <= 10),
        (f"a file of {large['bytes'] / 1e9:.1f} GB: ≤ 120 MB of memory", f"{large['peak_mb']:.0f} MB",
         large["peak_mb"] <= 120),
        ("killed half-way, it is continued by Range with the right hash",
         f"killed at {large['killed_at']:,} bytes; HTTP {first}, then {second} with {sent:,} bytes more", continued),
    ]  # fmt: skip
    return table(("bar", "measured", "met"), ((says, is_, "yes" if met else "**no**") for says, is_, met in rows))


def _spread(ratios: Sequence[float]) -> str:
    """Of the rounds, in order: the middle one, and how far apart they are."""
    return f"{median(ratios):.2f} × ({ratios[0]:.2f} to {ratios[-1]:.2f})"


def _markdown(markdown: dict[str, Any] | None) -> list[str]:
    if markdown is None:
        return []
    rows = [(f"{row['share']:.1%}", f"`{row['function']}`", f"`{row['where']}`" if row["where"] else "Python's own")
            for row in markdown["top"]]  # fmt: skip
    return [
        "## From pages to Markdown",
        prose.MARKDOWN.format(**markdown),
        table(("share", "function", "file"), rows),
    ]


def drawing(results: dict[str, Any]) -> str:
    rows = results["rows"]
    return picture(
        f"Crawling {results['site']['pages']:,} pages of a synthetic site",
        [row["title"] for row in rows],
        [row["contestant"] not in ("aiohttp", "scrapy") for row in rows],
        [
            Panel("pages per second", "more is better", [_bar(row, "pages_per_s", "{:,.0f}") for row in rows]),
            Panel(
                "CPU seconds per 1000 pages", "less is better", [_bar(row, "cpu_per_1000", "{:.2f}") for row in rows]
            ),
        ],
    )


def _bar(row: dict[str, Any], name: str, form: str) -> Bar:
    least, most = row[f"{name}_range"]
    return Bar(row[name], least, most, form.format(row[name]))


def read(path: Path) -> dict[str, Any] | None:
    found: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return found


if __name__ == "__main__":
    kept = read(DOCS / RESULTS)
    if kept is None:
        raise SystemExit(f"there is no docs/{RESULTS} yet: make bench")
    for path in write(DOCS, kept):
        print(f"wrote {path.relative_to(DOCS.parent)}")
