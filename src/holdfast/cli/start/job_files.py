"""Jobs that a file describes, as the start commands meet them: `holdfast crawl NAME`, `holdfast run job.toml`.

What is typed wins over what the environment says, and that over the file. The file's options become words that the
command's own parser reads, so that a job file can ask for whatever the command line can, and for nothing else.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec.structs import replace

from holdfast.cli.call import Call
from holdfast.cli.commands.table import command
from holdfast.cli.parser import Parser
from holdfast.config.job_description import JobDescription
from holdfast.config.job_keys import job_keys
from holdfast.config.jobfile import read_job_file, words
from holdfast.config.table import PREFIX, SETTINGS
from holdfast.errors import BadParams, HoldfastError, UsageError
from holdfast.ports import Ledger

OF_LISTS = ("template",)  # options of the list that a job's row is in


def configured(call: Call) -> Call:
    """The call with what `holdfast.toml` says about the job that its only argument names; else as it was typed."""
    what = call.options.what
    wanted = call.settings.jobs.get(what[0]) if len(what) == 1 else None
    if wanted is None:
        return call
    if wanted.command != call.command:
        raise UsageError(f"{what[0]} is a job of kind {wanted.kind!r}", hint=f"holdfast {wanted.command} {what[0]}")
    return filled_in(call, wanted)


def run_file(call: Call, path: Path, row: dict[str, str] | None = None) -> int:
    """Start the job of a file by its own command; `row` fills the placeholders of a template."""
    if not path.is_file():
        raise BadParams(f"there is no job file {path}")
    return run_described(call, read_job_file(path, row))


def run_described(call: Call, wanted: JobDescription) -> int:
    """Start the job by its own command; options typed for the command at hand win."""
    code: int = _module_of(wanted).run(filled_in(call, wanted))
    return code


def check_described(call: Call, wanted: JobDescription, ledger: Ledger | None) -> str:
    """By what the job is known, or what its own command would find wrong is raised. Writes nothing; no ledger: no jobs
    yet."""
    identity: str = _module_of(wanted).check(filled_in(call, wanted), ledger)
    return identity


def _module_of(wanted: JobDescription) -> ModuleType:
    """The command that makes such jobs."""
    row = command(wanted.command)
    if row is None:
        raise UsageError(f"{wanted.where}: this version has no jobs of kind {wanted.kind!r}")
    return import_module(f"holdfast.cli.commands.{row.module}")


def filled_in(call: Call, wanted: JobDescription) -> Call:
    """A call of the job's own command, as if the file's options had been typed, but for what was said more strongly."""
    from_environment = {name for name, origin in call.settings.pace_origins.items() if origin.startswith(PREFIX)}
    weaker = {row.option for row in SETTINGS if row.pace in from_environment}
    options = {key: value for key, value in wanted.options.items() if job_keys()[key].option.flag not in weaker}
    try:
        said = _parser_of(wanted.command).read(words(replace(wanted, options=options)))
    except HoldfastError as error:
        raise BadParams(f"{wanted.where}: {error.message}") from None
    for name, value in _typed(call).items():
        if hasattr(said, name):
            setattr(said, name, value)
        elif name not in OF_LISTS:
            raise UsageError(f"{wanted.where}: --{name.replace('_', '-')} is not for a job of kind {wanted.kind!r}")
    pace = {name: value for name, value in wanted.pace.items() if name not in from_environment}
    settings = replace(call.settings, pace={**call.settings.pace, **pace})
    return replace(call, command=wanted.command, options=said, settings=settings)


def _typed(call: Call) -> dict[str, Any]:
    """The options that were typed: those that differ from their defaults."""
    parser = _parser_of(call.command)
    options = {name: value for name, value in vars(call.options).items() if name != "what"}
    return {name: value for name, value in options.items() if value != parser.get_default(name)}


def _parser_of(name: str) -> Parser:
    row = command(name)
    assert row is not None, name
    parser = Parser(row.name, row.summary, row.examples)
    import_module(f"holdfast.cli.commands.{row.module}").arguments(parser)
    return parser
