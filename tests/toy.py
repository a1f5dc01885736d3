"""Small invented things for tests of learning: a treebank with a learnable grammar, and a slow twin of the network.

The words mean nothing and come from no treebank. Three kinds of clause, two of which cross:
``ta wug zorps ta dax .`` (projective), ``ta wug zorps krell .`` (krell hangs on the subject, across the root's arc)
and ``wug dax zorps grubben .`` (cross-serial: zorps takes wug, grubben takes dax).
"""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tanglewood import compiled
from tanglewood.learners.network.learner import Sizes
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from tanglewood.treebank.conllu import read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tanglewood.core.state import State
    from tanglewood.core.system import TransitionSystem
    from tanglewood.parser import Parser
    from tanglewood.treebank.sentence import Sentence

TAGS = {
    **dict.fromkeys(["ta"], ("DET", "D", "Definite=Def")),
    **dict.fromkeys(["mib"], ("ADJ", "A", "_")),
    **dict.fromkeys(["wug", "blick", "dax"], ("NOUN", "N", "Case=Nom|Number=Sing")),
    **dict.fromkeys(["zorps", "fimps"], ("VERB", "V", "Number=Sing|VerbForm=Fin")),
    **dict.fromkeys(["grubben"], ("VERB", "VI", "VerbForm=Inf")),
    **dict.fromkeys(["vonly"], ("ADV", "R", "_")),
    **dict.fromkeys(["krell"], ("VERB", "VP", "VerbForm=Part")),
    **dict.fromkeys(["."], ("PUNCT", ".", "_")),
}
SMALL = Sizes(word=16, lstm=8, hidden=32) if compiled() else Sizes(word=8, lstm=4, hidden=8)
QUICK = {"epochs": 2, "batch_words": 20, "rate": 0.01}
Row = tuple[str, str, str, str]  # name of the word, form, name of the head, label


def _noun_phrase(rng: Random, name: str, head: str, label: str) -> list[Row]:
    words = []
    if rng.random() < 0.5:
        words.append((f"{name}-det", "ta", name, "det"))
    if rng.random() < 0.3:
        words.append((f"{name}-adj", "mib", name, "amod"))
    return [*words, (name, rng.choice(["wug", "blick", "dax"]), head, label)]


def clause(rng: Random) -> list[tuple[str, str, int, str]]:
    """One sentence: form, lemma, head and label of each word."""
    kind = rng.choice(["plain", "extraposed", "serial"])
    words = _noun_phrase(rng, "subject", "verb", "nsubj")
    if kind == "serial":
        words += _noun_phrase(rng, "object", "second", "obj")
    words.append(("verb", rng.choice(["zorps", "fimps"]), "0", "root"))
    if kind == "serial":
        words.append(("second", "grubben", "verb", "xcomp"))
    if kind == "plain" and rng.random() < 0.6:
        words += _noun_phrase(rng, "object", "verb", "obj")
    if rng.random() < 0.3:
        words.append(("adverb", "vonly", "verb", "advmod"))
    if kind == "extraposed":
        words.append(("clause", "krell", "subject", "acl"))
    words.append(("dot", ".", "verb", "punct"))
    places = {name: place for place, (name, *_) in enumerate(words, 1)} | {"0": 0}
    return [(form, form.rstrip("s"), places[head], label) for _, form, head, label in words]


def toy_text(n: int, seed: int = 1) -> str:
    """A treebank of n sentences as CoNLL-U."""
    rng = Random(seed)
    blocks = []
    for number in range(1, n + 1):
        words = clause(rng)
        lines = [f"# sent_id = toy-{seed}-{number}", f"# text = {' '.join(word[0] for word in words)}"]
        for place, (form, lemma, head, label) in enumerate(words, 1):
            lines.append("\t".join([str(place), form, lemma, *TAGS[form], str(head), label, "_", "_"]))
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks)


def sentences_of(text: str | bytes, *, trees: bool = True) -> list[Sentence]:
    """Read CoNLL-U text."""
    return list(read(BytesIO(text.encode() if isinstance(text, str) else text), trees=trees))


def toy_sentences(n: int, seed: int = 1) -> list[Sentence]:
    """A treebank of n sentences."""
    return sentences_of(toy_text(n, seed))


def small_network(patch: pytest.MonkeyPatch) -> None:
    """Make the network small, for as long as the patch holds."""
    patch.setattr("tanglewood.learners.network.learner.Sizes", lambda **given: replace(SMALL, **given))


