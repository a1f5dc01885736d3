"""The scripts that complete commands and options: what a shell makes of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import time

import pytest

from tanglewood.cli import COMMANDS, main
from tanglewood.systems import SYSTEMS


@pytest.fixture
def script(capsys):
    def of(shell):
        assert main(["completion", shell]) == 0
        return capsys.readouterr().out

    return of


def completed(script, *words):
    """What bash offers for the last of the words."""
    given = " ".join(f"'{word}'" for word in words)
    ask = f"COMP_WORDS=({given}); COMP_CWORD={len(words) - 1}; _tanglewood; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_commands_options_values_and_files(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.conllu").touch()
    (tmp_path / "two words.conllu").touch()
    bash = script("bash")
    assert completed(bash, "tanglewood", "") == list(COMMANDS)
    assert completed(bash, "tanglewood", "co") == ["corpus", "coverage", "convert", "completion"]
    assert completed(bash, "tanglewood", "train", "--ep") == ["--epochs"]
    assert completed(bash, "tanglewood", "train", "--learner", "li") == ["linear", "liblinear"]
    assert completed(bash, "tanglewood", "train", "train.conllu", "--system", "") == list(SYSTEMS)
    assert completed(bash, "tanglewood", "parse", "tr") == ["train.conllu"]
    assert completed(bash, "tanglewood", "parse", "tw") == ["two words.conllu"]
    assert completed(bash, "tanglewood", "reproduce", "niv") == ["nivre2009", "nivre2007"]
    assert "--treebank" in completed(bash, "tanglewood", "reproduce", "nivre2009", "--")
    assert completed(bash, "tanglewood", "completion", "f") == ["fish"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_zsh_completes_what_is_typed_at_its_prompt(script, tmp_path):
    (tmp_path / "train.conllu").touch()
    (tmp_path / "two words.conllu").touch()
    (tmp_path / "script").write_text(script("zsh"))
    typed = {
        "tanglewood dra": "tanglewood draw",
        "tanglewood train --ep": "tanglewood train --epochs",
        "tanglewood train train.conllu --search ei": "tanglewood train train.conllu --search eisner",
        "tanglewood parse tr": "tanglewood parse train.conllu",
        "tanglewood parse tw": "tanglewood parse two\\ words.conllu",
        "tanglewood reproduce nivre2009 --treeb": "tanglewood reproduce nivre2009 --treebank",
    }
    assert completed_at_a_prompt(tmp_path, list(typed)) == list(typed.values())


def completed_at_a_prompt(folder, lines):
    """What zsh makes of each line after a press of TAB; it runs in a terminal, since elsewhere it completes nothing."""
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ |= {"HOME": str(folder), "ZDOTDIR": str(folder), "TERM": "dumb"}
        os.execlp("zsh", "zsh", "-f", "-i")
    seen = []
    try:
        # A key that writes down the line as it is, and begins another.
        keep = "keep() { print -r -- $BUFFER > line.new; mv line.new line; BUFFER= }; zle -N keep; bindkey '^O' keep"
        os.write(terminal, f"source ./script; {keep}; print > ready\n".encode())
        wait_for(folder / "ready", terminal)
        for line in lines:
            (folder / "line").unlink(missing_ok=True)
            os.write(terminal, f"{line}\t\x0f".encode())
            seen.append(wait_for(folder / "line", terminal).rstrip())
    finally:
        os.close(terminal)  # which hangs up on zsh
        os.waitpid(pid, 0)
    return seen


def wait_for(file, terminal):
    """The contents of a file as soon as it is there; until then, what the terminal shows is read."""
    os.set_blocking(terminal, False)
    shown = b""
    for _ in range(600):
        try:
            shown += os.read(terminal, 1 << 16)
        except BlockingIOError:
            time.sleep(0.05)
        if file.exists():
            return file.read_text()
    raise AssertionError(f"zsh is stuck: {shown!r}")


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_fish_completes_commands_options_values_and_files(script, tmp_path):
    (tmp_path / "train.conllu").touch()
    (tmp_path / "two words.conllu").touch()
    (tmp_path / "script").write_text(script("fish"))
    typed = {
        "tanglewood ": sorted(COMMANDS),
        "tanglewood dr": ["draw"],
        "tanglewood train --ep": ["--epochs"],
        "tanglewood train train.conllu --search ei": ["eisner", "eisner2"],
        "tanglewood parse tr": ["train.conllu"],
        "tanglewood parse tw": ["two words.conllu"],
        "tanglewood reproduce niv": ["nivre2007", "nivre2009"],
        "tanglewood reproduce nivre2009 --treeb": ["--treebank"],
        "tanglewood completion f": ["fish"],
    }
    for line, wanted in typed.items():
        assert completed_by_fish(tmp_path, line) == wanted


def completed_by_fish(folder, line):
    """What fish offers for the end of a line, without what it says about it."""
    ask = ["fish", "--no-config", "-c", "source script; complete -C $argv", line]
    done = subprocess.run(ask, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [offered.split("\t")[0] for offered in done.stdout.splitlines()]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_take_their_scripts(script, shell, tmp_path):
    text = script(shell)
    for command in COMMANDS:
        assert command in text
    assert ("-l keep-heads" if shell == "fish" else "--keep-heads") in text
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    (tmp_path / "script").write_text(text)
    subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)


def test_an_unknown_shell_is_an_error(capsys):
    with pytest.raises(SystemExit):
        main(["completion", "tcsh"])
    assert "choose from" in capsys.readouterr().err
