"""Simulated processes in one thread, on a clock that is moved by hand, against the real ledgers (suite T2)."""
