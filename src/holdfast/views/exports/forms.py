"""The forms that results are written in: their names, how a path says which one is meant, what each can do.

Every start command reads the list, so it is generated from what the modules that write declare, and loads none of them.
"""

from __future__ import annotations

from holdfast.views.exports.form_list import FORMS as FORMS
from holdfast.views.exports.form_row import Form

DEFAULT = "jsonl"
NAMES = tuple(FORMS)


def form_by_ending(path: str) -> Form | None:
    """The form that the path asks for; None where it names none."""
    return next((form for form in FORMS.values() if path.endswith(form.ending)), None)
