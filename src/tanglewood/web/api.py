"""What the playground answers: requests in, answers out; nothing is read from or written to disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from tanglewood import __version__
from tanglewood.core.oracle import LossOracle
from tanglewood.core.system import TransitionSystem
from tanglewood.derivation import Step, trace, trace_model, weigh
from tanglewood.errors import ConfigError, IllegalMove, OracleError
from tanglewood.parser import BEAM
from tanglewood.systems import SYSTEMS, make_system
from tanglewood.treebank.conllu import read
from tanglewood.treebank.sentence import HEAD, Sentence
from tanglewood.web.answers import legal_moves, sentence_answer, trace_answer
from tanglewood.web.limits import Deadline, Limits, Room
from tanglewood.web.messages import (
    ModelInfo,
    MovesAnswer,
    MovesRequest,
    OptionInfo,
    Options,
    ParseAnswer,
    ParseRequest,
    Source,
    SystemInfo,
    Systems,
    TextsAnswer,
    TraceAnswer,
    TraceRequest,
    TreebankAnswer,
    TreebankRequest,
)
from tanglewood.web.models import Parsed, Search
from tanglewood.web.options import JSON_TYPES, options_of
from tanglewood.web.problems import Problem
from tanglewood.web.treebank import browse

if TYPE_CHECKING:
    from tanglewood.web.models import Model

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Playground:
    """The models at hand, the first of which is the default, and the limits."""

    models: Mapping[str, Model] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)

    def systems(self) -> Systems:
        """List the systems with their oracles and options, the models, and the limits."""
        return Systems(
            version=__version__,
            systems=[
                SystemInfo(
                    name=name,
                    covers=system.covers,
                    paper=system.paper,
                    oracles=list(system.oracles),
                    costs=_costs(system),
                    options=[
                        OptionInfo(name=option.name, type=JSON_TYPES[option.kind], help=option.help)
                        for option in options_of(system)
                    ],
                    aside=system.aside_name,
                )
                for name, system in SYSTEMS.items()
            ],
            models=[_described(name, model) for name, model in self.models.items()],
            limits=self.limits,
        )

    def parse(self, request: ParseRequest, deadline: Deadline) -> ParseAnswer | TextsAnswer:
        """Parse text or CoNLL-U, and draw the trees.

        Trees that the CoNLL-U already has stay unless a model is named. The answer for several texts has an entry for
        each, which is the same as the answer for that text alone.
        """
        search = self._search(request)
        groups = self._parsed(request, self._read(request, deadline), deadline, search)
        room = Room(self.limits)
        drawn, tikz = request.drawings, request.tikz
        answers = [
            ParseAnswer(
                sentences=[sentence_answer(one, room, drawn=drawn, tikz=tikz) for one in _watched(group, deadline)]
            )
            for group in groups
        ]
        return answers[0] if request.texts is None else TextsAnswer(texts=answers)

    def trace(self, request: TraceRequest, deadline: Deadline) -> TraceAnswer:
        """Derive the tree of one sentence move by move, as an oracle or a model does.

        If the system does not cover the tree, the steps go as far as they can, and ``problem`` says why they stop.
        The derivation may begin with ``moves`` of somebody else; the guide goes on from there if it can.
        """
        if len(request.moves) > self.limits.max_steps:
            problem = f"{len(request.moves)} moves; there may be {self.limits.max_steps}"
            raise Problem(422, problem, field="moves")
        (sentences,) = self._read(request, deadline)
        if request.sentence > len(sentences):
            problem = f"there is no sentence {request.sentence}; there are {len(sentences)}"
            raise Problem(422, problem, field="sentence")
        chosen = sentences[request.sentence - 1]
        if request.guide == "model":
            return self._trace_model(request, chosen, deadline)
        ((parsed,),) = self._parsed(request, [[chosen]], deadline, Search())
        return self._trace_oracle(request, parsed.sentence, deadline)

    def treebank(self, request: TreebankRequest, deadline: Deadline) -> TreebankAnswer:
        """Count a treebank, say which systems cover it, and list the sentences that pass a filter.

        It may be a part of one that begins at ``first_line`` of its file. Sentences that are malformed or too long
        are left out and listed under ``errors``.
        """
        return browse(request, self.limits, deadline)

    def moves(self, request: MovesRequest, deadline: Deadline) -> MovesAnswer:
        """Say which moves may follow those taken so far, and what each costs.

        The costs are those of an oracle that may be asked in any configuration. For systems that have none and for
        long sentences there are no costs, and ``problem`` says so.
        """
        ((sentence, *_),) = self._read(TraceRequest(conllu=request.conllu), deadline)
        system = _system(request.system, request.options)
        knowing = list(_costs(type(system)))
        oracle, problem = request.oracle or next(iter(knowing), None), None
        if oracle is not None and oracle not in knowing:
            known = ", ".join(knowing) or "none of its oracles does"
            wrong = f"{system.name} has no oracle {oracle!r} that knows the costs of all moves ({known})"
            raise Problem(422, wrong, field="oracle")
        if oracle is None:
            problem = f"{system.name} has no oracle that knows what any move costs"
        elif len(sentence) > self.limits.max_costs:
            problem = f"costs are left out: the sentence has more than {self.limits.max_costs} words"
            oracle = None
        with _blamed("moves"):
            try:
                legal = weigh(sentence, system, oracle, request.moves)
            except ConfigError as error:  # an oracle that does not go with the options
                oracle, problem = None, str(error)
                legal = weigh(sentence, system, None, request.moves)
        return MovesAnswer(legal=legal_moves(legal), oracle=oracle, problem=problem)

    def _trace_oracle(self, request: TraceRequest, sentence: Sentence, deadline: Deadline) -> TraceAnswer:
        options = msgspec.to_builtins(request.options) or {}
        system = _system(request.system or "swap", request.options)
        oracle = request.oracle or next(iter(system.oracles))
        if oracle not in system.oracles:
            problem = f"{system.name} has no oracle {oracle!r}; it has {', '.join(system.oracles)}"
            raise Problem(422, problem, field="oracle")
        tree = sentence.tree
        steps: list[Step] = []
        room = Room(self.limits)
        failure = None
        try:
            self._collect(trace(sentence, system, oracle, moves=request.moves), steps, room, deadline)
        except OracleError as error:
            failure = str(error)
        about = {"guide": "oracle", "system": system.name, "options": options, "oracle": oracle}
        return trace_answer(
            about, system.aside_name, sentence, steps, room, problem=failure, goal=tree, drawn=request.drawings
        )

    def _trace_model(self, request: TraceRequest, sentence: Sentence, deadline: Deadline) -> TraceAnswer:
        name, model = self._model(request)
        description = model.parser.description
        system, options = description["system"], description["options"]
        given = {
            "system": request.system if request.system != system else None,
            "oracle": request.oracle,
            "options": msgspec.to_builtins(request.options),
        }
        for field_, value in given.items():
            if value:
                raise Problem(422, f"{field_} is for guide oracle; model {name} is of {system}", field=field_)
        if request.conllu is not None:
            (sentence,) = model.tag([sentence])
        steps: list[Step] = []
        room = Room(self.limits)
        self._collect(trace_model(model.parser, sentence, moves=request.moves), steps, room, deadline)
        about = {"guide": "model", "model": name, "system": system, "options": options}
        aside = model.parser.model.actions.system.aside_name
        return trace_answer(about, aside, sentence, steps, room, drawn=request.drawings)

    def _collect(self, found: Iterator[Step], steps: list[Step], room: Room, deadline: Deadline) -> None:
        with _blamed("moves"):
            for step in found:
                deadline.check()
                if len(steps) > self.limits.max_steps:
                    problem = f"the derivation has more than {self.limits.max_steps} steps; take a shorter one"
                    raise Problem(422, problem)
                steps.append(step)
                numbers = len(step.stack) + len(step.buffer) + len(step.aside)
                room.take(2 * numbers + sum(len(legal.label or "") + 60 for legal in step.legal))  # each at the least

    def _search(self, request: ParseRequest) -> Search:
        """Return how to search for trees, within the limits."""
        most = self.limits.max_beam
        for name in ("beam", "nbest"):
            value = getattr(request, name) or 0
            if value > most:
                raise Problem(422, f"{name} is {value}; it may be up to {most}", field=name)
        beam = request.beam
        if request.accurate and beam is None and most < BEAM:
            beam = most
        return Search(beam, request.nbest, request.confidence, request.accurate)

    def _read(self, request: Source, deadline: Deadline) -> list[list[Sentence]]:
        """Return the sentences of each text, tagged if the text is raw; limits count over all."""
        source = _source(request)
        parts = self._parts(request, source)
        groups: list[list[Sentence]] = []
        count = 0
        for number, part in enumerate(_watched(parts, deadline)):
            place = f"texts[{number}]" if source == "texts" else source
            group = []
            try:
                for sentence in _watched(part, deadline):
                    group.append(sentence)
                    self._check_size(sentence, len(group), count + len(group), place)
            except ConfigError as error:
                raise Problem(422, str(error), field=place) from None
            count += len(group)
            groups.append(group)
        if not count and source != "texts":
            raise Problem(422, "there is no sentence in it", field=source)
        return groups

    def _parts(self, request: Source, source: str) -> Iterable[Iterable[Sentence]]:
        """Return the sentences of each text, none of which is read yet."""
        given = getattr(request, source)
        if source == "conllu":
            return [read(BytesIO(given.encode()), trees=False)]
        texts = given if source == "texts" else [given]
        if len(texts) > self.limits.max_sentences:
            problem = f"{len(texts)} texts; there may be {self.limits.max_sentences} at once: send them in parts"
            raise Problem(422, problem, field=source)
        letters, most = sum(map(len, texts)), self.limits.max_text
        if letters > most:
            problem = f"{letters} characters; a text may have {most}, or several together: send it in parts"
            raise Problem(422, problem, field=source)
        _, model = self._model(request)
        return (model.tag_text(text, request.sentences) for text in texts)

    def _check_size(self, sentence: Sentence, number: int, count: int, place: str) -> None:
        """Refuse a sentence that is too long or one too many; ``number`` counts in its text, ``count`` in all texts."""
        limits = self.limits
        if count > limits.max_sentences:
            problem = f"more than {limits.max_sentences} sentences, the most at once: send them in parts"
            raise Problem(422, problem, field=place)
        if len(sentence) > limits.max_words:
            problem = f"sentence {number} has {len(sentence)} words; a sentence may have {limits.max_words}"
            raise Problem(422, problem, field=place, sent_id=sentence.sent_id)

    def _parsed(
        self, request: Source, groups: list[list[Sentence]], deadline: Deadline, search: Search
    ) -> list[list[Parsed]]:
        """Return the sentences with their trees, which are those of the CoNLL-U or a model's."""
        sentences = [sentence for group in groups for sentence in group]
        if request.conllu is not None and not request.model:
            bare = all(set(sentence.column(HEAD)) == {"_"} for sentence in sentences)
            if not (bare and self.models):
                self._keep(sentences, search)
                return [[Parsed(sentence) for sentence in group] for group in groups]
        name, model = self._model(request)
        tagged = sentences if request.conllu is None else model.tag(sentences)
        try:
            found = model.parse(tagged, search)
        except ConfigError as error:
            raise Problem(422, f"model {name}: {error}", field=_asked(search)) from None
        parsed = iter(list(_watched(found, deadline)))
        return [[next(parsed) for _ in group] for group in groups]

    @staticmethod
    def _keep(sentences: list[Sentence], search: Search) -> None:
        """Check that the sentences have trees, which stay, and that nothing is asked for that needs a search."""
        for sentence in sentences:
            sentence.heads()  # raises an error that says where they do not form a tree
        name = _asked(search)
        if name is not None:
            problem = f"{name} is for parsing, and the trees of the CoNLL-U stay; name a model to have it parsed anew"
            raise Problem(422, problem, field=name)

    def _model(self, request: Source) -> tuple[str, Model]:
        """Return the model asked for, by default the first."""
        if not self.models:
            raise Problem(
                422, "this server has no model: start it with `tanglewood serve -m MODEL`, or send CoNLL-U with trees"
            )
        name = request.model or next(iter(self.models))
        if name not in self.models:
            raise Problem(422, f"unknown model {name!r}; choose from {', '.join(self.models)}", field="model")
        return name, self.models[name]


