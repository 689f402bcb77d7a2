"""Which words may be a mark. Pure."""

from __future__ import annotations

import re

from holdfast.errors import BadParams

WORD_MAX = 64
REJECTED = "rejected"  # the mark that removes a result from the exports
# What the filter grammar gives a meaning (spaces, commas, colons, quotes, globs) cannot be part of a mark.
_WORD = re.compile(rf"[^\W_][\w.+/-]{{0,{WORD_MAX - 1}}}")


def check_word(word: str) -> str:
    if _WORD.fullmatch(word) is None:
        raise BadParams(
            f"{word!r} is not a label: write one word of letters, digits and . _ - + /, at most {WORD_MAX} characters",
            hint="rejected, keep, or a word of yours",
        )
    return word
