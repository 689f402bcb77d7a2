"""The benchmark lies beside the product and is no package of it: the project's folder goes onto the path."""

from __future__ import annotations

import sys

from tidy.source_tree import ROOT

sys.path.insert(0, str(ROOT))
