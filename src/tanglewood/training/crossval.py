"""Cross-validation: train on all folds but one, parse that one, and score all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tanglewood.errors import ConfigError
from tanglewood.measure.scores import Scores, aligned, compare
from tanglewood.training.config import Config
from tanglewood.training.distil import begun
from tanglewood.training.folds import deal_out
from tanglewood.training.knowledge import knowledge_for
from tanglewood.training.pipeline import TagPlan, prepare_tags, with_tags_of
from tanglewood.treebank.sentence import Sentence

if TYPE_CHECKING:
    from tanglewood.ml.knowledge import Knowledge


class CrossValidation:
    """Trains one parser per fold; the seed decides which sentences go into which fold.

    ``total`` has the scores of all finished folds together.
    """

    def __init__(self, config: Config, sentences: Sequence[Sentence], folds: int) -> None:
        self.config = config
        self.sentences = sentences
        self.folds = folds
        self.total = Scores()

    def run(self) -> Iterator[Scores]:
        """Yield the scores of each fold."""
        if self.config.distil_from:
            raise ConfigError(
                "teachers that are there may have learnt from the sentences that are held out; distil=5 (--distil 5) "
                "trains new ones for each fold"
            )
        for places, others in deal_out(self.sentences, self.folds, self.config.seed):
            held_out = [self.sentences[place] for place in places]
            rest = [self.sentences[place] for place in others]
            knowledge = knowledge_for(self.config, rest)  # which words have vectors must not depend on those held out
            rest, words = self._tagged(rest, held_out, knowledge)
            training = begun(self.config, rest, knowledge=knowledge)
            for _ in training.run():
                pass
            scores = Scores()
            parsed = training.best_parser().parse_all(words, beam=self.config.dev_beam)
            for gold, (found,) in aligned(held_out, [parsed]):
                comparison = compare(gold, found)
                scores.add(comparison)
                self.total.add(comparison)
            yield scores

    def _tagged(
        self, rest: list[Sentence], held_out: list[Sentence], knowledge: Knowledge | None
    ) -> tuple[list[Sentence], list[Sentence]]:
        """Return both with tag candidates if the system gives tags; the taggers of a sentence have not seen it."""
        column = self.config.tag_column
        if not column:
            return rest, held_out
        plan = TagPlan(seed=self.config.seed, folds=self.config.folds, tag_column=column, knowledge=knowledge)
        tagger, tagged, _ = prepare_tags(rest, (), plan)
        return tagged, with_tags_of(tagger, held_out, column)
