"""The page of settings, from the one table of them."""

from __future__ import annotations

from generator.command_line import parser_of
from generator.markdown import page, table, yes

from holdfast.cli.commands.table import command
from holdfast.config.job_keys import ALL, COMMANDS, JobKey
from holdfast.config.job_keys import job_keys as every_key
from holdfast.config.table import ALIASES, KEYS, OBSOLETE, PREFIX, SETTINGS, Setting
from holdfast.config.toml import literal
from holdfast.config.trees import TREES
from holdfast.recipe.kind import OWN_RECIPE

EXAMPLE = """\
```toml
# holdfast.toml: found in the folder where a command runs, or in the nearest one above it
data = "./holdfast-data"
http.timeout = "30s"
http.max_bytes = "20MB"
delay = "1s"
checkpoint = { every_targets = 10, every = "2m" }
hosts."judicial.ky" = { delay = "2s", concurrency = 1 }
```"""

CHANGING = """\
```console
$ holdfast config show --origin
$ holdfast config get http.timeout
$ holdfast config set http.timeout 30s
$ holdfast config path
```"""


def settings() -> str:
    used = [row for row in SETTINGS if row.used]
    later = [row for row in SETTINGS if not row.used]
    return page(
        "Settings",
        "Nothing has to be set. What is set counts in this order, the first that says something wins: an option of the "
        "command; a variable of the environment; the job file; the nearest `holdfast.toml`, in the folder where the "
        "command runs or above it (`-C FILE` names another); `$XDG_CONFIG_HOME/holdfast/config.toml` "
        "(`~/.config/holdfast/config.toml`); the default. All of it is checked before anything is done: a key that "
        "does not exist is an error with a suggestion (exit code 2), and so is a value that cannot be used. A number "
        "of things at once (`concurrency`, `per_host`) that is out of bounds is brought to the nearest one that can "
        "be, without a word, in `holdfast.toml` or a variable; typed as an option, or in a job file, it is refused.",
        "A `holdfast.toml` that was found, and not named, must be your own: one that belongs to another user (but for "
        "root, under `sudo` the person behind it, and for root itself an owner of the folder that the command runs "
        "in whom this computer does not know), or that everybody can write or replace, is not obeyed, and the command "
        "ends with 2. `-C FILE` obeys it all the same (in Python `config_file=`).",
        "The data folder is made for its owner alone (0700), so that the modes of what is in it do not matter: "
        "the ledger is 0600, folders and files below `artifacts/` may be 0755 and 0644. One that is there keeps its "
        "mode, and files in it follow it: for several users make it with `mkdir -m 2770` and work with a umask of 007.",
        EXAMPLE,
        "Durations are `500ms 2s 30m 2h`, sizes `10kB 1.5GB`; a bare number is seconds, or bytes. A path in a file is "
        "relative to the folder of that file.",
        CHANGING,
        "`config show` prints every value as TOML, with `--origin` where each came from. `config set` changes the "
        "nearest `holdfast.toml`, or makes one here; comments stay, and the file is written beside and renamed.",
        "## All settings",
        table(("key", "default", "option", "variable", "means"), [_row(row) for row in used]),
        "Settings with an option are the defaults of new jobs. A job keeps what was typed for it; what was not typed "
        "for it follows the configuration when its start command is given again, which says so.",
        "## Tables that you name",
        table(
            ("key", "means", "used yet"),
            [(f"`{tree.name}.NAME`", tree.meaning, yes(tree.used)) for tree in TREES.values()],
        ),
        "## Environment\n\nThe variable of a key is the key in capitals after `HOLDFAST_`, with `__` for a dot: "
        "`HOLDFAST_HTTP__TIMEOUT=30s`. Lists are separated by commas, or written as in TOML. An empty variable is as "
        "good as none. A `.env` file is read only if named: `--env-file .env`; what the environment says already wins "
        "over it. Also heeded: `NO_COLOR`, `FORCE_COLOR`, `TERM`, `COLUMNS`.",
        "## Secrets\n\nA secret is named, never typed: `env:NAME` stands for a variable, `file:PATH` for the contents "
        "of a file, in settings, in job files and in `--header`. What is stored and shown is the name. "
        f"{', '.join(f'`{row.variable}_FILE`' for row in SETTINGS if row.secret)} name a file that holds the value.",
        "## Not used yet\n\nThese are known and checked, and kept for what comes; `config show` says so.",
        table(
            ("key", "default", "variable", "means"), [(_row(row)[0], *_row(row)[1:2], *_row(row)[3:]) for row in later]
        ),
        "## Older names\n\nThese variables are still read; `config show` names the new key.",
        table(
            ("variable", "now"),
            [
                (f"`{PREFIX}{alias.name}`", f"`{alias.key}` (`{KEYS[alias.key].variable}`)")
                for alias in ALIASES.values()
            ],
        ),
        "These mean nothing any more, and stop nothing:",
        table(("variable", "why"), [(f"`{PREFIX}{name}`", why) for name, why in OBSOLETE.items()]),
    )


def job_keys() -> str:
    """The keys of a job, for the page of job files."""
    kinds = {command: f"`{kind}`" for kind, command in COMMANDS.items()} | {OWN_RECIPE: "your own"}
    return table(
        ("key", "is a", "kinds", "means"),
        [
            (
                f"`{row.option.name}`",
                row.option.type.word,
                "all" if row.commands == ALL else ", ".join(kinds[name] for name in kinds if name in row.commands),
                row.option.meaning if _is_used(row) else f"{row.option.meaning}; not used yet",
            )
            for row in every_key().values()
        ],
    )


def _is_used(row: JobKey) -> bool:
    """Whether a start command that exists takes this key; one that says itself that it is not used is left alone."""
    there = [found for name in row.commands if (found := command(name)) is not None]
    return any(not row.option.flag or row.option.flag in parser_of(each)._option_string_actions for each in there)


def _row(row: Setting) -> tuple[str, ...]:
    default = row.kind.plain(row.default)
    option = f"`{row.option}`" if row.option else ""
    return f"`{row.key}`", f"`{literal(default)}`" if default != "" else "", option, f"`{row.variable}`", row.meaning
