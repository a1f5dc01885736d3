"""Cross-validation: train on all folds but one, parse that one, and score all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tanglewood.errors import ConfigError
from tanglewood.measure.scores import Scores, aligned, compare
from tanglewood.run.engine import Engine
from tanglewood.training.config import Config
from tanglewood.training.distil import begun
from tanglewood.training.folds import deal_out
from tanglewood.training.knowledge import knowledge_for
from tanglewood.training.pipeline import TagPlan, prepare_tags, with_tags_of
from tanglewood.training.silver import silver_trees
from tanglewood.treebank.sentence import Sentence

if TYPE_CHECKING:
    from tanglewood.ml.knowledge import Knowledge


class CrossValidation:
    """Trains one parser per fold; the seed decides which sentences go into which fold.

    ``total`` has the scores of all finished folds together. The engine decides how many folds are done side by side,
    and where; that changes no score.
    """

    def __init__(self, config: Config, sentences: Sequence[Sentence], folds: int, engine: Engine | None = None) -> None:
        self.config = config
        self.sentences = sentences
        self.folds = folds
        self.engine = engine or Engine()
        self.total = Scores()

    def run(self) -> Iterator[Scores]:
        """Yield the scores of each fold."""
        if self.config.begin_from:
            raise ConfigError("a model to go on with (--from) may have learnt from the sentences that are held out")
        if self.config.distil_from:
            raise ConfigError(
                "teachers that are there may have learnt from the sentences that are held out; distil=5 (--distil 5) "
                "trains new ones for each fold"
            )
        dealt = list(deal_out(self.sentences, self.folds, self.config.seed))
        data = [sentence.to_bytes() for sentence in self.sentences]
        silver = [sentence.to_bytes() for sentence in silver_trees(self.config, self.sentences)]
        jobs = (
            _Fold(self.config, [data[place] for place in others], [data[place] for place in places], silver)
            for places, others in dealt
        )
        results = self.engine.in_order(_Fold.parsed, jobs, len(dealt))
        for (places, _), parsed in zip(dealt, results, strict=True):
            scores = Scores()
            held_out = [self.sentences[place] for place in places]
            for gold, (found,) in aligned(held_out, [map(Sentence, parsed)]):
                comparison = compare(gold, found)
                scores.add(comparison)
                self.total.add(comparison)
            yield scores


@dataclass(frozen=True, slots=True)
class _Fold:
    """Train on some sentences, given as bytes, and parse others."""

    config: Config
    rest: Sequence[bytes]
    held_out: Sequence[bytes]
    silver: Sequence[bytes]  # the same in each fold

    def parsed(self) -> list[bytes]:
        """Return those that were held out, with the trees that the parser gives them."""
        rest, held_out = list(map(Sentence, self.rest)), list(map(Sentence, self.held_out))
        knowledge = knowledge_for(self.config, rest)  # which words have vectors must not depend on those held out
        rest, words = self._tagged(rest, held_out, knowledge)
        silver = list(map(Sentence, self.silver))
        training = begun(self.config, rest, knowledge=knowledge, silver=silver)
        for _ in training.run():
            pass
        parsed = training.best_parser().parse_all(words, beam=self.config.dev_beam)
        return [sentence.to_bytes() for sentence in parsed]

    def _tagged(
        self, rest: list[Sentence], held_out: list[Sentence], knowledge: Knowledge | None
    ) -> tuple[list[Sentence], list[Sentence]]:
        """Return both with tag candidates if the system gives tags; the taggers of a sentence have not seen it."""
        column = self.config.tag_column
        if not column:
            return rest, held_out
        plan = TagPlan(
            seed=self.config.seed,
            folds=self.config.folds,
            options=self.config.tagger_options(),
            tag_column=column,
            knowledge=knowledge,
        )
        tagger, tagged, _ = prepare_tags(rest, (), plan)
        return tagged, with_tags_of(tagger, held_out, column)
