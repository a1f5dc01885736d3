"""The parser: a system, labels, learnt weights and a search, trained once and used on any number of sentences."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Unpack

from tanglewood import __version__
from tanglewood.checks import PLAIN, Shape, Whole, check_settings
from tanglewood.core.actions import SETTINGS as ACTION_SETTINGS
from tanglewood.core.actions import Actions
from tanglewood.core.beam import MOST_WIDTH
from tanglewood.decoders import CHART_SEARCHES, JOINT_SEARCHES, MOVE_SEARCHES, SEARCHES, check_system, make_decoder
from tanglewood.errors import ConfigError, ModelError, TanglewoodError, given
from tanglewood.learners import learner_class
from tanglewood.learners.base import Model
from tanglewood.options import OptionsByName, ParseOptions, chosen
from tanglewood.searches import ArcWorker, ChartWorker, JointWorker, MoveWorker, ParserWorker, learnt_with
from tanglewood.store import load_model, part_of, save_model
from tanglewood.systems import make_system
from tanglewood.transforms.pseudo_projective import Scheme
from tanglewood.treebank.chunks import in_chunks
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

if TYPE_CHECKING:
    from tanglewood.ml.lexicon import Lexicon

BEAM = 8  # default width of a beam where one is needed or pays off
STACKED = "stacked/"  # prefix of the names of a stacked parser's arrays
SETTINGS: Shape = {  # of a model file; parts check their own
    "tanglewood": str,
    **ACTION_SETTINGS,
    "pseudo_projective": (None, [str]),
    "description": {
        "system": str,
        "options": {str: PLAIN},
        "single_root": bool,
        "learner": str,
        "search": str,
        "beam": Whole(1, MOST_WIDTH),
        "columns?": [str],
        str: PLAIN,
    },
    "model": dict,
    "stacked?": dict,
    "tokenizer?": dict,
    "tagger?": dict,
}


class Parser:
    """Gives sentences their trees; threads may share one instance.

    ``description`` says what the parser was made from: system, options, learner, data, scores.
    """

    def __init__(
        self,
        model: Model,
        description: Mapping[str, Any],
        scheme: Scheme | None = None,
        stacked: Parser | None = None,
    ) -> None:
        self.model = model
        self.description = description
        self.scheme = scheme
        self.stacked = stacked

    @property
    def lexicon(self) -> Lexicon | None:
        """The vectors of forms that came from elsewhere, if the model has any."""
        found: Lexicon | None = getattr(getattr(self.model, "vocabulary", None), "lexicon", None)
        return found

    @property
    def graph_based(self) -> bool:
        """Whether the model scores arcs and no moves."""
        return not self.model.capabilities.scores_moves

    def parse(self, sentence: Sentence, *, search: str = "", beam: int | None = None) -> Tree:
        """Return the tree of one sentence."""
        (parsed,) = self.parse_all([sentence], ParseOptions(search=search, beam=beam))
        return parsed.tree

    def parse_all(
        self,
        sentences: Iterable[Sentence],
        /,
        options: ParseOptions | None = None,
        *,
        threads: int = 1,
        **more: Unpack[OptionsByName],
    ) -> Iterator[Sentence]:
        """Yield the sentences with their trees, in order; memory stays flat however many there are.

        Options may also be given by name: ``parse_all(sentences, beam=8, threads=2)``.
        """
        if threads < 1:
            raise ConfigError(f"the number of threads must be 1 or more, not {threads}")
        options = chosen(options, more)
        workers = [self.worker(options) for _ in range(threads)]
        chunks = in_chunks(sentences)
        if threads == 1:
            for chunk in chunks:
                yield from chain.from_iterable(workers[0].parse(chunk))
            return
        idle: SimpleQueue[ParserWorker] = SimpleQueue()
        for worker in workers:
            idle.put(worker)

        def work(chunk: list[Sentence]) -> list[list[Sentence]]:
            worker = idle.get()
            try:
                return worker.parse(chunk)
            finally:
                idle.put(worker)

        with ThreadPoolExecutor(threads) as pool:
            waiting: deque[Future[list[list[Sentence]]]] = deque(
                pool.submit(work, c) for c in islice(chunks, 2 * threads)
            )
            while waiting:
                yield from chain.from_iterable(waiting.popleft().result())
                waiting.extend(pool.submit(work, chunk) for chunk in islice(chunks, 1))

    def worker(self, options: ParseOptions | None = None) -> ParserWorker:
        """Return a worker for one thread with these options."""
        options = self.resolved(options or ParseOptions())
        if self.graph_based:
            return ArcWorker(self, options)
        if options.search in CHART_SEARCHES:
            return ChartWorker(self, options)
        by_moves = options.search in ("", *MOVE_SEARCHES)
        if by_moves and not (options.confidence and self.model.capabilities.scores_arcs):
            return MoveWorker(self, options)
        return JointWorker(self, options)

    def resolved(self, options: ParseOptions, *, predicted_tags: bool = False) -> ParseOptions:
        """Return the options with the search and the width of the beam decided; ConfigError if they do not fit.

        A search or width that was asked for stays. Otherwise moves and arcs vote, if the model scores both, and there
        is no beam (a width of 1) where there cannot be one: with a graph-based model, greedy search, or a model without
        probabilities. Otherwise it is as wide as the one that the model was trained with, and at least `BEAM` wide
        where one is needed (for n-best trees, and confidence by moves alone), where it is to be accurate, and where it
        pays off (by moves alone where tags are predicted, and may be wrong: half a point of LAS for a third of the
        speed).
        """
        self._check_search(options)
        able = self.model.capabilities
        both = able.scores_moves and able.scores_arcs
        search = options.search or (("beam" if options.nbest > 1 else "vote") if both else "")
        if not able.scores_moves:
            if (options.beam or 1) > 1 or options.nbest > 1:
                raise ConfigError("this model is graph-based: its search is exact, there is no beam and no nbest")
            return options
        needed = options.nbest > 1 or (options.confidence and not both) or search in ("beam", "rescore")
        width = options.beam or 1
        if options.beam is None and able.beam and search in ("", "beam", *CHART_SEARCHES, *JOINT_SEARCHES):
            wide = search in CHART_SEARCHES or needed or options.accurate or (predicted_tags and not both)
            width = max(able.learnt_beam, options.nbest, BEAM if wide else 1)
        if (width > 1 or needed) and not able.beam:
            raise ConfigError(
                "this model counts votes, which do not add up to probabilities: there is no beam, only greedy search"
            )
        if width > 1 and (search == "greedy" or search in SEARCHES):
            raise ConfigError(f"{search} search has no beam of {width}")
        if options.nbest > 1 and search not in ("", "beam", "rescore"):
            raise ConfigError(f"{search} search finds one tree; n-best trees come from beam or rescore")
        if options.nbest > width or (needed and width < 2):
            raise ConfigError(
                f"rescoring, nbest, and confidence by moves alone come from the beam: {width} is too narrow; use a "
                "wider one"
            )
        return replace(options, search=search, beam=width)

    def _check_search(self, options: ParseOptions) -> None:
        """Raise ConfigError if a search or its limits belong to another kind of model."""
        able = self.model.capabilities
        known = [
            *(MOVE_SEARCHES if able.scores_moves else ()),
            *(CHART_SEARCHES if able.exact_moves else ()),
            *(JOINT_SEARCHES if able.scores_moves and able.scores_arcs else ()),
            *(name for name, entry in SEARCHES.items() if able.scores_arcs and entry.siblings == able.scores_siblings),
        ]
        search = options.search
        if search and search not in known:
            what = f"unknown search {search!r}"
            for searches, scored in (
                (MOVE_SEARCHES, "moves"),
                (CHART_SEARCHES, "moves by three nodes"),
                (SEARCHES, "arcs"),
                (JOINT_SEARCHES, "moves and arcs"),
            ):
                if search in searches:
                    more = " and siblings" if search in SEARCHES and SEARCHES[search].siblings else ""
                    what = f"search {search!r} is for models that score {scored}{more}"
            raise ConfigError(f"{what}; this model {able.kind_in_words} and takes {', '.join(known)}")
        if search in SEARCHES and SEARCHES[search].of_system:
            check_system(search, self.model.actions.system)
        if search in SEARCHES and self.model.actions.tags:
            raise ConfigError(f"{self.model.actions.system.name} gives tags by its moves; {search} search takes none")
        if options.keep_heads:
            self._check_keeping(options)
        if options.tags_nbest > 1:
            self._check_choosing()
        if search in CHART_SEARCHES and options.confidence:
            raise ConfigError(f"{search} finds the one best derivation; confidence by moves comes from a beam")
        limited = options.max_length or options.show_search
        if not able.scores_arcs and (options.min_risk or (limited and search not in CHART_SEARCHES)):
            raise ConfigError(
                "min_risk, max_length and show_search are for models that score arcs; this one is transition-based"
            )
        if options.min_risk and able.scores_moves and search not in SEARCHES:
            over_arcs = [name for name in known if name in SEARCHES]
            raise ConfigError(f"min_risk goes with a search over arcs: {', '.join(over_arcs)}")
        if able.scores_siblings and (options.min_risk or options.confidence):
            raise ConfigError("this model scores siblings: there are no sums over trees, no confidence and no min_risk")

    def _check_keeping(self, options: ParseOptions) -> None:
        """Raise ConfigError if heads that are given cannot be kept: only a search over arcs can leave others out."""
        if not self.model.capabilities.scores_arcs:
            raise ConfigError(
                "keep_heads needs a model that scores arcs, as those of train do by default: this one scores "
                "moves alone, and a move that fits may make it impossible to reach a head that is given"
            )
        if self.scheme is not None:
            raise ConfigError(
                "keep_heads does not go with a pseudo-projective model, whose arcs are moved after the search"
            )
        if options.search in (*MOVE_SEARCHES, "rescore") or options.nbest > 1:
            asked = options.search or "n-best"
            raise ConfigError(
                f"keep_heads is for searches over arcs, such as vote and mst; {asked} search follows moves"
            )

    def _check_choosing(self) -> None:
        """Raise ConfigError if the moves do not tell which tags are likeliest."""
        able = self.model.capabilities
        if self.model.actions.tags:
            raise ConfigError(f"{self.model.actions.system.name} chooses tags by its moves; it takes no tags_nbest")
        if not (able.scores_moves and able.beam) or able.learnt_beam > 1 or able.exact_moves:
            raise ConfigError(
                "tags_nbest needs a model that says how probable moves are, as those of train do by default; "
                f"this model {able.kind_in_words}"
            )

    def save(self, path: str | Path) -> None:
        """Write the parser to one file, including a stacked one; the same parser gives the same bytes."""
        save_model(path, *self.contents())

    def contents(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return arrays and settings for a model file."""
        scheme = None if self.scheme is None else [self.scheme.name, self.scheme.separator, self.scheme.mark]
        settings = {
            "tanglewood": __version__,
            **self.model.actions.settings(),
            "pseudo_projective": scheme,
            "description": dict(self.description),
            "model": self.model.settings(),
        }
        arrays = dict(self.model.arrays())
        if self.stacked is not None:
            others, settings["stacked"] = self.stacked.contents()
            arrays |= {f"{STACKED}{name}": values for name, values in others.items()}
        return arrays, settings

    @classmethod
    def load(cls, path: str | Path) -> Parser:
        """Read a parser; nothing in the file is executed."""
        arrays, settings = load_model(path)
        with naming_model(str(path)):
            return cls.from_contents(arrays, settings)

    @classmethod
    def from_contents(cls, arrays: Mapping[str, memoryview], settings: Mapping[str, Any]) -> Parser:
        """Return the parser with such contents; arrays of other parts, whose names have a slash, are ignored."""
        if "pretrained" in settings:
            raise ModelError("an encoder that was learnt from text, not a parser; train --pretrained takes it")
        check_settings(settings, SETTINGS)
        description = settings["description"]
        system = make_system(description["system"], **description["options"], single_root=description["single_root"])
        actions = Actions.load(system, settings)
        own = {name: values for name, values in arrays.items() if "/" not in name}
        model = learner_class(description["learner"], "Model").load(actions, own, settings["model"])
        scheme = None if settings["pseudo_projective"] is None else Scheme(*settings["pseudo_projective"])
        if scheme is not None and not all(scheme.undecorate(label).label for label in actions.labels):
            raise ModelError("the model has labels that say where a word was lifted from, and nothing else")
        stacked = None
        if "stacked" in settings:
            if "stacked" in settings["stacked"]:
                raise ModelError("the parser that the model is stacked on should not be stacked itself")
            stacked = cls.from_contents(part_of(arrays, STACKED), settings["stacked"])
        if model.capabilities.stacked != (stacked is not None):
            raise ModelError("the model and the parser that it is stacked on do not go together")
        parser = cls(model, description, scheme, stacked)
        parser.resolved(ParseOptions(search=description["search"], beam=learnt_with(description)))
        if parser.graph_based:
            make_decoder(description["search"], system)
        return parser


@contextmanager
def naming_model(name: str) -> Iterator[None]:
    """Turn whatever unsuitable contents raise into a ModelError with the model's name."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, TanglewoodError) as error:
        problem = error if isinstance(error, ModelError) else given(error)
        raise ModelError(f"{name}: the model cannot be used by this tanglewood {__version__}: {problem}") from None
