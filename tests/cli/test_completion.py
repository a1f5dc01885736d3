"""The scripts that complete commands and options: what a shell makes of them."""

from __future__ import annotations

import shutil
import subprocess

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
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_commands_options_values_and_files(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.conllu").touch()
    bash = script("bash")
    assert completed(bash, "tanglewood", "") == list(COMMANDS)
    assert completed(bash, "tanglewood", "co") == ["corpus", "coverage", "convert", "completion"]
    assert completed(bash, "tanglewood", "train", "--ep") == ["--epochs"]
    assert completed(bash, "tanglewood", "train", "--learner", "li") == ["linear", "liblinear"]
    assert completed(bash, "tanglewood", "train", "train.conllu", "--system", "") == list(SYSTEMS)
    assert completed(bash, "tanglewood", "parse", "tr") == ["train.conllu"]
    assert completed(bash, "tanglewood", "reproduce", "niv") == ["nivre2009", "nivre2007"]
    assert "--treebank" in completed(bash, "tanglewood", "reproduce", "nivre2009", "--")
    assert completed(bash, "tanglewood", "completion", "f") == ["fish"]


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
