"""The tags that a first tagger leaves for a parser to choose from, as numbers of the parser's actions."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from zlib import crc32

from tanglewood.core.actions import Actions
from tanglewood.core.system import TransitionSystem
from tanglewood.ml.words import Word, words_of
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tag_candidates import TagCandidate, read_candidates, without_candidates

STEPS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0)  # how far a tag is behind the best, for features


class Tagging:
    """Reads the tag candidates of sentences, and writes the tags given to them.

    Candidates are in MISC (treebank/tag_candidates.py); where there are none, the tag in the column is the only one.
    A word without a known tag may be given any.
    """

    def __init__(self, actions: Actions) -> None:
        self.system = actions.system
        self.names = actions.tags
        self.numbers = {tag: number for number, tag in enumerate(actions.tags)}
        self.place = 2 if actions.system.tag_column == "upos" else 3  # among the columns of a Word

    def tags_of(self, sentence: Sentence) -> list[int]:
        """Return the tags in the column as numbers, indexed by node."""
        return [-1, *(self.numbers.get(tag, -1) for tag in tags_to_give(self.system, sentence))]

    def read(self, sentence: Sentence, gold: Sequence[int] = ()) -> tuple[list[Word], array[int]]:
        """Return the words, with the first tagger's tags, and the table of their candidates, gold tags among them."""
        width = self.system.best_tags + 2  # the tags, one more if it is gold, and a number for the whole set
        candidates = array("i", [-1] * (width - 1) + [0])
        words: list[Word] = []
        for node, (word, misc) in enumerate(zip(words_of(sentence), sentence.misc, strict=True), 1):
            choices = read_candidates(misc) or [(word[self.place], 0.0)]
            words.append((*word[: self.place], choices[0][0], *word[self.place + 1 :]))  # type: ignore[arg-type]
            kept = self._kept(choices)
            row = [self.numbers[tag] for tag, _ in kept]
            if gold and row and gold[node] not in row:
                row.append(gold[node])
            row += [-1] * (width - 1 - len(row))
            candidates.extend((*row, _summary(kept)))
        return words, candidates

    def _kept(self, choices: Sequence[TagCandidate]) -> list[TagCandidate]:
        """Return the best of the known tags that are not too far behind."""
        near = [choice for choice in choices if choice[1] <= self.system.tag_threshold]
        return [choice for choice in near[: self.system.best_tags] if choice[0] in self.numbers]

    def written(self, sentence: Sentence, tags: Sequence[int]) -> Sentence:
        """Return the sentence with the tags given to its words, and without candidates."""
        old = tags_to_give(self.system, sentence)
        new = [self.names[tag] if tag >= 0 else before for tag, before in zip(tags, old, strict=True)]
        columns = [sentence.lemmas, sentence.upos, sentence.xpos, sentence.feats]
        columns[self.place - 1] = new
        return without_candidates(sentence.with_columns(*columns))


def tags_to_give(system: TransitionSystem, sentence: Sentence) -> list[str]:
    """Return the tags of a sentence that the system should give; none if it gives none."""
    return {"upos": sentence.upos, "xpos": sentence.xpos}.get(system.tag_column, [])


def _summary(choices: Sequence[TagCandidate]) -> int:
    """Return one number for the tags, their order and, roughly, how far behind each is."""
    parts = [f"{tag} {sum(behind > step for step in STEPS)}" for tag, behind in choices]
    return crc32("\t".join(parts).encode()) >> 1
