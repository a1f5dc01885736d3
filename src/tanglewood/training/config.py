"""What a training run is made of, as plain data that is saved in the model."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanglewood.core.beam import MOST_WIDTH
from tanglewood.decoders import SEARCHES
from tanglewood.errors import ConfigError
from tanglewood.learners import learner_class, learner_entry, student_class
from tanglewood.options import asked_beam
from tanglewood.systems import make_system

if TYPE_CHECKING:
    from tanglewood.text.tagger import TaggerOptions

MOST_TEACHERS = 100
MOST_ROWS = 1_000_000  # of vectors from a file
OF_VECTORS = ("vectors", "vectors_rows", "vectors_width")
# Words of a treebank whose pipeline learns from teachers unless told otherwise: there they gain most for their time.
TAUGHT = range(10_000, 60_000)
TEACHERS = 3
PIPELINE_LAYERS = 2  # of LSTMs, for parsers of text: 83.5 instead of 83.1 LAS on English-EWT dev with predicted tags


@dataclass(frozen=True, slots=True)
class Config:
    """The choices of a training run; what is left empty is chosen to suit the data or the system."""

    system: str = ""  # swap or, for a graph-based model, attardi-alls0s1
    options: Mapping[str, Any] = field(default_factory=dict)  # of the system
    oracle: str = ""
    single_root: bool | None = None
    pseudo_projective: str = ""
    learner: str = ""  # network or, if there is a search over arcs, arcs
    search: str = ""  # of a graph-based model: the decoder it learns with and, by default, parses with
    stacked: str = ""  # model file of a parser whose trees a graph-based learner looks at
    folds: int = 5  # number of parts in which parsers like the stacked one parse the training data
    distil: int | None = None  # teachers to train first, from which the parser then learns; None: see for_text
    distil_from: Sequence[str] = ()  # model files of teachers that are there already
    unlabelled: Sequence[str] = ()  # files with more sentences to learn from, whose trees only teachers know
    silver: Sequence[str] = ()  # files of sentences that another parser has annotated, to learn beside the treebank
    silver_words: int = 0  # most words of them; 0: chosen to suit the treebank
    vectors: str = ""  # file of word vectors, which stay as they are beside those that are learnt
    vectors_rows: int = 50_000  # most that are kept of them
    vectors_width: int = 64  # numbers that wider ones are reduced to; 0: they stay as wide as they are
    pretrained: str = ""  # file of an encoder that was learnt from text, to begin with
    begin_from: str = ""  # model file of a network to go on with, on other data
    contextual: Sequence[str] = ()  # files of a large encoder's vectors of all sentences, or the encoder
    seed: int = 1
    beam: int = 1  # for parsing dev after each epoch
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the learner

    def __post_init__(self) -> None:
        least_numbers = {"seed": 0, "beam": 1, "folds": 2, "silver_words": 0, "vectors_rows": 1, "vectors_width": 0}
        if self.distil is not None:
            least_numbers["distil"] = 0
        for name, least in least_numbers.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ConfigError(f"{name}={value!r}: it should be a whole number, {least} or more")
        if self.beam > MOST_WIDTH:
            raise ConfigError(f"beam={self.beam!r}: it should be a whole number from 1 to {MOST_WIDTH}")
        if self.vectors_rows > MOST_ROWS:
            raise ConfigError(f"vectors_rows={self.vectors_rows}: at most {MOST_ROWS:,} vectors can be kept")
        for name in ("vectors", "pretrained", "begin_from"):
            if not isinstance(getattr(self, name), str | Path):
                raise ConfigError(f"{name}={getattr(self, name)!r}: it should be the name of a file")
            object.__setattr__(self, name, str(getattr(self, name)))
        if self.vectors and self.pretrained:
            raise ConfigError("a pretrained encoder has vectors of its own; choose one of vectors and pretrained")
        for name in ("distil_from", "unlabelled", "silver", "contextual"):
            value = getattr(self, name)
            files = [value] if isinstance(value, str | Path) else value
            if not isinstance(files, Sequence) or not all(isinstance(file, str | Path) for file in files):
                raise ConfigError(f"{name}={value!r}: it should be the name of a file, or a list of names")
            object.__setattr__(self, name, tuple(map(str, files)))

    @property
    def dev_beam(self) -> int | None:
        """The beam to parse with after training; None, where none is asked for, leaves it to the model."""
        return asked_beam(self.beam)

    @property
    def n_teachers(self) -> int:
        """How many teachers are trained first."""
        return self.distil or 0

    @property
    def distils(self) -> bool:
        """Whether the parser learns from teachers."""
        return bool(self.distil or self.distil_from)

    def _check_teachers(self, learner: str) -> None:
        """Raise ConfigError if the choices about teachers do not go together."""
        if self.distil and self.distil > MOST_TEACHERS:
            raise ConfigError(f"distil={self.distil}: at most {MOST_TEACHERS} teachers can be trained; 5 are enough")
        if self.distil and self.distil_from:
            raise ConfigError("distil trains new teachers and distil_from takes models that are there; choose one")
        if self.unlabelled and not self.distils:
            raise ConfigError(
                "unlabelled sentences are for distillation, where teachers know what is right: distil=5 (--distil 5) "
                "trains teachers, distil_from takes models that are there"
            )
        if self.distils:
            student_class(learner, "Options")

    def completed(self) -> Config:
        """Return the choices with a learner that suits the search, and a search and system that suit the learner."""
        if self.search and self.search not in SEARCHES:
            raise ConfigError(f"unknown search {self.search!r} to train with; choose from {', '.join(SEARCHES)}")
        learner = self.learner or ("arcs" if self.search else "network")
        entry = learner_entry(learner)
        self._check_teachers(learner)
        if self.silver and not entry.in_epochs:
            raise ConfigError(f"silver trees are left out in the last epochs, but the {learner} learner has only one")
        if self.silver and self.stacked:
            raise ConfigError("silver trees do not go with stacked: they would have to be parsed by folds, too")
        for name in ("vectors", "pretrained", "contextual"):
            if getattr(self, name) and learner != "network":
                raise ConfigError(f"{name}={getattr(self, name)!r} is for the network, not for the {learner} learner")
        settings = self.settings
        if entry.scores_arcs and (self.search or not entry.scores_moves or settings.get("moves") is False):
            if entry.scores_moves:
                settings = {**settings, "moves": False}
            settings = self._with_siblings(settings, learner)
            if self.distils:
                raise ConfigError("teachers are for networks that score moves; a graph-based model has none")
            if self.stacked and entry.scores_moves:
                raise ConfigError(f"stacked={self.stacked!r} is for the arcs learner, not for {learner}")
            if self.oracle or self.beam > 1:
                raise ConfigError(
                    "an oracle and a beam are for transition-based models; a graph-based one has an exact search"
                )
            system = self.system or "attardi-alls0s1"
            if make_system(system, **self.options).tag_column:
                raise ConfigError(f"{system} gives tags by its moves; a graph-based model takes none")
            return replace(self, learner=learner, search=self.search or "mst", system=system, settings=settings)
        system = self.system or entry.system
        if self.silver and make_system(system, **self.options).tag_column:
            raise ConfigError(f"{system} gives tags by its moves, and learns no silver ones; other systems do")
        for name in ("search", "stacked"):
            if getattr(self, name):
                raise ConfigError(f"{name}={getattr(self, name)!r} is for learners that score arcs, not for {learner}")
        if self.beam > 1 and not entry.beam:
            raise ConfigError(f"an {learner} model counts votes, which do not add up to probabilities: no beam")
        return replace(self, learner=learner, system=system)

    def _with_siblings(self, settings: Mapping[str, Any], learner: str) -> Mapping[str, Any]:
        """Return the settings, which say that siblings are scored where the search is a second-order one."""
        if self.search and SEARCHES[self.search].siblings:
            if not learner_entry(learner).scores_siblings:
                raise ConfigError(f"search={self.search!r} is for learners that score siblings, not for {learner}")
            return {**settings, "siblings": True}
        if settings.get("siblings"):
            second = ", ".join(name for name, entry in SEARCHES.items() if entry.siblings)
            raise ConfigError(f"siblings=True goes with a second-order search: {second}")
        return settings

    def check(self) -> None:
        """Raise ConfigError if there is no such system, option, learner or setting."""
        complete = self.completed()
        make_system(complete.system, **complete.options)
        complete.learner_options()

    @property
    def tag_column(self) -> str:
        """The column whose tags the system gives, from the candidates of a tagger; usually there is none."""
        complete = self.completed()
        return make_system(complete.system, **complete.options).tag_column

    def for_text(self, words: int) -> Config:
        """Return the choices for a pipeline that learns from so many words: whether there are teachers is settled."""
        if self.distil is not None or self.distil_from:
            return self
        complete = self.completed()
        entry = learner_entry(complete.learner)
        suits = entry.student and not complete.search and not self.tag_column and not self.begin_from
        return replace(self, distil=TEACHERS if suits and words in TAUGHT else 0)

    def for_predicted_tags(self) -> Config:
        """Return the choices for a parser whose tags may be wrong, so that the surrounding words have to say more."""
        if self.completed().learner != "network":
            return self
        return replace(self, settings={"layers": PIPELINE_LAYERS, **self.settings})

    def learner_options(self) -> Any:  # noqa: ANN401 - the options class of the learner
        """Return the learner's options, checked."""
        learner = self.completed().learner
        kind = student_class(learner, "Options") if self.distils else learner_class(learner, "Options")
        return options_of(kind, self.settings, f"the {learner} learner")

    def tagger_options(self) -> TaggerOptions:
        """Return how the taggers before the parser learn: in no more epochs than the parser was told."""
        from tanglewood.text.tagger import TaggerOptions

        return TaggerOptions(most_epochs=self.settings.get("epochs", 0))

    def as_dict(self) -> dict[str, Any]:
        """Return the choices as plain data; those about teachers, silver trees and knowledge only if there are any."""
        choices = asdict(self)
        if not self.vectors:
            for name in OF_VECTORS:
                del choices[name]
        if not self.silver:
            del choices["silver_words"]
        for name in ("silver", "pretrained", "contextual", "begin_from"):
            if not getattr(self, name):
                del choices[name]
        if self.distil is None:
            del choices["distil"]
        if not self.distils:
            for name in ("distil_from", "unlabelled"):
                del choices[name]
        return choices


