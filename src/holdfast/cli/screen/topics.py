"""`holdfast help TOPIC`: what belongs to no single command. Texts come from the tables that they are about."""

from __future__ import annotations

from collections.abc import Callable

from holdfast.cli.exits import MEANINGS
from holdfast.config.table import SETTINGS
from holdfast.policy.filters import JOBS, TARGETS

WIDTH = 34


def filters() -> str:
    return f"""\
Example:
  holdfast targets docs --where 'status:failed -code:http_404 url:*/guide/*'
  holdfast jobs --where 'kind:site -health:ok'

A filter is a list of conditions; all of them must hold. Quote it, so that the shell leaves it alone.
  key:value      the value, exactly
  key:a,b        one or the other
  -key:a         not this one
  key:>3         more than; also < >= <=
  url:*/guide/*  a star stands for anything
  url:"*a b*"    quotes keep spaces and commas together

Keys of targets: {" ".join(TARGETS.keys)}
Keys of jobs:    {" ".join(JOBS.keys)}"""


def exit_codes() -> str:
    rows = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in MEANINGS.items())
    return f"""\
Example:
  holdfast crawl docs; case $? in 1[0-4]) echo safe, continue later;; esac

{rows}

10 to 14 mean: safe, continue later. The same command goes on, but after a limit (12, 13) it needs a higher one:
holdfast resume JOB --extend 30m, or --extend-pages 500. Where several apply: 8, 14, 12 or 13, 10 or 11, 3, 0."""


def environment() -> str:
    rows = [f"  {row.variable:<{WIDTH}} {row.meaning}" for row in SETTINGS if row.used]
    return "\n".join(
        [
            "Example:",
            "  HOLDFAST_DATA=/srv/crawls holdfast status",
            "",
            "Every setting has a variable; a dot in its name is two underscores. An option wins over the environment,",
            "the environment over holdfast.toml. What holds here, and where it was said: holdfast config show --origin",
            "",
            *rows,
            "",
            "A secret may stand in a file: HOLDFAST_TOKEN_FILE=/run/token is read for HOLDFAST_TOKEN.",
            "Heeded too: NO_COLOR, FORCE_COLOR, TERM, COLUMNS.",
        ]
    )


def job_file() -> str:
    return """\
Example:
  holdfast run docs.toml

A job file says in TOML what the options of a command say, with underscores for dashes:
  kind = "site"
  name = "docs"
  seeds = ["https://docs.example.dev"]
  exclude = ["/tags/*"]
  max_depth = 3
  delay = "2s"

The same keys stand in holdfast.toml under job.NAME; then holdfast crawl NAME starts the job. Settings that are kept
with a job, such as http.idle_timeout, may stand here too. What is typed wins over the file. An unknown key is refused,
with a suggestion. A secret is named, never written: "env:NAME" or "file:PATH"."""


def resume() -> str:
    return """\
Example:
  holdfast resume
  holdfast crawl https://docs.example.dev

The same command resumes, and says so; only --new starts over. What is found decides:
  no such job, or never started     it is started
  unfinished, and no process works it   it goes on where it was
  unfinished, and a process works it   it is watched; there is no second worker
  completed                         said so; --mode new or full looks again, as a new run
  stopped at a limit                said which; holdfast resume JOB --extend 30m goes on
  failed                            said why, then it goes on
  cancelled                         refused (exit 6); only --new goes on
  other scope options than before   refused (exit 6), with the difference; --update applies them (of a completed job
                                    with --mode full), --new starts over
  another pace or limit             applied, and said

holdfast resume without JOB takes up all that a crash, SIGTERM or Ctrl-C stopped; --all also what was paused by hand.
A job remembers its -o FILE: whatever goes on with it writes the file again when it ends.
Nothing saved is lost, and no page recorded as done is fetched again. Its options: holdfast resume --help"""


TOPICS: dict[str, tuple[str, Callable[[], str]]] = {
    "filters": ("the grammar of --where", filters),
    "exit-codes": ("what the exit code of a command means", exit_codes),
    "environment": ("variables that stand for settings", environment),
    "job-file": ("a job in a file", job_file),
    "resume": ("what happens when the same command is given again", resume),
}
