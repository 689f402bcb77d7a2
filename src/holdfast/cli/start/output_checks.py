"""What is wrong with -o is said before a job is made of the command, not when its results are there to be written."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.start.outputs import Output, read_output
from holdfast.control.submit import JobRequest
from holdfast.ports import Ledger
from holdfast.recipe.kind import Kind
from holdfast.views.exports.forms import FORMS

READ = ("what", "from_", "keywords", "seeds", "template", "from_warc")  # options that name files to read


def checked_output(call: Call, kind: Kind) -> Output | None:
    """Where the results of a job of this kind go, as it was typed; None: nowhere."""
    output = read_output(call, call.options.output, call.options.to)
    if output is not None:
        from holdfast.views.exports.exporter import check_early, names_beside

        _refuse_input(call.options, output.path, names_beside(output.form, kind))
        check_early(output.form, kind, output.path, wiring.storage(call.settings))
    return output


def refuse_taken(call: Call, ledger: Ledger, asked: JobRequest, output: Output | None) -> None:
    """Raise where results would go into a folder that has those of another job than the one that is asked for."""
    if output is None or output.path is None or not FORMS[output.form].is_folder:
        return
    from holdfast.views.exports.folder_owner import owner_of, refuse_folder_of_another

    storage = wiring.storage(call.settings)
    owner = owner_of(storage, output.path)
    if owner is None:
        return
    known = asked.known(ledger)
    if known is not None:
        refuse_folder_of_another(storage, known.name, known.uid, output.path)
    else:  # a new job does not get the name of one that is there
        is_there = any(job.name == owner for job in ledger.jobs())
        refuse_folder_of_another(storage, "" if is_there else owner, "", output.path)


def _refuse_input(options: Namespace, path: Path | None, beside: tuple[str, ...]) -> None:
    """A list that is replaced by what was made from it is gone. `beside`: what is written if the path is a folder."""
    if path is not None:
        from holdfast.views.exports.inputs import refuse_files

        refuse_files(_files_read(options), path, beside)


def _files_read(options: Namespace) -> Iterator[str]:
    for name in READ:
        value = getattr(options, name, None)
        yield from [value] if isinstance(value, str) else value or ()
