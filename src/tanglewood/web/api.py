"""What the playground answers: plain data in, plain data out; nothing is read from or written to disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from math import exp
from typing import TYPE_CHECKING, Any

from tanglewood import __version__
from tanglewood.core.system import TransitionSystem
from tanglewood.derivation import Step, count_transitions, trace, trace_model
from tanglewood.errors import OracleError, TreeError
from tanglewood.systems import OPTION_TYPES, SYSTEMS
from tanglewood.treebank.conllu import read
from tanglewood.treebank.sentence import HEAD, Sentence
from tanglewood.treebank.tree import Tree
from tanglewood.web.drawing import draw
from tanglewood.web.fields import Body, know, number_in, system_in, text_in, to_bytes
from tanglewood.web.limits import Deadline, Limits, Problem

if TYPE_CHECKING:
    from tanglewood.parser import Parser
    from tanglewood.web.models import Model

INPUT = ("text", "conllu", "model")
JSON_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string"}
SINGLE_ROOT = {"single_root": "whether exactly one word may hang on the root"}  # all systems have it


@dataclass(frozen=True, slots=True)
class Playground:
    """The models at hand, the first of which is the default, and the limits."""

    models: Mapping[str, Model] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)

    def systems(self) -> dict[str, Any]:
        """Say which systems, models and limits there are."""
        return {
            "version": __version__,
            "systems": [
                {
                    "name": name,
                    "covers": system.covers,
                    "paper": system.paper,
                    "oracles": list(system.oracles),
                    "options": [
                        {"name": option, "type": JSON_TYPES[OPTION_TYPES.get(option, str)], "help": help_}
                        for option, help_ in {**system.options, **SINGLE_ROOT}.items()
                    ],
                    "aside": system.aside_name,
                }
                for name, system in SYSTEMS.items()
            ],
            "models": [_describe(name, model.parser) for name, model in self.models.items()],
            "limits": asdict(self.limits),
        }

    def parse(self, body: Body, deadline: Deadline) -> dict[str, Any]:
        """Give text or CoNLL-U its trees; trees that CoNLL-U has already stay unless a model is named."""
        know(body, *INPUT)
        sentences = self._sentences(body, deadline)
        return {"sentences": [_sentence(sentence) for sentence in _watched(sentences, deadline)]}

    def trace(self, body: Body, deadline: Deadline) -> dict[str, Any]:
        """Derive the tree of one sentence: by the oracle of a system, or as a model parses it."""
        know(body, *INPUT, "sentence", "guide", "system", "options", "oracle")
        guide = text_in(body, "guide", "oracle")
        if guide not in ("oracle", "model"):
            raise Problem(422, f"unknown guide {guide!r}; it should be oracle or model", field="guide")
        sentence = self._one(body, deadline, parsed=guide == "oracle")
        if guide == "model":
            return self._trace_model(body, sentence, deadline)
        system = system_in(body)
        oracle = text_in(body, "oracle", "") or next(iter(system.oracles))
        steps: list[Step] = []
        problem = None
        try:
            self._collect(trace(sentence, system, oracle), steps, deadline)
        except OracleError as error:
            problem = str(error)
        about = {"guide": guide, "system": system.name, "options": dict(body.get("options") or {}), "oracle": oracle}
        return _traced(about, system, sentence, steps, problem, sentence.tree)

    def _trace_model(self, body: Body, sentence: Sentence, deadline: Deadline) -> dict[str, Any]:
        name, model = self._model(body)
        description = model.parser.description
        for field_ in ("system", "oracle", "options"):
            if body.get(field_) not in (None, "", {}, description["system"]):
                raise Problem(422, f"{field_} is for guide oracle; model {name} is of {description['system']}")
        steps: list[Step] = []
        self._collect(trace_model(model.parser, sentence), steps, deadline)
        about = {"guide": "model", "model": name, "system": description["system"], "options": description["options"]}
        return _traced(about, model.parser.model.task.system, sentence, steps, None, None)

    def _collect(self, found: Iterator[Step], steps: list[Step], deadline: Deadline) -> None:
        for step in found:
            deadline.check()
            if len(steps) > self.limits.max_steps:
                raise Problem(422, f"the derivation has more than {self.limits.max_steps} steps; take a shorter one")
            steps.append(step)

    def _one(self, body: Body, deadline: Deadline, *, parsed: bool) -> Sentence:
        """Return the sentence asked for."""
        sentences = self._sentences(body, deadline, parsed=parsed)
        place = number_in(body, "sentence", 1)
        if not 1 <= place <= len(sentences):
            raise Problem(422, f"there is no sentence {place}; there are {len(sentences)}", field="sentence")
        return sentences[place - 1]

    def _sentences(self, body: Body, deadline: Deadline, *, parsed: bool = True) -> list[Sentence]:
        """Return the sentences of the body, with trees if they are to be parsed."""
        text, conllu = text_in(body, "text", None), text_in(body, "conllu", None)
        if (text is None) == (conllu is None):
            raise Problem(422, "either text or conllu should be given, and not both", field="text")
        limits = self.limits
        if text is not None and len(text) > limits.max_text:
            raise Problem(422, f"{len(text)} characters; a text may have {limits.max_text}: send it in parts")
        if text is not None:
            found = iter(self._model(body)[1].tag_text(text))
        else:
            found = read(BytesIO(to_bytes(conllu)), trees=False)
        sentences: list[Sentence] = []
        for sentence in _watched(found, deadline):
            sentences.append(sentence)
            if len(sentences) > limits.max_sentences:
                raise Problem(422, f"more than {limits.max_sentences} sentences, the most at once: send them in parts")
            if len(sentence) > limits.max_words:
                raise Problem(
                    422,
                    f"sentence {len(sentences)} has {len(sentence)} words; a sentence may have {limits.max_words}",
                    sent_id=sentence.sent_id,
                )
        if not sentences:
            raise Problem(422, "there is no sentence in it", field="text" if conllu is None else "conllu")
        if not parsed:
            return sentences if text is not None else self._model(body)[1].tag(sentences)
        bare = all(set(sentence.column(HEAD)) == {"_"} for sentence in sentences)
        if text is None and not body.get("model") and not (bare and self.models):
            for sentence in sentences:
                sentence.heads()  # raises an error that says where they form no tree
            return sentences
        model = self._model(body)[1]
        tagged = sentences if text is not None else model.tag(sentences)
        return list(_watched(model.parse(tagged), deadline))

    def _model(self, body: Body) -> tuple[str, Model]:
        """Return the model asked for, by default the first."""
        if not self.models:
            raise Problem(
                422, "this server has no model: start it with `tanglewood serve -m MODEL`, or send CoNLL-U with trees"
            )
        name = text_in(body, "model", "") or next(iter(self.models))
        if name not in self.models:
            raise Problem(422, f"unknown model {name!r}; choose from {', '.join(self.models)}", field="model")
        return name, self.models[name]


def _watched(items: Any, deadline: Deadline) -> Iterator[Any]:  # noqa: ANN401 - what it is given it gives
    for item in items:
        deadline.check()
        yield item


def _describe(name: str, parser: Parser) -> dict[str, Any]:
    description = parser.description
    return {
        "name": name,
        "kind": "arcs" if parser.scores_arcs else "moves",
        "system": description.get("system", ""),
        "options": description.get("options", {}),
    }


def _sentence(sentence: Sentence, *, drawn: bool = True) -> dict[str, Any]:
    tree = sentence.tree
    result = {
        "sent_id": sentence.sent_id,
        "text": " ".join(sentence.forms),
        **sentence.to_dict(),
        "heads": tree.heads[1:].tolist(),
        "labels": tree.labels[1:],
        "nonprojective": tree.nonprojective_arcs(),
        "degree": tree.degree(),
        "conllu": sentence.to_text(),
    }
    return result | {"svg": draw(tree, sentence)} if drawn else result


def _traced(
    about: dict[str, Any],
    system: TransitionSystem,
    sentence: Sentence,
    steps: Sequence[Step],
    problem: str | None,
    goal: Tree | None,
) -> dict[str, Any]:
    """Return a trace as data.

    ``drawings`` are trees; each step names the one whose arcs it adds to. A step that takes an arc away again begins
    a new drawing, so there is one unless the system is three-step or the model puts lifted arcs back.
    """
    moments: list[dict[int, tuple[int, str]]] = [{}]
    rows = []
    for step in steps:
        if any(word in moments[-1] for _, _, word in step.attached):
            moments.append(dict(moments[-1]))
        moments[-1].update({word: (head, label) for head, label, word in step.attached})
        rows.append({**step.as_dict(), "drawing": len(moments) - 1})
        for legal, share in zip(rows[-1]["legal"], _shares(step), strict=True):
            legal["share"] = share
    trees = [_tree(moment, len(sentence), goal) for moment in moments]
    last = sentence.with_tree(trees[-1] if goal is None else goal)
    return {
        **about,
        "aside": system.aside_name,
        "sentence": _sentence(last, drawn=False),
        "covered": problem is None,
        "problem": problem,
        "transitions": count_transitions(steps),
        "drawings": [draw(tree, sentence) for tree in trees],
        "steps": rows,
    }


def _tree(arcs: Mapping[int, tuple[int, str]], n: int, goal: Tree | None) -> Tree:
    """Return the tree of some arcs; words without one are where the goal has them, else below 0.

    Arcs that no move made, and so none named, have the goal's label.
    """

    def made(spare: Sequence[int]) -> Tree:
        heads = [arcs[word][0] if word in arcs else spare[word] for word in range(1, n + 1)]
        labels = [arcs[word][1] if word in arcs else "" for word in range(1, n + 1)]
        known = [goal.labels[word] if goal and goal.heads[word] == heads[word - 1] else "_" for word in range(1, n + 1)]
        return Tree(heads, [label or other for label, other in zip(labels, known, strict=True)])

    below_root = [0] * (n + 1)
    try:
        return made(goal.heads if goal else below_root)
    except TreeError:  # arcs that do not go with the goal's
        return made(below_root)


def _shares(step: Step) -> list[float | None]:
    """Return the softmax of the scores of the legal moves; None for each where no model gave any."""
    scores = [legal.score for legal in step.legal if legal.score is not None]
    if not scores or len(scores) < len(step.legal):
        return [None] * len(step.legal)
    weights = [exp(score - max(scores)) for score in scores]
    return [round(weight / sum(weights), 4) for weight in weights]
