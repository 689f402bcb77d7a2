"""The forms that results are written in: their names, how a path says which one is meant, what each can do.

Every start command reads the list, so it is generated from what the modules that write declare, and loads none of them.
"""

from __future__ import annotations

from holdfast.errors import BadParams
from holdfast.views.exports.form_list import FORMS as FORMS
from holdfast.views.exports.form_row import Form

DEFAULT = "jsonl"
NAMES = tuple(FORMS)


def refuse_shards(form: str, shard: int | None, split: str) -> None:
    """BadParams where shards or parts are asked for of a form that has none."""
    if FORMS[form].has_shards:
        return
    for name, given in (("shard", shard), ("split", split)):
        if given:
            of = " and ".join(each.name for each in FORMS.values() if each.has_shards)
            raise BadParams(f"--{name} is for {of}, and these results are {form}", hint=f"--format {of}")


def form_by_ending(path: str) -> Form | None:
    """The form that the path asks for; None where it names none."""
    return next((form for form in FORMS.values() if path.endswith(form.ending)), None)
