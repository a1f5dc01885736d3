"""Sentences and derivations as answers of the JSON interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

from msgspec import UNSET, convert

from tanglewood.derivation import LegalMove as TraceMove
from tanglewood.derivation import Step as TraceStep
from tanglewood.derivation import count_transitions
from tanglewood.show import svg
from tanglewood.show import tikz as latex
from tanglewood.treebank.sentence import Sentence as TreebankSentence
from tanglewood.treebank.tree import Tree
from tanglewood.web import messages
from tanglewood.web.limits import Room
from tanglewood.web.messages import LegalMove, ScoredTree, Step, TraceAnswer
from tanglewood.web.models import Parsed


def draw(tree: Tree, sentence: TreebankSentence) -> str:
    """Return the SVG of a tree over the words of a sentence, on one line; the page's style sheet has the colours."""
    return svg.draw(tree, sentence.forms, tags=_tags(sentence), title=sentence.text, width=None, style=False)


def _tags(sentence: TreebankSentence) -> Sequence[str] | None:
    return sentence.upos if set(sentence.upos) != {"_"} else None


def sentence_answer(parsed: Parsed, room: Room, *, drawn: bool, tikz: bool = False) -> messages.Sentence:
    """Return a sentence as data."""
    sentence = parsed.sentence
    tree = sentence.tree
    data = sentence.to_dict()
    drawing = draw(tree, sentence) if drawn else ""
    tex = latex.draw(tree, sentence.forms, tags=_tags(sentence)) if tikz else ""
    room.take(
        len(tex) + 3 * len(sentence.to_bytes()) + len(drawing)
    )  # the words and their labels also stand for themselves
    room.take(sum(map(_size, (found for found, _ in parsed.nbest))))
    return messages.Sentence(
        sent_id=sentence.sent_id,
        text=data.get("text", " ".join(sentence.forms)),
        words=convert(data["words"], list[messages.Word]),
        multiword=convert(data["multiword"], list[messages.MultiwordToken]) if "multiword" in data else UNSET,
        heads=tree.heads[1:].tolist(),
        labels=tree.labels[1:],
        nonprojective=tree.nonprojective_arcs(),
        degree=tree.degree(),
        conllu=sentence.to_text(),
        svg=drawing if drawn else UNSET,
        tikz=tex if tikz else UNSET,
        nbest=[_scored(*found) for found in parsed.nbest] if parsed.nbest else UNSET,
    )


def _size(tree: Tree) -> int:
    """Return about how many bytes heads and labels have."""
    return sum(map(len, tree.labels)) + 6 * len(tree)


def _scored(tree: Tree, log_probability: float) -> ScoredTree:
    return ScoredTree(log_probability=log_probability, heads=tree.heads[1:].tolist(), labels=tree.labels[1:])


def trace_answer(
    about: dict[str, Any],
    aside: str,
    sentence: TreebankSentence,
    steps: Sequence[TraceStep],
    room: Room,
    *,
    problem: str | None = None,
    goal: Tree | None = None,
    drawn: bool,
) -> TraceAnswer:
    """Return a derivation as data; ``about`` says what it was made with.

    ``drawings`` are trees; each step names the one whose arcs it adds to. A step that takes an arc away again or makes
    one that is not the goal's begins a new drawing, so there is one unless the system is three-step, the model puts
    lifted arcs back, or somebody makes mistakes.
    """
    moments: list[dict[int, tuple[int, str]]] = [{}]
    rows = []
    for step in steps:
        if any(word in moments[-1] or _strays(head, word, goal) for head, _, word in step.attached):
            moments.append(dict(moments[-1]))
        moments[-1].update({word: (head, label) for head, label, word in step.attached})
        rows.append(_step(step, len(moments) - 1 if drawn else None))
    trees = [_tree(moment, len(sentence), goal) for moment in moments]
    drawings = []
    for tree in trees if drawn else ():
        drawings.append(draw(tree, sentence))
        room.take(len(drawings[-1]))
    last = sentence.with_tree(trees[-1] if goal is None else goal)
    return TraceAnswer(
        **about,
        aside=aside,
        sentence=sentence_answer(Parsed(last), room, drawn=False),
        covered=problem is None,
        problem=problem,
        transitions=count_transitions(steps),
        drawings=drawings if drawn else UNSET,
        steps=rows,
    )


def _strays(head: int, word: int, goal: Tree | None) -> bool:
    return goal is not None and goal.heads[word] != head


def _step(step: TraceStep, drawing: int | None) -> Step:
    return Step(
        move=step.move,
        label=step.label,
        transition=step.transition,
        stack=step.stack,
        buffer=step.buffer,
        aside=step.aside,
        arc=step.arc,
        attached=step.attached,
        legal=legal_moves(step.legal),
        drawing=UNSET if drawing is None else drawing,
    )


def legal_moves(found: Sequence[TraceMove]) -> list[LegalMove]:
    """Return moves as data, with their shares where a model scored them."""
    return [
        LegalMove(move=one.move, label=one.label, taken=one.taken, score=one.score, share=share, cost=one.cost)
        for one, share in zip(found, _shares(found), strict=True)
    ]


def _tree(arcs: Mapping[int, tuple[int, str]], n: int, goal: Tree | None) -> Tree:
    """Return the tree of some arcs; words without one are where the goal has them if they can be, else below 0.

    Arcs that no move made, and so none labelled, have the goal's label.
    """
    heads = [-1, *(arcs[word][0] if word in arcs else -1 for word in range(1, n + 1))]
    labels = [arcs[word][1] if word in arcs else "" for word in range(1, n + 1)]
    for word in range(1, n + 1):
        if heads[word] < 0:
            heads[word] = 0 if goal is None or _is_above(heads, word, goal.heads[word]) else goal.heads[word]
    known = [goal.labels[word] if goal and goal.heads[word] == heads[word] else "_" for word in range(1, n + 1)]
    return Tree(heads[1:], [label or other for label, other in zip(labels, known, strict=True)])


def _is_above(heads: Sequence[int], word: int, node: int) -> bool:
    """Whether a node is a word or below it by the heads there are; -1 stands for none."""
    while node not in {word, 0, -1}:
        node = heads[node]
    return node == word


def _shares(found: Sequence[TraceMove]) -> list[float | None]:
    """Return the softmax of the scores of the legal moves; None for each where no model gave any."""
    scores = [legal.score for legal in found if legal.score is not None]
    if not scores or len(scores) < len(found):
        return [None] * len(found)
    weights = [exp(score - max(scores)) for score in scores]
    return [round(weight / sum(weights), 4) for weight in weights]
