"""The table of commands: name, one-line help, examples, and the module that is loaded when the command is used.

Start commands stand in the catalogue of kinds.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.recipes.catalogue import ENTRIES


class Command(NamedTuple):
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
    *(Command(row.command, "START", row.usage, row.summary, row.command, row.examples) for row in ENTRIES),
    Command(
        "run", "START", "run FILE.py|MODULE:RECIPE|FILE.toml|LIST.csv",
        "work a recipe of your own as a job that survives anything, or the job of a file", "run",
        (
            "holdfast run forum.py --param start=https://forum.example/",
            "holdfast run forum.py --param start=https://forum.example/ --name forum -o posts.jsonl",
            "holdfast run forum",
            "holdfast run job.toml",
            "holdfast run companies.csv --template company.toml",
        ),
    ),
    Command("pause", "CONTROL", "pause JOB", "finish the pages in hand, checkpoint, stop", "pause",
            ("holdfast pause docs",)),
    Command(
        "resume", "CONTROL", "resume [JOB]", "continue; without JOB all that a crash, SIGTERM or Ctrl-C stopped",
        "resume", ("holdfast resume", "holdfast resume docs", "holdfast resume --all"),
    ),
    Command("cancel", "CONTROL", "cancel JOB", "stop for good: pending becomes cancelled, results stay (--now)",
            "cancel", ("holdfast cancel docs", "holdfast cancel docs --now")),
    Command("restart", "CONTROL", "restart JOB", "send a paused job back to pending, to run again from its seeds",
            "restart", ("holdfast restart docs",)),
    Command(
        "retry", "CONTROL", "retry JOB", "queue failed targets again and work them (--where --queue-only --dry-run)",
        "retry",
        (
            "holdfast retry docs",
            "holdfast retry docs --where 'code:network_timeout,http_5xx settled:<2h' --dry-run",
        ),
    ),
    Command(
        "exclude", "CONTROL", "exclude JOB PATTERN", "stop fetching matching URLs, also while running", "exclude",
        (
            "holdfast exclude docs '/tags/*'",
            "holdfast exclude docs --regex '[?&]page=[0-9]+' --dry-run",
            "holdfast exclude docs --remove 1",
        ),
    ),
    Command(
        "limits", "CONTROL", "limits [set HOST]", "show or set a host's delay and concurrency, also while running",
        "limits",
        ("holdfast limits", "holdfast limits set judicial.ky --delay 2s --concurrency 1", "holdfast limits --json"),
    ),
    Command("label", "CONTROL", "label JOB TARGET... LABEL", "mark results: rejected, keep, or your word", "label",
            ("holdfast label docs T-9 T-a rejected", "holdfast targets docs --where 'label:rejected'")),
    Command("jobs", "LOOK", "jobs", "list jobs (--status --kind --stale --where)", "jobs",
            ("holdfast jobs", "holdfast jobs --status paused,failed", "holdfast jobs --where 'kind:site -health:ok'")),
    Command("status", "LOOK", "status [JOB]", "one screen of state; without JOB all jobs", "status",
            ("holdfast status docs", "holdfast status docs --json=status,counts", "holdfast status docs --by host",
             "holdfast status")),
    Command(
        "targets", "LOOK", "targets JOB", "list targets (--where --sort --limit --csv --jsonl)", "targets",
        (
            "holdfast targets docs --where 'status:failed'",
            "holdfast targets docs --sort -settled_at --limit 10",
            "holdfast targets IMM --where 'disposition:no_record' --csv",
            "holdfast targets docs --where 'status:skipped -rule:depth url:*/guide/*' --jsonl",
        ),
    ),
    Command("watch", "LOOK", "watch JOB", "follow a job that runs elsewhere; Ctrl-C only stops watching", "watch",
            ("holdfast watch docs",)),
    Command("errors", "LOOK", "errors JOB", "failures by code and host, with examples and the retry command", "errors",
            ("holdfast errors docs", "holdfast errors docs --json")),
    Command(
        "explain", "LOOK", "explain JOB URL|KEY", "why a target was, or was not, fetched", "explain",
        ("holdfast explain docs https://docs.example.dev/guide/install", "holdfast explain docs T-9 --json"),
    ),
    Command("frontier", "LOOK", "frontier JOB", "what comes next (--by host|depth|pattern)", "frontier",
            ("holdfast frontier docs", "holdfast frontier docs --by pattern --json=groups")),
    Command("events", "LOOK", "events [JOB]", "who did what, when (--since --type)", "events",
            ("holdfast events docs", "holdfast events --since 2h --type job.status,lease.rescued --jsonl")),
    Command("logs", "LOOK", "logs JOB", "log lines (-f --level --target)", "logs",
            ("holdfast logs docs", "holdfast logs docs -f --level warning", "holdfast logs docs --target T-9 --jsonl")),
    Command("checkpoints", "LOOK", "checkpoints JOB", "restore points, newest first (--show N: the full document)",
            "checkpoints", ("holdfast checkpoints docs", "holdfast checkpoints docs --show 61 --json")),
    Command("diff", "LOOK", "diff JOB RUN_A RUN_B", "what changed between two runs", "diff",
            ("holdfast diff docs R-3 R-4", "holdfast diff docs R-3 R-4 --jsonl")),
    Command("verify", "LOOK", "verify JOB", "check books, keys, checkpoint chain (--deep reads every body)", "verify",
            ("holdfast verify docs --deep",)),
    Command(
        "export", "RESULTS", "export JOB -o FILE",
        "write results: Markdown, tables, archives, files (--where --fields --follow)", "export",
        (
            "holdfast export docs -o docs.jsonl",
            "holdfast export docs -o guide.csv --where 'url:*/guide/*' --fields url,title,+text",
            "holdfast export docs -o docs.warc.gz",
            "holdfast export docs -o - | jq .title",
        ),
    ),
    Command(
        "report", "RESULTS", "report JOB [VERSION]", "build or show the report of a site (--open -o --format)",
        "report",
        (
            "holdfast report docs -o docs.html",
            "holdfast report docs --format json",
        ),
    ),
    Command(
        "sources", "RESULTS", "sources [sync|diff NAME]", "followed lists and their versions", "sources",
        ("holdfast sources", "holdfast sources sync judgments", "holdfast sources diff judgments"),
    ),
    Command(
        "reprocess", "RESULTS", "reprocess JOB", "run the recipe again over stored pages, no network (--where)",
        "reprocess",
        ("holdfast reprocess IMM", "holdfast reprocess IMM --where 'run:R-1' --dry-run"),
    ),
    Command(
        "snapshot", "RESULTS", "snapshot JOB", "write the portable form: rows and pages in one file (-o FILE)",
        "snapshot", ("holdfast snapshot docs -o docs.tar", "holdfast snapshot docs --without-artifacts --json"),
    ),
    Command(
        "restore", "RESULTS", "restore FILE", "rebuild a job from a snapshot (--name; --replace)", "restore",
        ("holdfast restore docs.tar", "holdfast restore docs.tar --name docs-copy"),
    ),
    Command(
        "rollback", "RESULTS", "rollback JOB CHECKPOINT",
        "go back to a checkpoint: what was found or done since is undone (--dry-run --fork)", "rollback",
        (
            "holdfast rollback docs 57 --dry-run",
            "holdfast rollback docs 57",
            "holdfast rollback docs 57 --fork --name docs-without-tags",
        ),
    ),
    Command(
        "config", "ADMIN", "config show|get|set|path",
        "what is set, where it was said, and setting it (--origin)", "config",
        (
            "holdfast config show --origin",
            "holdfast config get http.timeout",
            "holdfast config set http.timeout 30s",
            "holdfast config path",
        ),
    ),
    Command("doctor", "ADMIN", "doctor", "check config, disk, ledger, stored pages (--repair)", "doctor",
            ("holdfast doctor", "holdfast doctor --deep --repair", "holdfast doctor --json")),
    Command(
        "db", "ADMIN", "db upgrade|backup|check", "the ledger's database: migrate it, copy it, check all of it", "db",
        ("holdfast db check", "holdfast db backup -o ledger-copy.db", "holdfast db upgrade"),
    ),
    Command("completion", "ADMIN", "completion SHELL", "a script that completes commands for your shell", "completion",
            ("holdfast completion bash", "holdfast completion zsh")),
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
USAGE_WIDTH = 20
TOPIC_NAMES = ("filters", "exit-codes", "environment", "job-file", "resume")


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
        if len(row.usage) > USAGE_WIDTH:  # a long one has a line of its own, and the others stay in their column
            lines.append(f"  {row.usage}")
        lines.append(f"  {row.usage if len(row.usage) <= USAGE_WIDTH else '':<{USAGE_WIDTH}} {row.summary}")
    return "\n".join(
        [
            *lines,
            "",
            "holdfast COMMAND --help shows the options of a command.",
            f"holdfast help TOPIC: {', '.join(TOPIC_NAMES)}.",
        ]
    )
