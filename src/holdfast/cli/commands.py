"""The table of commands: name, one-line help, examples, and the module that is loaded when the command is used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    group: str
    usage: str
    summary: str
    module: str
    examples: tuple[str, ...]


COMMANDS: tuple[Command, ...] = (
    Command(
        "demo", "START", "demo [WORLD]",
        "crawl a bundled world offline, crash, recover, show that the books balance", "demo",
        ("holdfast demo",),
    ),
    Command(
        "crawl", "START", "crawl URL...|NAME", "crawl a site; the same command again goes on where it stopped", "crawl",
        (
            "holdfast crawl https://docs.example.dev -o docs.jsonl",
            "holdfast crawl https://docs.example.dev --max-depth 3 --exclude '/tags/*' --delay 2s --name docs",
            "holdfast crawl docs",
        ),
    ),
    Command("pause", "CONTROL", "pause JOB", "finish the pages in hand, checkpoint, stop", "stop",
            ("holdfast pause docs",)),
    Command(
        "resume", "CONTROL", "resume [JOB]", "continue; without JOB all that a crash, SIGTERM or Ctrl-C stopped",
        "resume", ("holdfast resume", "holdfast resume docs", "holdfast resume --all"),
    ),
    Command("cancel", "CONTROL", "cancel JOB", "stop for good: pending becomes cancelled, results stay", "stop",
            ("holdfast cancel docs",)),
    Command("status", "LOOK", "status [JOB]", "one screen of state; without JOB all jobs", "status",
            ("holdfast status docs", "holdfast status docs --json=status,counts", "holdfast status")),
    Command(
        "targets", "LOOK", "targets JOB", "list targets (--where --limit --jsonl)", "targets",
        (
            "holdfast targets docs --where 'status:failed'",
            "holdfast targets docs --where 'status:skipped -rule:depth url:*/guide/*' --jsonl",
        ),
    ),
    Command("verify", "LOOK", "verify JOB", "check books, keys, checkpoint chain (--deep reads every body)", "verify",
            ("holdfast verify docs --deep",)),
    Command("export", "RESULTS", "export JOB -o FILE", "write results (--format jsonl)", "export",
            ("holdfast export docs -o docs.jsonl --format jsonl", "holdfast export docs -o - | jq .title")),
    Command(
        "selftest", "ADMIN", "selftest", "crawl a tree of pages, SIGKILL it at random, prove nothing lost or doubled",
        "selftest", ("holdfast selftest --pages 3000 --kill 20", "holdfast selftest --pages 300 --kill 5 --seed 42"),
    ),
)  # fmt: skip
EXAMPLES = (
    "holdfast demo                                             see it crash and recover, no internet needed",
    "holdfast crawl https://docs.example.dev -o docs.jsonl     crawl a site",
    "holdfast resume                                           go on after Ctrl-C, crash or reboot",
    "holdfast status                                           all jobs",
)


def command(name: str) -> Command | None:
    return next((row for row in COMMANDS if row.name == name), None)


def overview() -> str:
    """The help of `holdfast --help`: examples first, then every command that exists."""
    lines = ["Example:", *(f"  {line}" for line in EXAMPLES), ""]
    group = ""
    for row in COMMANDS:
        if row.group != group:
            group = row.group
            lines.append(group)
        lines.append(f"  {row.usage:<20} {row.summary}")
    return "\n".join([*lines, "", "holdfast COMMAND --help shows the options of a command."])
