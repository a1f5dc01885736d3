"""Run in a copy of the tree to which tag-first was added: everything that should know it does."""

import contextlib
import io
import sys

import tanglewood
from tanglewood.cli import main
from tanglewood.measure.coverage import Coverage
from tanglewood.systems import make_system
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from toy import QUICK, small_network, toy_sentences

NAME = "tag-first"
SETTINGS = {"network": {**QUICK, "epochs": 20, "rate": 0.02}, "linear": {"epochs": 4}, "svm": {}}


def printed(*argv: str) -> str:
    """What a command prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main(list(argv))
    return out.getvalue()


def plain(n: int, seed: int) -> list:
    """Projective sentences, which are those that the system covers."""
    return [sentence for sentence in toy_sentences(3 * n, seed) if sentence.tree.is_projective()][:n]


def train(learner: str) -> None:
    """A parser is learnt, gives tags and trees, and comes back from its file."""
    import pytest

    sentences = plain(30, 1)
    config = Config(system=NAME, learner=learner, options={"eagerness": 2}, settings=SETTINGS[learner])
    with pytest.MonkeyPatch.context() as patch:
        small_network(patch)
        *_, last = Training(config, sentences).run()
    last.parser.save(f"{learner}.tw")
    parser = tanglewood.Parser.load(f"{learner}.tw")
    assert parser.model.actions.system.best_tags == 2
    parsed = list(parser.parse_all(sentences))
    scores = tanglewood.evaluate(sentences, parsed)
    assert scores.upos == 100, (learner, scores.upos)
    assert scores.uas > 70, (learner, scores.uas)


for learner in sys.argv[1:]:
    train(learner)

sentence = plain(1, 5)[0]
steps = list(tanglewood.trace(sentence, system=NAME))
assert [step.transition for step in steps[1:3]] == [f"TAG({tag})" for tag in sentence.upos[:2]], steps[1:3]

coverage = Coverage({NAME: make_system(NAME)})
for one in toy_sentences(30):
    coverage.add(one.tree)
assert coverage.covered[NAME] == coverage.sentences - coverage.nonprojective_sentences > 0

for command in ("train", "coverage", "trace", "oracle"):
    assert "--eagerness K" in printed(command, "--help"), command
assert f"{NAME}: how many candidates a tag is chosen from (default 3)" in " ".join(printed("train", "--help").split())
assert NAME in printed("info")

import msgspec  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402

from tanglewood.web.api import Playground  # noqa: E402 - the extra is not needed above
from tanglewood.web.app import make_app  # noqa: E402

client = TestClient(make_app(Playground()), base_url="http://127.0.0.1")
(system,) = [system for system in client.get("/api/systems").json()["systems"] if system["name"] == NAME]
assert [option["name"] for option in system["options"]] == ["eagerness", "single_root"]
answer = client.post(
    "/api/trace", json={"conllu": sentence.to_text(), "system": NAME, "options": {"eagerness": 4}}
).json()
assert answer["covered"], answer
assert "eagerness" in str(client.get("/api/openapi.json").json())
assert msgspec
print("compiled" if tanglewood.compiled() else "interpreted")
