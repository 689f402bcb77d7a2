"""Changes a job unless another process changed the same values meanwhile. Guards every amendment. No I/O."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from holdfast.errors import Refused
from holdfast.model.job import Job, Options


def amended(stands: Job, known: Job, options: Options | None, params: dict[str, Any] | None) -> Job:
    """`stands` with what is given; itself, where all of that stands already. None means: stays as it is.

    What would be overwritten must be what `known` had, from which the new values were made. Moves and requests in
    between are no matter.
    """
    given = {name: value for name, value in (("options", options), ("params", params)) if value is not None}
    if all(getattr(stands, name) == value for name, value in given.items()):
        return stands
    if any(getattr(stands, name) != getattr(known, name) for name in given):
        raise Refused(
            f"{stands.name} was changed by another process meanwhile; none of this was applied",
            hint="run it again: it starts from what the job has now",
        )
    return replace(stands, **given)
