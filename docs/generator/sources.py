"""Modules of the program that follow from its tables: editors and type checkers read source, and run nothing.

They are written into the package that is imported, so that a copy of the program can be generated as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from msgspec.structs import asdict, replace

import holdfast
from holdfast.client.options import PRESET, python_options
from holdfast.config.options import OPTIONS
from holdfast.model.option import PACE, Option
from holdfast.recipes import catalogue
from holdfast.views import exports
from holdfast.views.exports.form_row import Form

BY = "Generated from the rows of job options by `python docs/make.py`: change a row, not this."
BY_FORMS = "Generated from the `FORM` of each module by `python docs/make.py`: change that, not this."
TYPES_FROM = ("collections.abc.", "typing.")

JOB_OPTIONS = '''"""How a job is worked, as it is stored with the job.

{by}
"""

from __future__ import annotations

import msgspec


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Pace, tries, budgets, limits. Kept with the job: a resume is as polite as the start."""

{fields}


# A job from elsewhere may bring these: how fast, how long, how often, how much; or nothing but a name.
HARMLESS = frozenset(
    {{
{harmless}
    }}
)
# What people are told first of others that it brings; of those in neither, name and value.
TOLD = {{
{told}
}}
# Texts that may name a secret (`env:NAME`, `file:PATH`), and what they are called where it cannot be had.
SECRETS = {{
{secrets}
}}
'''

OPTION_TYPES = '''"""The options of a job as Python spells them, for editors and type checkers.

{by}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict


class PaceOptions(TypedDict, total=False):
    """How fast and how long; a changed one is applied to a job that is there. Durations: seconds, or `"30m"`."""

{pace}


class CrawlOptions(PaceOptions, total=False):
    """Pace, and what belongs to the site; a site job that is there keeps its scope."""

{site}
'''

FORM_LIST = '''"""The list of forms that results are written in, which loads none of the modules that write.

{by}
"""

from __future__ import annotations

from holdfast.views.exports.form_row import Form

FORMS: dict[str, Form] = {{
{forms}
}}
'''


def sources() -> dict[Path, str]:
    """What each generated module must hold now."""
    package = Path(str(holdfast.__file__)).parent
    return {
        package / "model/job_options.py": job_options(),
        package / "client/option_types.py": option_types(),
        package / "views/exports/form_list.py": form_list(),
    }


def job_options() -> str:
    """The struct that a job is stored with: a field for each row that says how it is stored."""
    of_kinds = (row for kind in catalogue.every_kind() for row in kind.own_pace)
    rows = {row.field: row for row in (*OPTIONS, *of_kinds) if row.stored is not None}
    stored = [(row.stored, row.meaning) for row in rows.values() if row.stored is not None]
    return JOB_OPTIONS.format(
        by=BY,
        fields=_lines(
            f"    {each.field}: {_annotation(each.type)} = {_literal(each.default)}  # {meaning}"
            for each, meaning in stored
        ),
        harmless=_lines(f"        {_literal(each.field)}," for each, _ in stored if each.harmless),
        secrets=_lines(
            f"    {_literal(row.field)}: {_literal(row.flag or row.name)}," for row in rows.values() if _is_secret(row)
        ),
        told=_lines(f"    {_literal(each.field)}: {_literal(each.told)}," for each, _ in stored if each.told),
    )


def _is_secret(row: Option) -> bool:
    """Headers are pairs: what of them is secret goes apart."""
    return row.is_secret and row.type.gather is None


def option_types() -> str:
    """The typed dicts: of the options that every kind has, and of those of a site."""
    common = {row.python_name: row for row in OPTIONS if row.part == PACE and row.python_name}
    site = python_options(catalogue.kind("site"))
    own = {name: row for name, row in site.items() if name not in common}
    return OPTION_TYPES.format(by=BY, pace=_entries(common), site=f"{_entries(own)}\n    {PRESET}: str")


def form_list() -> str:
    """The forms that modules declare, in the order of their places."""
    names = [found.name for found in iter_modules(exports.__path__)]
    modules = {name: import_module(f"{exports.__name__}.{name}") for name in names}
    forms = [replace(module.FORM, module=name) for name, module in modules.items() if hasattr(module, "FORM")]
    rows = (
        f"    {_literal(form.name)}: Form(\n{_fields(form)}\n    ),"
        for form in sorted(forms, key=lambda form: (form.place, form.name))
    )
    return FORM_LIST.format(by=BY_FORMS, forms=_lines(rows))


def _fields(form: Form) -> str:
    """Those that say something."""
    plain = Form(name="", ending="")
    named = {name: value for name, value in asdict(form).items() if value != getattr(plain, name)}
    return _lines(f"        {name}={_literal(value)}," for name, value in named.items())


def _entries(rows: dict[str, Option]) -> str:
    return _lines(f"    {name}: {_annotation(row.type.python)}" for name, row in rows.items())


def _annotation(annotation: Any) -> str:
    """As source has it: `int`, `float | str`, `Sequence[str]`."""
    text = annotation.__name__ if isinstance(annotation, type) and not _has_arguments(annotation) else repr(annotation)
    for prefix in TYPES_FROM:
        text = text.replace(prefix, "")
    return text


def _has_arguments(annotation: Any) -> bool:
    return bool(getattr(annotation, "__args__", ()))


def _literal(value: Any) -> str:
    """As the formatter writes it: quoted twice, and large numbers in groups."""
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:_}" if isinstance(value, int) and not isinstance(value, bool) else repr(value)


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)
