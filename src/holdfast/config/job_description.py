"""A job as a file describes it, once it is read: what settings have of `job.NAME`, and start commands are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from holdfast.config.job_keys import COMMANDS
from holdfast.recipe.kind import OWN_RECIPE


class JobDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants. `options` are those of ux 3.2 as Python takes them: `{"delay": "2s", "include": ["/a/*"]}`.

    `kind` is one of the catalogue (`site`, `cases`), or a recipe of one's own: `forum.py`, `module:recipe`. `pace` has
    what settings such as `http.timeout` inside the job say, by the field of a job's options.
    """

    kind: str
    name: str | None = None
    inputs: tuple[str, ...] = ()
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)
    params: Mapping[str, Any] = msgspec.field(default_factory=dict)
    pace: Mapping[str, Any] = msgspec.field(default_factory=dict)
    where: str = ""

    @property
    def command(self) -> str:
        """The start command that makes such a job."""
        return COMMANDS.get(self.kind, OWN_RECIPE)
