"""Completion scripts, in the shells they are for: sourced without a word, and Tab completes what was begun (C14)."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path
from shutil import which

import pytest

from cli.commands import DEADLINE_S, PROGRAM, environment, holdfast, ledger_in, submit
from holdfast.cli.commands.completion import SHELLS
from holdfast.cli.commands.table import COMMANDS
from servers import need_tool
from waiting import wait_until

# No Debian has PowerShell: it is asked where somebody has installed it.
ASKED = [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")] + [("powershell", "pwsh")] * bool(which("pwsh"))
SHOW_LINE = "\x14"  # Ctrl-T, bound below
COMPINIT = "autoload -Uz compinit && compinit -u -d ./known-functions"
ZSH = """
PS1='ready> '
{load}
show-line() {{ print -r -- $BUFFER > line; exit }}
zle -N show-line
bindkey '^T' show-line
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a job, a recipe, and the command on the path."""
    tmp_path = tmp_path_factory.mktemp("completion")
    with ledger_in(tmp_path) as ledger:
        submit(ledger)
    (tmp_path / "ponds.py").touch()
    command = tmp_path / "bin" / "holdfast"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {" ".join(PROGRAM)} "$@"\n')
    command.chmod(0o755)
    return tmp_path


def run(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [need_tool(words[0]), *words[1:]], cwd=folder, env=our_environment(folder), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def our_environment(folder: Path) -> dict[str, str]:
    home = {"HOME": str(folder), "ZDOTDIR": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    return environment(**home, TERM="vt100", PATH=f"{folder / 'bin'}:{os.environ['PATH']}")


def script_for(shell: str, folder: Path) -> Path:
    script = folder / f"completion.{shell}"
    script.write_text(holdfast("completion", shell, cwd=folder).out)
    return script


@pytest.mark.parametrize("shell", SHELLS)
def test_completions_name_every_command(shell: str, tmp_path: Path) -> None:
    """C14."""
    done = holdfast("completion", shell, cwd=tmp_path)
    assert done.code == 0
    assert all(row.name in done.out for row in COMMANDS)
    assert "max-depth" in done.out


@pytest.mark.parametrize(("shell", "program"), ASKED)
def test_completions_can_be_sourced(shell: str, program: str, folder: Path) -> None:
    """C14."""
    assert run(folder, program, "-c", f". {script_for(shell, folder)}") == ""


def bash_completes(typed: str, folder: Path) -> str:
    """The one word it offers; what it would do at a Tab."""
    words = typed.split(" ")
    lines = [
        f". {script_for('bash', folder)}",
        f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _holdfast",
        'printf "%s\\n" "${COMPREPLY[@]}"',
    ]
    return run(folder, "bash", "-c", "\n".join(lines)).strip()


def fish_completes(typed: str, folder: Path) -> str:
    said = run(folder, "fish", "-c", f". {script_for('fish', folder)}; complete -C '{typed}'")
    return "\n".join(line.partition("\t")[0] for line in said.splitlines())


def zsh_completes(typed: str, folder: Path) -> str:
    """Typed on a terminal, with a real Tab: zsh completes nowhere else."""
    return zsh_at_a_terminal(typed, folder, f"{COMPINIT} && . {script_for('zsh', folder)}")


def zsh_at_a_terminal(typed: str, folder: Path, load: str) -> str:
    (folder / ".zshrc").write_text(ZSH.format(load=load))
    (folder / "line").unlink(missing_ok=True)
    keyboard, terminal = pty.openpty()
    shell = subprocess.Popen(
        [need_tool("zsh"), "-d", "-i"], cwd=folder, env=our_environment(folder), stdin=terminal, stdout=terminal,
        stderr=terminal, start_new_session=True,
    )  # fmt: skip
    try:
        os.close(terminal)
        _read_until(keyboard, b"ready> ")
        os.write(keyboard, f"{typed}\t{SHOW_LINE}".encode())
        wait_until(lambda: (folder / "line").exists() and (folder / "line").read_text(), DEADLINE_S, "the line")
    finally:
        shell.kill()
        shell.wait()
        os.close(keyboard)
    line = (folder / "line").read_text()
    return line.removeprefix(typed.rpartition(" ")[0]).strip()


def _read_until(terminal: int, words: bytes) -> None:
    said = b""
    while words not in said:
        said += os.read(terminal, 4096)


COMPLETES: dict[str, Callable[[str, Path], str]] = {
    "bash": bash_completes, "zsh": zsh_completes, "fish": fish_completes,
}  # fmt: skip


@pytest.mark.parametrize("shell", COMPLETES)
@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("holdfast che", "checkpoints"),
        ("holdfast hel", "help"),
        ("holdfast --pla", "--plain"),
        ("holdfast status --b", "--by"),
        ("holdfast --plain frontier --b", "--by"),
        ("holdfast --data other che", "checkpoints"),
        ("holdfast -C help frontier --b", "--by"),
        ("holdfast --database status --env-file x frontier --b", "--by"),
        ("holdfast help exit", "exit-codes"),
        ("holdfast completion z", "zsh"),
        ("holdfast pause fro", "frogs"),
    ],
)
def test_a_tab_completes_commands_options_and_jobs(shell: str, typed: str, wanted: str, folder: Path) -> None:
    """C14."""
    assert COMPLETES[shell](typed, folder) == wanted


@pytest.mark.parametrize("shell", ["zsh", "fish"])  # bash does so by `-o default`, at a terminal only
def test_a_tab_completes_files_where_a_command_takes_them(shell: str, folder: Path) -> None:
    assert COMPLETES[shell]("holdfast run pon", folder) == "ponds.py"
    assert COMPLETES[shell]("holdfast --env-file pon", folder) == "ponds.py"


def test_bash_takes_a_value_behind_an_equals_sign_for_no_command(folder: Path) -> None:
    """To bash that is three words; the value itself is a file, by `-o default`."""
    assert bash_completes("holdfast --data = other che", folder) == "checkpoints"
    assert bash_completes("holdfast --json = id,status frontier --b", folder) == "--by"
    assert bash_completes("holdfast --data = che", folder) == bash_completes("holdfast --data che", folder) == ""


def test_zsh_also_finds_its_script_in_a_folder_of_functions(folder: Path) -> None:
    """As others are installed, by the name _holdfast; at the first Tab, which loads it."""
    (folder / "_holdfast").write_text(holdfast("completion", "zsh", cwd=folder).out)
    load = f"fpath=({folder} $fpath) && {COMPINIT}"
    assert zsh_at_a_terminal("holdfast che", folder, load) == "checkpoints"
