"""Lists of jobs: one row, one job, by a template whose `{column}` stands for a cell. Reads files, starts nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace

from holdfast.config.files import read_text, read_toml
from holdfast.config.job_description import JobDescription
from holdfast.config.jobfile import job_in
from holdfast.errors import BadParams, UsageError
from holdfast.model.job import check_name


def descriptions_in_list(
    path: Path, template: Path, check: Callable[[JobDescription], str]
) -> list[tuple[int, JobDescription]]:
    """Each row's job with its line in the file; BadParams names all rows that cannot be read, or that `check` refuses,
    which otherwise says by what the job is known: no two rows are the same job.

    So a list is used as a whole, or not at all.
    """
    if not template.is_file():
        raise BadParams(f"--template: there is no file {template}")
    document = read_toml(template)
    names: dict[str, int] = {}
    known: dict[str, int] = {}
    wanted: list[tuple[int, JobDescription]] = []
    wrong: dict[str, list[int]] = {}
    for line, head, cells in _rows(path):
        where = f"{path}:{line}"
        try:
            description = replace(job_in(document, template, _row(head, cells)), where=where)
            _check_name(description, line, names)
            if (first := known.setdefault(check(description), line)) != line:
                raise BadParams(f"it is the job of line {first} too", hint='name = "{column}" makes them two')
        except UsageError as error:
            hint = f" ({error.hint})" if error.hint else ""
            wrong.setdefault(error.message.removeprefix(f"{where}: ") + hint, []).append(line)
        else:
            wanted.append((line, description))
    if wrong:
        raise _nothing_is_used(path, wrong)
    return wanted


def _nothing_is_used(path: Path, wrong: dict[str, list[int]]) -> BadParams:
    """What is wrong with several rows in the same way is said once, with all their lines."""
    said = [f"{path}:{','.join(map(str, lines))}: {what}" for what, lines in wrong.items()]
    rows = sum(len(lines) for lines in wrong.values())
    if rows == 1:
        return BadParams(f"{said[0]}; nothing was begun")
    return BadParams("\n".join([f"{rows} rows cannot be used, and nothing was begun:", *(f"  {one}" for one in said)]))


def _row(head: list[str], cells: list[str]) -> dict[str, str]:
    if len(cells) != len(head):
        raise BadParams(f"it has {len(cells)} cells, not {len(head)}")
    return dict(zip(map(str.strip, head), map(str.strip, cells), strict=True))


def _check_name(description: JobDescription, line: int, names: dict[str, int]) -> None:
    if description.name is None:
        return
    check_name(description.name)
    if names.setdefault(description.name, line) != line:
        raise BadParams(f"the name {description.name!r} is that of line {names[description.name]} too")


def _rows(path: Path) -> Iterator[tuple[int, list[str], list[str]]]:
    """(line, the names of the columns, the cells)"""
    import csv

    if not path.is_file():
        raise BadParams(f"there is no list {path}")
    reader = csv.reader(read_text(path).splitlines(keepends=True), strict=True)
    try:
        head = next(reader, [])
        if not head or len(set(head)) < len(head) or not all(name.strip() for name in head):
            raise BadParams(f"{path}: its first line must name the columns, each once")
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, head, cells
    except csv.Error as error:
        raise BadParams(f"{path}:{reader.line_num} is not CSV: {error}") from None
