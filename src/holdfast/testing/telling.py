"""How the selftest speaks: how far it is on stderr, one table at the end on stdout. Judges nothing."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.text import Text

from holdfast.demo.stretch import Stretch
from holdfast.testing.judgement import KILLED, SelftestJudgement
from holdfast.testing.trial import CONCURRENCY, Evidence, TrialPlan

WORDS_SHOWN = 2000
PROMISE_WIDTH = 24


class SelftestOutput:
    """A line per death; on a terminal one line that changes instead."""

    def __init__(self, plan: TrialPlan, *, plain: bool, color: bool) -> None:
        self._plan, self._killed = plan, 0
        self._err, self._out = console(sys.stderr, color=color), console(sys.stdout, color=color)
        live = self._err.is_terminal and not self._err.is_dumb_terminal and not plain
        self._status = self._err.status(f"crawling {plan.pages} pages; {kills(plan.kills)} to come") if live else None

    def __enter__(self) -> Self:
        if self._status:
            self._status.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._status:
            self._status.stop()

    def tell(self, stretch: Stretch) -> None:
        if stretch.code != KILLED:
            return
        self._killed += 1
        done = stretch.left.counts.succeeded if stretch.left else 0
        whom = " of all" if self._plan.processes > 1 else ""
        whom = f" of worker {stretch.pid}" if stretch.fallen is not None else whom
        line = f"kill {self._killed}/{self._plan.kills}{whom} after {len(stretch.asks)} requests: "
        line += f"{done} of {self._plan.pages} pages done, {len(stretch.held)} in hand"
        if self._status:
            self._status.update(line)
        else:
            self._err.print(line)

    def complain(self, text: str) -> None:
        self._err.print(text)

    def conclude(self, judgement: SelftestJudgement, evidence: Evidence, scope: dict[str, str]) -> None:
        """The table, then N and the bound in one sentence."""
        plan = self._plan
        several = f" by {plan.processes} processes" if plan.processes > 1 else ""
        self._out.print(
            f"selftest: {plan.pages} pages, {kills(plan.kills)}, seed {plan.seed}, {CONCURRENCY} at a time"
            f"{several}, {plan.delay_ms} ms a page",
            style="bold",
        )
        self._out.print(", ".join(scope.values()), style="dim")
        for line in judgement.lines:
            mark = Text("✓ " if line.holds else "✗ ", style="green" if line.holds else "bold red")
            self._out.print(mark + Text(f"{line.promise:<{PROMISE_WIDTH}}", style="") + Text(line.found))
        self._out.print(closing(judgement, evidence), style="bold" if judgement.holds else "bold red")
        if not judgement.holds:
            again = f"holdfast selftest --pages {plan.pages} --kill {plan.kills} --seed {plan.seed}"
            self._out.print(f"Again: {again}{f' --processes {plan.processes}' if several else ''}")
            self._out.print(f"The last words of the command:\n{evidence.words[-WORDS_SHOWN:]}")


def closing(judgement: SelftestJudgement, evidence: Evidence) -> str:
    """Never more than was measured: N trials without a failure bound the rate at about 3/N, at 95 %."""
    n = judgement.numbers["kills"]["delivered"]
    took = f"{evidence.seconds:.0f} s"
    if not judgement.holds:
        broken = [line.promise for line in judgement.lines if not line.holds]
        return f"Broken: {', '.join(broken)}. {kills(n)}, {took}."
    if not n:
        return f"0 lost and 0 doubled, without a single kill, in {took}."
    bound = f"{min(100.0, 300 / n):.3g} %"
    return f"0 lost and 0 doubled in {kills(n)} (3/N: at 95 % below {bound} per kill), in {took}."


def console(file: object, *, color: bool) -> Console:
    """Lines are never wrapped or decorated; NO_COLOR is heeded also where colour was not forbidden."""
    return Console(file=file, no_color=None if color else True, highlight=False, markup=False, soft_wrap=True)  # type: ignore[arg-type]


def kills(n: int) -> str:
    return "1 kill" if n == 1 else f"{n} kills"
