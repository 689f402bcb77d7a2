"""Limits and pace in one word (SIT-03). An option typed beside a preset wins; what neither names keeps its default."""

from __future__ import annotations

from holdfast.recipe.kind import Preset

_POLITE = {"delay_ms": 1000, "timeout_s": 30.0}
PRESETS: dict[str, Preset] = {
    "thorough": Preset(
        {"max_depth": 3}, {"max_pages": 100, "time_limit_s": 1800.0, **_POLITE}, "100 pages, depth 3, 30 minutes"
    ),
    "quick": Preset({"max_depth": 2}, {"max_pages": 20, **_POLITE}, "20 pages, depth 2"),
    "docs": Preset({"max_depth": 2}, dict(_POLITE), "depth 2"),
}
HELP = f"{'; '.join(f'{name}: {preset.meaning}' for name, preset in PRESETS.items())}; each 1 request/s per host"