@contextmanager
def _blamed(field_: str) -> Iterator[None]:
    """Say which field of a request holds a move that is not legal."""
    try:
        yield
    except IllegalMove as error:
        raise Problem(422, str(error), field=field_) from None


def _costs(system: type[TransitionSystem]) -> dict[str, Literal["heads", "detours"]]:
    """Return the oracles of a system that may be asked in any state, with what their costs count."""
    return {
        name: "heads" if issubclass(kind, LossOracle) else "detours"
        for name, kind in system.oracles.items()
        if getattr(kind, "explores", False)
    }


def _system(name: str, options: Options | None) -> TransitionSystem:
    try:
        return make_system(str(name), **(msgspec.to_builtins(options) or {}))
    except ConfigError as error:
        raise Problem(422, str(error), field="options") from None


def _source(request: Source) -> str:
    """Return the field that holds the sentences."""
    fields = [name for name in ("text", "texts", "conllu") if name in request.__struct_fields__]
    given = [name for name in fields if getattr(request, name) is not None]
    if len(given) != 1:
        known = f"either {', '.join(fields[:-1])} or {fields[-1]} should be given"
        problem = f"{' and '.join(given)} are given: {known}, and only one of them" if given else known
        raise Problem(422, problem, field=given[0] if given else "text")
    return given[0]


def _asked(search: Search) -> str | None:
    """Return the first field of a request that says how to search, if there is one."""
    return next((name for name in ("nbest", "beam", "confidence", "accurate") if getattr(search, name)), None)


def _watched(items: Iterable[Item], deadline: Deadline) -> Iterator[Item]:
    for item in items:
        deadline.check()
        yield item


def _described(name: str, model: Model) -> ModelInfo:
    parser = model.parser
    return ModelInfo(
        name=name,
        kind="arcs" if parser.graph_based else "moves",
        system=parser.description.get("system", ""),
        options=parser.description.get("options", {}),
    )
