"""Lists of jobs: one row, one job, by a template whose `{column}` stands for a cell. Reads files, starts nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from holdfast.config.files import read_text, read_toml
from holdfast.config.jobfile import JobWish, job_in
from holdfast.errors import BadParams
from holdfast.model.job import check_name


def wishes_of_list(path: Path, template: Path) -> Iterator[tuple[int, JobWish]]:
    """Each row's job with its line in the file; BadParams where one cannot be read, or a name stands twice."""
    if not template.is_file():
        raise BadParams(f"--template: there is no file {template}")
    document = read_toml(template)
    names: dict[str, int] = {}
    for line, row in _rows(path):
        wish = replace(job_in(document, template, row), where=f"{path}:{line}")
        if wish.name is not None:
            check_name(wish.name)
            if wish.name in names:
                raise BadParams(f"{path}:{line}: the name {wish.name!r} is that of line {names[wish.name]} too")
            names[wish.name] = line
        yield line, wish


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    import csv

    if not path.is_file():
        raise BadParams(f"there is no list {path}")
    reader = csv.reader(read_text(path).splitlines(keepends=True), strict=True)
    try:
        head = next(reader, [])
        if not head or len(set(head)) < len(head) or not all(name.strip() for name in head):
            raise BadParams(f"{path}: its first line must name the columns, each once")
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(head):
                raise BadParams(f"{path}:{reader.line_num} has {len(cells)} cells, not {len(head)}")
            yield reader.line_num, dict(zip((name.strip() for name in head), map(str.strip, cells), strict=True))
    except csv.Error as error:
        raise BadParams(f"{path}:{reader.line_num} is not CSV: {error}") from None
