"""Print a script with which the shell completes commands, options and their values.

It is made from the parsers of the commands themselves. For bash, add this line to ~/.bashrc:

  eval "$(tanglewood completion bash)"

for zsh the same with zsh to ~/.zshrc; for fish: tanglewood completion fish > ~/.config/fish/completions/tanglewood.fish
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

HELP = "a script that completes commands and options in the shell"
EXAMPLES = """\
  eval "$(tanglewood completion bash)"
  tanglewood completion fish > ~/.config/fish/completions/tanglewood.fish"""
SHELLS = ("bash", "zsh", "fish")
NAME_SYSTEMS = ("system", "not_covered_by")  # options whose parser takes any name, and says later what there is
LONGEST_HELP = 80  # that fish shows beside an option

# Words after an option that takes one of some values are those values; other words are options or files. A command such
# as reproduce has commands of its own, so what was typed is looked up from its longest beginning to its shortest. Names
# of files may have spaces in them, so that only ends of lines divide them. The $((...)) is for zsh.
BASH = """\
_tanglewood() {{
    local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" path="" word
    for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD-1))}}"; do
        case "$path $word" in
            {paths}) path="$path $word" ;;
        esac
    done
    local words="" options="" values=""
    case "$path" in
{commands}
    esac
    case "$path:$prev" in
{values}
    esac
    if [ -n "$values" ]; then
        COMPREPLY=($(compgen -W "$values" -- "$cur"))
    elif [ "${{cur#-}}" != "$cur" ]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
    else
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
        local IFS=$'\n'
        [ -n "$path" ] && COMPREPLY+=($(compgen -f -- "$cur"))
    fi
}}
complete -o filenames -F _tanglewood tanglewood
"""
ZSH = "autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n"


class Known(NamedTuple):
    """A command: the words that lead to it, its parser, and the words that may come first after it."""

    path: tuple[str, ...]
    parser: argparse.ArgumentParser
    words: dict[str, str]  # with what they mean


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"one of {', '.join(SHELLS)}")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from tanglewood.cli import whole_parser

    known = [*commands_of(whole_parser())]
    print(fish_script(known) if args.shell == "fish" else bash_script(known, zsh=args.shell == "zsh"), end="")
    return 0


def commands_of(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[Known]:
    """Yield a parser and those of its commands, each with the words that lead to it."""
    words: dict[str, str] = {}
    below: list[tuple[str, argparse.ArgumentParser]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            words |= {choice.dest: choice.help or "" for choice in action._choices_actions}
            below += action.choices.items()
        elif not action.option_strings and action.choices:
            words |= {str(choice): "" for choice in action.choices}
    yield Known(path, parser, words)
    for name, other in below:
        yield from commands_of(other, (*path, name))


def options_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the options of a parser, but for those that are not shown."""
    return [action for action in parser._actions if action.option_strings and action.help != argparse.SUPPRESS]


def values_of(action: argparse.Action) -> list[str]:
    """Return the values that an option may have, if there are some to choose from."""
    from tanglewood.systems import SYSTEMS

    return [*map(str, action.choices or (SYSTEMS if action.dest in NAME_SYSTEMS else ()))]


def bash_script(known: list[Known], *, zsh: bool = False) -> str:
    """Return the script for bash, or for zsh, which can do as bash does."""
    commands, values = [], []
    for command in known:
        path = "".join(f" {word}" for word in command.path)
        options = " ".join(word for action in options_of(command.parser) for word in action.option_strings)
        commands.append(f'        "{path}") words="{" ".join(command.words)}"; options="{options}" ;;')
        for action in options_of(command.parser):
            if found := values_of(action):
                names = "|".join(f'"{path}:{word}"' for word in action.option_strings)
                values.append(f'        {names}) values="{" ".join(found)}" ;;')
    paths = "|".join(f'"{"".join(f" {word}" for word in command.path)}"' for command in known if command.path)
    script = BASH.format(paths=paths, commands="\n".join(commands), values="\n".join(values))
    return (ZSH if zsh else "") + script


def fish_script(known: list[Known]) -> str:
    """Return the script for fish."""
    lines = ["complete -c tanglewood -n __fish_use_subcommand -f"]
    for command in known:
        seen = " && ".join(f"__fish_seen_subcommand_from {word}" for word in command.path)
        when = f"-n {_quoted(seen)}" if seen else "-n __fish_use_subcommand"
        for word, told in command.words.items():
            lines.append(f"complete -c tanglewood {when} -a {word} -d {_quoted(told)}")
        for action in options_of(command.parser):
            names = " ".join(
                f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}" for word in action.option_strings
            )
            takes = "" if action.nargs == 0 else " -r"
            found = " ".join(values_of(action))
            choices = f" -f -a '{found}'" if found else ""
            lines.append(f"complete -c tanglewood {when} {names}{takes}{choices} -d {_quoted(action.help or '')}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a text as one word for fish, without argparse's doubled signs of percent; long ones are cut."""
    text = " ".join(text.replace("%%", "%").split())
    short = text if len(text) <= LONGEST_HELP else f"{text[: LONGEST_HELP - 1].rstrip()}…"
    return "'" + short.replace("\\", "\\\\").replace("'", "\\'") + "'"
