"""Mutants of `cli`."""

from __future__ import annotations

from mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "doctor always content",
        "a required check that fails is exit code 9 (DOC-30)",
        "cli/commands/doctor.py",
        (("    return exits.OK if _is_fit(checks) else exits.CHECK_FAILED", "    return exits.OK"),),
        "cli/test_doctor.py -k 'full_disk'",
    ),
    Mutant(
        "rows checked one by one",
        "all rows of a list are checked before the first job begins",
        "cli/start/batch.py",
        (("lambda description: check_described(_alone(batch), description, ledger)", "lambda description: None"),),
        "cli/test_batch.py -k 'named_at_once'",
    ),
    Mutant(
        "a list goes on after SIGTERM",
        "whoever works a list stops when told to, though the job at hand came to its end",
        "cli/start/batch.py",
        (("if code in STOPS or handlers.stopped:", "if code in STOPS:"),),
        "crash/test_signals.py -k 'a_list_ends'",
    ),
    Mutant(
        "a dry run of a site crawls it",
        "a dry run sends no request and makes no job, whatever the job's kind (JOB-08)",
        "cli/start/job_files.py",
        (("        elif name not in OF_LISTS:\n", "        elif False:\n"),),
        "cli/test_job_files.py -k 'does_not_have'",
    ),
    Mutant(
        "workers of a dead program go on",
        "a Python program's worker processes end with it, whatever it died of",
        "cli/tied.py",
        (("    tie_to(int(sys.argv.pop(1)), signal.SIGTERM)\n", "    sys.argv.pop(1)\n"),),
        "client/test_several.py -k 'dies and 9'",
    ),
    Mutant(
        "half a cancel looks whole",
        "`status` says that a cancel is not carried out yet, and what ends it",
        "cli/screen/notes.py",
        (("    if is_half_cancelled(ledger, job):\n", "    if False:\n"),),
        "cli/test_cut_cancel.py -k 'status_says'",
    ),
    Mutant(
        "a closed standard stream stays closed",
        "a command that has no screen at all does its work",
        "cli/main.py",
        (("    _open_closed_streams()\n    try:\n", "    try:\n"),),
        "cli/test_unwritable_screen.py -k 'standard_streams'",
    ),
    Mutant(
        "an unwritable screen stops the crawl",
        "a message that cannot be shown stops no work",
        "cli/screen/console.py",
        (
            (
                "        except (OSError, ValueError):  # a full disk behind 2>",
                "        except FileNotFoundError:  # a full disk behind 2>",
            ),
        ),
        "cli/test_unwritable_screen.py -k 'goes_on_to_its_end'",
    ),
    Mutant(
        "older runs streamed again",
        "a crawl to stdout gives what its run brought, each result once",
        "cli/start/streaming.py",
        (("    return (ledger.everything(job.id), 0)", "    return (Bookmark(), 0)"),),
        "cli/test_export.py -k what_that_run_brought",
    ),
    Mutant(
        "moved before its recipe is loaded",
        "a recipe that cannot be loaded moves no job: what was paused by hand stays paused",
        "cli/start/carry_on.py",
        (("                job = with_todays_code(call, ledger, job)\n", ""),),
        "cli/test_run.py -k loaded_moves_no_paused",
    ),
    Mutant(
        "rules dropped by a command that does not repeat them",
        "a rule that leaves targets out of a recipe's job stays until somebody takes it back",
        "cli/commands/run.py",
        (("{**standing, **_rules_typed(call)}", "_rules_typed(call)"),),
        "cli/test_run.py -k 'rule or update'",
    ),
    Mutant(
        "unfinished jobs go on unasked",
        "a job that is not to go on by itself after a crash is paused, and its owner is told",
        "cli/commands/resume.py",
        (("        if not call.options.all:\n            jobs", "        if call.options.all:\n            jobs"),),
        "cli/test_control.py -k 'by_itself'",
    ),
    Mutant(
        "a complete job forgets what is typed for it",
        "a job keeps what is typed for it, also when nothing of it is worked now",
        "cli/start/amend.py",
        (('if not because or job.status == "cancelled":', "if not because or stays_closed(job, call.options.mode):"),),
        "cli/test_starting_again.py -k 'kept_for_its_next_scan'",
    ),
    Mutant(
        "Python waits for the threads of a step",
        "who is told to stop is gone at its deadline",
        "cli/main.py",
        (("        _leave_threads(code)\n", "        pass\n"),),
        "crash/test_step_threads.py -k 'told_to_go and 1'",
    ),
    Mutant(
        "dead seeds pass",
        "a page that the user named and that is not there is a failure",
        "cli/exits.py",
        (("for code in DEAD_LINKS) or dead_seed()", "for code in DEAD_LINKS)"),),
        "cli/test_exits.py -k 'dead_seed'",
    ),
    Mutant(
        "a second Ctrl-C that nobody hears",
        "a second Ctrl-C ends the command at once, whatever its main thread does (PAU-16)",
        "cli/signal_thread.py",
        (("            heard.leave()\n", ""),),
        "crash/test_standstill.py -k 'second_interrupt and deaf'",
        hangs=True,
    ),
    Mutant(
        "a deadline that a step can ignore",
        "a command that is told to go is gone after its deadline (PAU-16)",
        "cli/signal_thread.py",
        (("            heard.give_up()\n", "            pass\n"),),
        "crash/test_standstill.py -k 'after_its_deadline and busy'",
        hangs=True,
    ),
    Mutant(
        "a Ctrl-C counted twice",
        "one Ctrl-C pauses, also where a step has forked",
        "cli/signal_thread.py",
        (
            (
                "    os.register_at_fork(before=let_go, after_in_parent=take_again, after_in_child=let_go)\n",
                "    return\n",
            ),
        ),
        "crash/test_standstill.py -k 'one_interrupt'",
    ),
    Mutant(
        "a child of a step holds the command",
        "a command ends though a step has left a process running",
        "cli/child_processes.py",
        (("    if left:\n", "    if not left:\n"),),
        "crash/test_step_threads.py -k 'left_a_process and 1'",
        hangs=True,
    ),
)
