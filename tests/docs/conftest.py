"""The generator of the docs lies beside them and is no package of ours: its folder goes onto the path."""

from __future__ import annotations

import sys

from tidy.source_tree import ROOT

sys.path.insert(0, str(ROOT / "docs"))