class Recorder:
    """Stands in for Adam: keeps the gradients instead of following them."""

    def __init__(self, parameters: Mapping[str, np.ndarray]) -> None:
        self.gradients = {name: np.zeros(value.shape) for name, value in parameters.items()}

    def begin(self, rate: float) -> None:
        pass

    def update(self, name: str, gradient: np.ndarray) -> None:
        self.gradients[name] += gradient

    def update_rows(self, name: str, numbers: np.ndarray, gradients: np.ndarray) -> None:
        np.add.at(self.gradients[name], numbers, gradients)


def train_parser(sentences: Sequence[Sentence], dev: Sequence[Sentence] = (), **choices: object) -> Parser:
    """Train a small network; choices are those of Config, settings go over those in QUICK."""
    settings = {**QUICK, **choices.pop("settings", {})}
    with pytest.MonkeyPatch.context() as patch:
        small_network(patch)
        training = Training(Config(settings=settings, **choices), sentences, dev)
        *_, last = training.run()
    return last.parser


# A slow and obvious twin of the network, in doubles. ---------------------------------------------------------------


def node_at(s: State, address: str) -> int:
    """The node that an address speaks of, found by looking at all words; -1 if there is none."""
    start, *steps = address.split(".")
    stack, buffer = s.stack_nodes()[::-1], s.buffer_nodes()
    between = range(stack[0] + 1, buffer[0]) if stack and buffer else ()
    context = [node for node in between if not stack[0] < s.heads[node] < buffer[0]]
    nodes = {"s": stack, "b": buffer, "a": s.aside_nodes()[::-1], "c": context}[start[0]]
    node = nodes[int(start[1])] if int(start[1]) < len(nodes) else -1
    for step in steps:
        if node < 0:
            return -1
        if step in ("previous", "next"):
            node += 1 if step == "next" else -1
            node = node if node <= s.n else -1
            continue
        if step == "head":
            node = s.heads[node]
            continue
        below = [word for word, head in enumerate(s.word_heads(), 1) if head == node]
        left = [word for word in below if word < node]
        right = [word for word in reversed(below) if word > node]
        found = {"left1": left[:1], "left2": left[1:2], "right1": right[:1], "right2": right[1:2]}[step]
        node = found[0] if found else -1
    return node


class Views:
    """What the network sees of some states: nodes, labels, distance and flags, as arrays with a row for each state."""

    def __init__(self, system: TransitionSystem, states: Sequence[State], offsets: Sequence[int] = (0,)) -> None:
        nodes = np.array([[node_at(s, address) for address in system.slots] for s in states])
        self.nodes = np.where(nodes < 0, -1, nodes + np.array(offsets)[:, None])
        looked = [[(s, node_at(s, address)) for address in system.label_slots] for s in states]
        self.labels = np.array([[0 if node < 0 else s.labels[node] + 2 for s, node in row] for row in looked])
        self.distance = np.array([self._distance(s, system) for s in states])
        self.flags = np.array([self._flags(s) for s in states], float)

    @staticmethod
    def _distance(s: State, system: TransitionSystem) -> int:
        far, near = (node_at(s, address) for address in system.distance)
        if min(far, near) < 0:
            return 0
        if near < far:
            return 9
        return next((k for k, most in enumerate([0, 1, 2, 3, 4, 6, 10, 20]) if near - far <= most), 8)

    @staticmethod
    def _flags(s: State) -> list[bool]:
        stack, buffer = s.stack_nodes(), s.buffer_nodes()
        out_of_order = bool(stack) and bool(buffer) and buffer[0] < stack[-1]
        has_head = bool(stack) and s.heads[stack[-1]] >= 0
        rest = [len(stack) <= 2, len(stack) == 3, has_head, s.phase % 2 == 1, s.phase == 2]
        return [out_of_order, not buffer, len(buffer) == 1, *rest]


def hidden_layer(p: dict[str, np.ndarray], rows: np.ndarray, views: Views) -> np.ndarray:
    """The hidden layer of states, whose nodes' rows are given: (states, hidden)."""
    n_slots = len(p["hidden.empty"])
    filled = np.concatenate([rows.reshape(len(rows), n_slots, -1), p["hidden.empty"][None]])  # row -1: no node
    total = p["hidden.bias"] + filled[views.nodes, np.arange(n_slots)].sum(1)
    total = total + p["hidden.labels"][np.arange(len(p["hidden.labels"])), views.labels].sum(1)
    return np.maximum(total + p["hidden.distance"][views.distance] + views.flags @ p["hidden.flags"], 0)


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Logarithms of probabilities over the last axis."""
    scores = scores - scores.max(-1, keepdims=True)
    return scores - np.log(np.exp(scores).sum(-1, keepdims=True))
