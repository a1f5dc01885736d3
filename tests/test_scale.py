"""The recipes of docs/scale.md: scripts, YAML and make files are well-formed, and what they call is there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tanglewood.cli import whole_parser

pytestmark = pytest.mark.one_build
ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "scale.md"
if not PAGE.exists():
    pytest.skip("the repository is not here", allow_module_level=True)
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def blocks(*languages):
    return [body for language, body in BLOCKS if language in languages]


def commands():
    """Every call of tanglewood in scripts and make files, as its arguments."""
    for body in blocks("sh", "bash", "make"):
        for line in body.replace("\\\n", " ").splitlines():
            found = re.search(r"\btanglewood ((?:corpus|crossval|reproduce|train) .*?)(?: ::: .*)?$", line)
            if found and not line.startswith("#"):
                yield shlex.split(found[1], comments=True)


def accepted(arguments):
    """Whether the command line takes these arguments, with numbers in place of variables."""
    return whole_parser().parse_args([re.sub(r"\$\w+|\{\}", "7", argument) for argument in arguments])


def test_every_command_is_accepted():
    found = list(commands())
    assert len(found) > 12
    for arguments in found:
        accepted(arguments)


def test_shares_of_tasks_are_those_of_the_array():
    (script,) = [body for body in blocks("bash") if "#SBATCH --array" in body]
    count = re.search(r'--task "\$SLURM_ARRAY_TASK_ID/(\d+)"', script)[1]
    assert f"#SBATCH --array=1-{count}\n" in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize("script", blocks("sh", "bash"), ids=lambda script: script.splitlines()[0][:30])
def test_scripts_are_well_formed(script):
    checked = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_the_make_file_calls_the_command_and_then_what_follows(tmp_path):
    (rules,) = blocks("make")
    (tmp_path / "Makefile").write_text(rules)
    done = subprocess.run(["make", "-n", "counts.tsv"], cwd=tmp_path, capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first == "tanglewood corpus texts -o trees"
    assert second.startswith("grep ")


def test_the_image_for_kubernetes_has_extras_that_there_are():
    (image,) = blocks("dockerfile")
    extras = re.search(r"'tanglewood\[(.*)\]'", image)[1].split(",")
    assert {"dask", "remote"} <= set(extras)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras) <= set(project["optional-dependencies"])
    user = re.search(r"^USER (\d.*)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[0]
    assert image.splitlines()[-2] == user


def test_the_job_for_kubernetes_is_well_formed():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    (text,) = blocks("yaml")
    job = yaml.safe_load(text)
    assert (job["apiVersion"], job["kind"]) == ("kubernetes.dask.org/v1", "DaskJob")
    cluster = job["spec"]["cluster"]["spec"]
    (runner,) = job["spec"]["job"]["spec"]["containers"]
    (worker,) = cluster["worker"]["spec"]["containers"]
    (scheduler,) = cluster["scheduler"]["spec"]["containers"]
    assert len({one["image"] for one in (runner, worker, scheduler)}) == 1
    assert all(isinstance(word, str) for one in (runner, worker, scheduler) for word in one["args"])
    assert runner["args"][0] == "tanglewood"
    arguments = accepted(runner["args"][1:])
    assert arguments.output == "s3://words/trees"
    (image,) = blocks("dockerfile")
    assert arguments.model in image
    assert runner["envFrom"] == worker["envFrom"]
    assert worker["args"][:2] == ["dask", "worker"]
    assert worker["args"][worker["args"].index("--nthreads") + 1] == "1"
    service = cluster["scheduler"]["service"]
    assert service["selector"]["dask.org/cluster-name"] == job["metadata"]["name"]
    assert {port["targetPort"] for port in service["ports"]} == {port["name"] for port in scheduler["ports"]}


def test_workers_take_the_options_of_the_recipe():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    cli = pytest.importorskip("distributed.cli.dask_worker", reason="the extra dask is not installed")
    (text,) = blocks("yaml")
    (worker,) = yaml.safe_load(text)["spec"]["cluster"]["spec"]["worker"]["spec"]["containers"]
    cli.main.make_context("worker", worker["args"][2:])
