"""The schemas that are shipped, as tests hold answers to them: nothing is allowed that a schema does not name."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator

from tidy.source_tree import ROOT

SCHEMAS = ROOT / "src" / "holdfast" / "schemas"


def strict(schema: Any) -> Any:
    """The schema, with nothing allowed that it does not name: what is added to an answer is added to its schema."""
    if isinstance(schema, dict):
        closed = {name: strict(value) for name, value in schema.items()}
        return {"additionalProperties": False, **closed} if "properties" in closed else closed
    return [strict(item) for item in schema] if isinstance(schema, list) else schema


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(strict(json.loads((SCHEMAS / f"{name}.json").read_text())))
