"""`holdfast completion SHELL`: a script that completes commands, options and jobs, made from the real parsers."""

from __future__ import annotations

from importlib import import_module

from holdfast.cli.arguments import NAMES, WITH_VALUE
from holdfast.cli.call import Call
from holdfast.cli.commands.table import COMMANDS, Command
from holdfast.cli.parser import Parser
from holdfast.cli.screen.topics import TOPICS

SHELLS = ("bash", "zsh", "fish", "powershell")
HELP = "what a command or a topic is about"
JOB_NAMES = 'holdfast jobs --jsonl 2>/dev/null | sed -n \'s/.*"name":"\\([^"]*\\)".*/\\1/p\''


def arguments(parser: Parser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="|".join(SHELLS), help="your shell")


def run(call: Call) -> int:
    makers = {"bash": _bash, "zsh": _zsh, "fish": _fish, "powershell": _powershell}
    call.console.data(makers[call.options.shell]())
    return 0


def _options(row: Command) -> list[str]:
    """The command's own options and words, then the global ones."""
    parser = Parser(row.name, row.summary, row.examples)
    import_module(f"holdfast.cli.commands.{row.module}").arguments(parser)
    own = [word for action in parser._actions for word in action.option_strings if word.startswith("--")]
    words = [str(word) for action in parser._actions if not action.option_strings for word in action.choices or ()]
    return list(dict.fromkeys([*words, *own, *(name for name in NAMES if name.startswith("--"))]))


def _takes_job(row: Command) -> bool:
    return "JOB" in row.usage or "NAME" in row.usage


def _commands() -> str:
    return " ".join([*(row.name for row in COMMANDS), "help"])


def _topics() -> str:
    return " ".join([*(row.name for row in COMMANDS), *TOPICS])


def _bash() -> str:
    cases = [f"    {row.name}) words='{' '.join(_options(row))}'; jobs={int(_takes_job(row))} ;;" for row in COMMANDS]
    return "\n".join(
        [
            "# holdfast completion for bash: source <(holdfast completion bash)",
            "_holdfast() {",
            "  local here=${COMP_WORDS[COMP_CWORD]} command='' words='' jobs=0 word value=0",
            "  COMPREPLY=()",
            '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
            '    if [ "$word" = = ]; then value=1; continue; fi',  # --data=DIR is three words to bash
            "    if [ $value = 1 ]; then value=0; continue; fi",
            f"    case $word in {'|'.join(WITH_VALUE)}) value=1 ;; -*) ;; *) command=$word; break ;; esac",
            "  done",
            '  if [ "$here" = = ] || [ $value = 1 ]; then return; fi',
            "  case $command in",
            f"    '') words='{_commands()} {' '.join(NAMES)}' ;;",
            f"    help) words='{_topics()}' ;;",
            *cases,
            "  esac",
            f'  if [ "$jobs" = 1 ] && [ "${{here#-}}" = "$here" ]; then words="$words $({JOB_NAMES})"; fi',
            '  COMPREPLY=($(compgen -W "$words" -- "$here"))',
            "}",
            "complete -o default -F _holdfast holdfast",
        ]
    )


def _zsh() -> str:
    described = [f"    '{row.name}:{_plain(row.summary)}'" for row in COMMANDS] + [f"    'help:{HELP}'"]
    cases = [
        f"    {row.name}) compadd -- {' '.join(_options(row))}"
        + (f' ${{(f)"$({JOB_NAMES})"}}' if _takes_job(row) else "")
        + "; _files ;;"
        for row in COMMANDS
    ]
    return "\n".join(
        [
            "#compdef holdfast",
            "# holdfast completion for zsh: source <(holdfast completion zsh)",
            "_holdfast() {",
            "  local -a commands",
            "  local command='' word value=0",
            "  commands=(",
            *described,
            "  )",
            '  for word in "${(@)words[2,CURRENT-1]}"; do',
            "    if (( value )); then value=0; continue; fi",
            f"    case $word in {'|'.join(WITH_VALUE)}) value=1 ;; -*) ;; *) command=$word; break ;; esac",
            "  done",
            "  if (( value )); then _files; return; fi",
            "  case $command in",
            f"    '') _describe command commands; compadd -- {' '.join(NAMES)} ;;",
            f"    help) compadd -- {_topics()} ;;",
            *cases,
            "  esac",
            "}",
            # Found in a folder of functions, this file is the function's body at its first call.
            "if [[ $funcstack[1] == _holdfast ]]; then",
            '  _holdfast "$@"',
            "elif (( $+functions[compdef] )); then",
            "  compdef _holdfast holdfast",
            "fi",
        ]
    )


def _fish() -> str:
    lines = [
        "# holdfast completion for fish: holdfast completion fish | source",
        "function __holdfast_jobs",
        f"  {JOB_NAMES}",
        "end",
        "function __holdfast_is",  # the command that was typed, or none
        "  set -l words (commandline -opc)",
        "  set -e words[1]",
        "  set -l command ''",
        "  set -l value 0",
        "  for word in $words",
        "    if test $value = 1",
        "      set value 0",
        f"    else if contains -- $word {' '.join(WITH_VALUE)}",
        "      set value 1",
        "    else if not string match -q -- '-*' $word",
        "      set command $word",
        "      break",
        "    end",
        "  end",
        '  test "$command" = "$argv"',
        "end",
        "complete -c holdfast -n __holdfast_is -f",
        f"complete -c holdfast -n __holdfast_is -a help -d '{HELP}'",
        f"complete -c holdfast -n '__holdfast_is help' -f -a '{_topics()}'",
        *(f"complete -c holdfast -n __holdfast_is {_switch(name)}" for name in NAMES),
    ]
    for row in COMMANDS:
        lines.append(f"complete -c holdfast -n __holdfast_is -a {row.name} -d '{_plain(row.summary)}'")
        seen = f"'__holdfast_is {row.name}'"
        for word in _options(row):
            what = _switch(word) if word.startswith("--") else f"-a {word}"
            lines.append(f"complete -c holdfast -n {seen} {what}")
        if _takes_job(row):
            lines.append(f"complete -c holdfast -n {seen} -a '(__holdfast_jobs)'")
    return "\n".join(lines)


def _switch(name: str) -> str:
    """An option as fish wants it."""
    spelt = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
    return f"{spelt} -r -F" if name in WITH_VALUE else spelt


def _powershell() -> str:
    rows = [f"    '{row.name}' = @({', '.join(_quoted(word) for word in _options(row))})" for row in COMMANDS]
    return "\n".join(
        [
            "# holdfast completion for PowerShell: holdfast completion powershell | Out-String | Invoke-Expression",
            "Register-ArgumentCompleter -Native -CommandName holdfast -ScriptBlock {",
            "  param($wordToComplete, $commandAst, $cursorPosition)",
            "  $words = @{",
            *rows,
            "  }",
            "  $typed = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })",
            "  $command = $typed | Where-Object { $words.ContainsKey($_) } | Select-Object -First 1",
            "  $choices = if ($command) { $words[$command] } else { $words.Keys }",
            '  $choices | Sort-Object | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {',
            "    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)",
            "  }",
            "}",
        ]
    )


def _quoted(word: str) -> str:
    return f"'{word}'"


def _plain(text: str) -> str:
    """A summary that no shell reads anything into."""
    return text.replace("'", "").replace(":", ",").replace("`", "")
