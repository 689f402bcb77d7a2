"""Mutants of `audit`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "verify trusts a checkpoint's checksum",
        "a damaged checkpoint is told (F3)",
        "audit/checkpoints.py",
        (("    whole = sha256(document).digest() == checksum", "    whole = bool(checksum)"),),
        "crash/test_damage.py -k 'spoiled_checkpoint'",
    ),
    Mutant(
        "bytes of unchanged pages not missed",
        "`verify` and `doctor` miss the bytes of a page, whichever run fetched them (F1)",
        "audit/segments.py",
        (("THEN (SELECT max(k.gen) FROM body k WHERE k.target = t.id) ELSE t.gen END", "THEN t.gen ELSE t.gen END"),),
        "cli/test_only_new.py -k 'lost_its_bytes'",
    ),
)
