"""What sites are told, and the budget of one exchange: the same for every fetcher."""

from __future__ import annotations

from holdfast.model.exchange import Budget
from holdfast.model.job import Options
from holdfast.version import __version__

AGENT = f"holdfast/{__version__} (+https://github.com/holdfast/holdfast)"


def budget_of(options: Options) -> Budget:
    """Deadlines and sizes of one exchange."""
    return Budget(
        connect_s=min(options.connect_timeout_s, options.timeout_s),
        first_byte_s=min(options.first_byte_timeout_s, options.timeout_s),
        idle_s=min(options.idle_timeout_s, options.timeout_s),
        total_s=options.timeout_s,
        body_bytes_max=options.max_bytes,
    )