def options_of(kind: Any, settings: Mapping[str, Any], owner: str) -> Any:  # noqa: ANN401 - a class of options
    """Return the options of a class with these settings; a ConfigError says which have no such name or type."""
    known = {option.name: option for option in fields(kind)}
    for name, value in settings.items():
        if name not in known:
            raise ConfigError(f"{owner} has no setting {name!r}; it has {', '.join(known)}")
        wanted = type(getattr(kind(), name))
        fits = isinstance(value, int | float if wanted is float else wanted)
        if not fits or isinstance(value, bool) != (wanted is bool):
            raise ConfigError(f"{name}={value!r}: the setting should be of type {wanted.__name__}")
    return kind(**settings)


def read_config(path: str | None, overrides: list[str], config: Config | None = None) -> Config:
    """Read a TOML file and apply overrides such as ``epochs=10`` or ``options.max_degree=1``.

    Keys are those of Config; all other keys are settings of the learner.
    """
    given: dict[str, Any] = {}
    if path:
        try:
            given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: not a TOML file: {error}") from None
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise ConfigError(f"--set {override!r} is not of the form key=value")
        try:
            parsed = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            parsed = value
        table, _, name = key.strip().rpartition(".")
        place = given.setdefault(table, {}) if table else given
        if not isinstance(place, dict):
            raise ConfigError(f"--set {override!r}: {table!r} is a value, not a table")
        place[name] = parsed
    return updated(config or Config(), given)


def updated(config: Config, given: Mapping[str, Any]) -> Config:
    """Return the choices with some replaced; what is not a field of Config is a setting of the learner."""
    own = {option.name for option in fields(Config)}
    for key in ("settings", "options"):
        if not isinstance(given.get(key, {}), dict):
            raise ConfigError(f"{key}={given[key]!r}: it should be a table, as in {key}.NAME=VALUE")
    chosen = {key: value for key, value in given.items() if key in own}
    settings = {**config.settings, **chosen.pop("settings", {})}
    settings |= {key: value for key, value in given.items() if key not in own}
    options = {**config.options, **chosen.pop("options", {})}
    return replace(config, **chosen, options=options, settings=settings)
