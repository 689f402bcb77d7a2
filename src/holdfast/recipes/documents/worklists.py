"""Which cases a complete collection holds (DOC-12, DOC-15). Criminal and inactive cases are in none."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.recipes.documents.versions import Case


def collectable(cases: Mapping[str, Case]) -> tuple[str, ...]:
    """Active and not criminal: what a complete collection holds."""
    return tuple(key for key, case in cases.items() if case.is_active and not case.entry.is_criminal)
