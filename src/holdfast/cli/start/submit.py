"""Around a submit, for every start command: what is refused, what is said of an earlier job, what was taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.screen.refusals import status_word
from holdfast.cli.start.carry_on import refuse_too_many
from holdfast.config.headers import check_secrets
from holdfast.errors import BadParams
from holdfast.model.job import Job, Options
from holdfast.ports import Ledger
from holdfast.views.job import job_document


class CliSubmit(msgspec.Struct, frozen=True):
    """Fulfils `control.submit.SubmitHooks`; what becomes of a job that is there differs by command."""

    call: Call
    found: Callable[[Job, dict[str, Any], Options], Job]

    def check(self, options: Options, urls: Iterable[str]) -> None:
        refuse_too_many(self.call.options.processes, options)
        for url in urls:
            sentence = wiring.refuse_private_seed(options, url)
            if sentence is not None:
                raise BadParams(sentence)
        check_secrets(options)
        wiring.check_browser(options, self.call.settings.browser)

    def as_found(self, job: Job, params: dict[str, Any], options: Options) -> Job:
        return self.found(job, params, options)

    def told_aside(self, job: Job, aside: Job) -> None:
        self.call.console.say(f"The earlier {job.name} is kept as {aside.name}.")

    def told_first(self, others: list[Job], mode: str | None) -> None:
        if others:
            names = " and ".join(job.name for job in others)
            way = f"holdfast {self.call.command} {others[0].name}"
            self.call.console.say(f"A second job of the same inputs is begun beside {names}. To go on with that: {way}")
        elif mode == "new":
            self.call.console.say(
                "There is no earlier run to compare with (--mode new): this first one fetches everything."
            )


def submitted(call: Call, ledger: Ledger, job: Job) -> int:
    if job.status == "pending":
        call.console.say(f"Submitted {job.uid} {job.name}. Start it: holdfast {call.command} {job.word}")
    else:
        call.console.say(f"{job.name} was submitted before and is {status_word(job)}.")
    if call.globals.json:
        call.console.document(job_document(*ledger.books(job.id)))
    return 0
