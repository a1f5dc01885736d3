"""How training goes: a record after every epoch, whose text is the line that the command line prints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tanglewood.measure.clock import minutes
from tanglewood.measure.scores import Evaluation
from tanglewood.parser import Parser
from tanglewood.text.tagger import TagScores


@dataclass(frozen=True, slots=True)
class Epoch:
    """A finished epoch: its number, out of how many, the mean loss, and how many seconds it took."""

    epoch: int
    epochs: int
    loss: float
    seconds: float

    @property
    def seconds_left(self) -> float:
        """About how long the other epochs will take."""
        return self.seconds * (self.epochs - self.epoch)

    def _line(self, scores: str) -> str:
        text = f"epoch {self.epoch:2}/{self.epochs}  loss {self.loss:.3f}{scores}"
        return f"{text}  {self.seconds:.1f} s, {minutes(self.seconds_left)} left"


@dataclass(frozen=True, slots=True)
class Progress(Epoch):
    """How good the parser is after an epoch: its scores on dev, if there is any, and the best parser so far.

    Without a dev set that is the last one.
    """

    scores: Evaluation | None
    is_best: bool
    parser: Parser
    part: str = "parser"

    def __str__(self) -> str:
        scores = ""
        if self.scores is not None:
            scores = on_dev(self.parser, self.scores) + ("  *" if self.is_best else "   ")
        return self._line(scores)


def on_dev(parser: Parser, scores: Evaluation) -> str:
    """Return the scores of a parser on dev as lines show them."""
    column = parser.model.actions.system.tag_column
    tags = f"  {column.upper()} {getattr(scores, column):.2f}" if column else ""
    return f"  dev LAS {scores.las:.2f}  UAS {scores.uas:.2f}{tags}"


@dataclass(frozen=True, slots=True)
class TaggerProgress(Epoch):
    """How good a tagger of a pipeline is after an epoch; ``part`` says which tagger it is."""

    scores: TagScores | None
    part: str

    def __str__(self) -> str:
        scores = ""
        if self.scores is not None:
            scores = f"  dev UPOS {self.scores.upos:.2f}  XPOS {self.scores.xpos:.2f}"
            scores += f"  FEATS {self.scores.feats:.2f}  lemma {self.scores.lemma:.2f}"
        return f"{self.part}: {self._line(scores)}"


@dataclass(frozen=True, slots=True)
class TeacherProgress(Epoch):
    """How good a teacher is after an epoch; ``part`` says which, ``run_left`` about how long the whole run takes yet.

    The whole run is what is left of all teachers, and the student.
    """

    scores: Evaluation | None
    is_best: bool
    part: str
    run_left: float = 0.0

    def __str__(self) -> str:
        scores = ""
        if self.scores is not None:
            scores = f"  dev LAS {self.scores.las:.2f}  UAS {self.scores.uas:.2f}{'  *' if self.is_best else '   '}"
        return f"{self.part}: {self._line(scores)}, {minutes(self.run_left)} with all that follows"


Report = Callable[
    [Progress | TaggerProgress | TeacherProgress | str], None
]  # is told about progress: after an epoch, or in words


def quiet(_: Progress | TaggerProgress | TeacherProgress | str) -> None:
    """Say nothing."""
