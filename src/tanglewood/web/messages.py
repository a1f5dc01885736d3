"""The requests and answers of the JSON interface; decoding, checks and the OpenAPI description follow from them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from tanglewood.options import SENTENCES
from tanglewood.systems import SYSTEMS
from tanglewood.web.limits import Limits
from tanglewood.web.options import JsonType, all_options, field_of

Natural = Annotated[int, Meta(ge=0, le=2**53 - 1)]  # larger ones are not exact in JavaScript
Positive = Annotated[int, Meta(ge=1, le=2**53 - 1)]
Node = Annotated[int, Meta(ge=0, description="a word's number, or 0 for the artificial root")]
Arc = Annotated[tuple[Node, str, Node], Meta(description="head, label, dependent")]
OptionValue = bool | int | float | str | None


class Request(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all requests."""


class Answer(Struct, forbid_unknown_fields=True):
    """Base of all answers; fields that are not set are left out."""


if TYPE_CHECKING:
    SystemName = str
    Border = str

    class Options(Request):
        """Options of a system; which it takes is in /api/systems."""
else:
    SystemName = StrEnum("SystemName", {name: name for name in SYSTEMS})
    SystemName.__doc__ = "The name of a transition system."
    Border = Literal[SENTENCES]
    Options = defstruct(
        "Options",
        [field_of(option) for option in all_options()],
        bases=(Request,),
        namespace={"__doc__": "Options of a system; which it takes is in /api/systems."},
    )


# Requests. ------------------------------------------------------------------------------------------------------------


class Source(Request):
    """What every request about sentences may hold; ``text`` or ``conllu`` must be given, and not both."""

    text: Annotated[str | None, Meta(description="raw text, split, tagged and parsed by a model")] = None
    conllu: Annotated[
        str | None, Meta(description="sentences in CoNLL-U or CoNLL-X; trees they have stay unless a model is named")
    ] = None
    model: Annotated[str | None, Meta(description="name of a model; by default the first of /api/systems")] = None
    sentences: Annotated[
        Border,
        Meta(description="what ends the sentences of raw text: the model decides, or final punctuation, lines..."),
    ] = "model"
    drawings: Annotated[bool, Meta(description="whether the answer has SVG")] = True


class ParseRequest(Source):
    """Text or CoNLL-U to give trees to; exactly one of text, texts and conllu must be given."""

    texts: Annotated[
        list[str] | None, Meta(description="several texts; the answer has an entry for each, and limits are for all")
    ] = None
    beam: Annotated[
        Positive | None,
        Meta(description="width of the beam, 1 being the best moves alone; by default the one of the command parse"),
    ] = None
    accurate: Annotated[
        bool, Meta(description="whether to take a beam where there can be one: usually better trees, more slowly")
    ] = False
    nbest: Annotated[
        Positive | None,
        Meta(description="how many trees a sentence gets, with their log-probabilities (transition-based models)"),
    ] = None
    confidence: Annotated[bool, Meta(description="whether each word has the probability of its head")] = False
    tikz: Annotated[bool, Meta(description="whether each sentence also has its drawing for LaTeX")] = False


class TraceRequest(Source):
    """A sentence whose derivation is wanted."""

    sentence: Annotated[Positive, Meta(description="which sentence of the text, the first being 1")] = 1
    guide: Annotated[Literal["oracle", "model"], Meta(description="what chooses the moves")] = "oracle"
    system: Annotated[SystemName | None, Meta(description="for guide oracle; by default swap")] = None
    options: Annotated[Options | None, Meta(description="options of the system")] = None
    oracle: Annotated[str | None, Meta(description="oracle of the system; by default its first")] = None
    moves: Annotated[
        list[str],
        Meta(description="moves to take first, such as SHIFT or LEFT-ARC(det); the label may be left out"),
    ] = []


class MovesRequest(Request):
    """A sentence with a tree, and the moves somebody has taken to derive it."""

    conllu: Annotated[str, Meta(description="the sentence with its tree, in CoNLL-U or CoNLL-X")]
    system: SystemName
    moves: Annotated[list[str], Meta(description="the moves taken so far, as in the request of a trace")] = []
    options: Annotated[Options | None, Meta(description="options of the system")] = None
    oracle: Annotated[
        str | None,
        Meta(description="whose costs are wanted; by default the first oracle of the system that knows all costs"),
    ] = None


class SentenceFilter(Request):
    """Sentences for which all of this holds."""

    crossing: Annotated[bool, Meta(description="only non-projective sentences")] = False
    degree: Annotated[Natural, Meta(description="only those of this degree or more (Nivre 2007)")] = 0
    not_covered_by: Annotated[SystemName | None, Meta(description="only those this system does not derive")] = None
    label: Annotated[str, Meta(description="only those with this label, with crossing on a non-projective arc")] = ""
    search: Annotated[str, Meta(description="only those with this in their text or sent_id, in either case")] = ""
    min_length: Annotated[Natural, Meta(description="only those of so many words or more")] = 0
    max_length: Annotated[Natural | None, Meta(description="only those of so many words or fewer")] = None


class TreebankRequest(Request):
    """A treebank, or a part of one, to count and to filter."""

    conllu: Annotated[str, Meta(description="the text of a treebank, in CoNLL-U or CoNLL-X")]
    first_line: Annotated[Positive, Meta(description="line of the file at which this part of it begins")] = 1
    systems: Annotated[list[SystemName] | None, Meta(description="whose coverage is counted; by default all")] = None
    filter: SentenceFilter | None = None
    offset: Annotated[Natural, Meta(description="how many of the sentences that pass the filter to leave out")] = 0
    limit: Annotated[Natural | None, Meta(description="how many of them to list then; by default all")] = None


# Answers. -------------------------------------------------------------------------------------------------------------

Start = Annotated[int | UnsetType, Meta(description="where it begins in the raw text, in characters")]
End = Annotated[int | UnsetType, Meta(description="where it ends there")]
Misc = Annotated[dict[str, str] | UnsetType, Meta(description="what else stands in the last column")]


class Word(Answer):
    """A word of a sentence; columns that hold nothing are left out."""

    id: Node
    form: str
    lemma: str | UnsetType = UNSET
    upos: str | UnsetType = UNSET
    xpos: str | UnsetType = UNSET
    feats: dict[str, str] | UnsetType = UNSET
    head: Node | UnsetType = UNSET
    deprel: str | UnsetType = UNSET
    nonprojective: Annotated[bool | UnsetType, Meta(description="true if the arc to its head is non-projective")] = (
        UNSET
    )
    confidence: Annotated[float | UnsetType, Meta(description="the probability of its head, if asked for")] = UNSET
    start: Start = UNSET
    end: End = UNSET
    misc: Misc = UNSET


class MultiwordToken(Answer):
    """A token of several words, which have the numbers from first to last."""

    first: Node
    last: Node
    form: str
    start: Start = UNSET
    end: End = UNSET
    misc: Misc = UNSET


class ScoredTree(Answer):
    """One of the best trees of a sentence."""

    log_probability: float
    heads: list[Node]
    labels: list[str]


class Sentence(Answer):
    """A sentence and its tree."""

    sent_id: str | None
    text: str
    words: list[Word]
    heads: list[Node]
    labels: list[str]
    nonprojective: Annotated[list[Node], Meta(description="the dependents of the non-projective arcs")]
    degree: Annotated[int, Meta(description="the degree of non-projectivity (Nivre 2007)")]
    conllu: str
    multiword: list[MultiwordToken] | UnsetType = UNSET
    svg: Annotated[str | UnsetType, Meta(description="the tree as SVG; left out if no drawings are wanted")] = UNSET
    tikz: Annotated[str | UnsetType, Meta(description="the tree for LaTeX (tikz-dependency), if asked for")] = UNSET
    nbest: Annotated[
        list[ScoredTree] | UnsetType, Meta(description="different trees, the best first, if asked for")
    ] = UNSET


class ParseAnswer(Answer):
    """The sentences of a text or of CoNLL-U."""

    sentences: list[Sentence]


class TextsAnswer(Answer):
    """The answers for several texts, in their order; a text without a sentence has none."""

    texts: list[ParseAnswer]


class LegalMove(Answer):
    """A move that may follow a step."""

    move: str
    label: str | None
    taken: bool
    score: Annotated[float | None, Meta(description="what the model gives the move")]
    share: Annotated[float | None, Meta(description="softmax of the scores of the legal moves")]
    cost: Annotated[int | None, Meta(description="how many more heads the move makes wrong, if the oracle knows")]


class Step(Answer):
    """A move, none in the first step, and the configuration it leads to."""

    move: str | None
    label: str | None
    transition: Annotated[str, Meta(description="the move with its label, as in LEFT-ARC(det)")]
    stack: Annotated[list[Node], Meta(description="top last")]
    buffer: Annotated[list[Node], Meta(description="front first")]
    aside: Annotated[
        list[tuple[Node, str | None]], Meta(description="the second list, if the system has one: nodes with labels")
    ]
    arc: Arc | None
    attached: Annotated[list[Arc], Meta(description="all arcs that are new or changed")]
    legal: Annotated[list[LegalMove], Meta(description="the moves that may follow")]
    drawing: Annotated[
        int | UnsetType,
        Meta(description="which of the drawings holds the arcs made so far; left out if there are none"),
    ] = UNSET


class TraceAnswer(Answer):
    """The derivation of a sentence."""

    guide: Literal["oracle", "model"]
    system: SystemName
    options: dict[str, OptionValue]
    aside: Annotated[str, Meta(description="what the second list is called; empty if there is none")]
    sentence: Sentence
    covered: bool
    problem: Annotated[str | None, Meta(description="why the derivation does not go on, if the tree is not covered")]
    transitions: int
    steps: list[Step]
    oracle: Annotated[str | UnsetType, Meta(description="for guide oracle")] = UNSET
    model: Annotated[str | UnsetType, Meta(description="for guide model")] = UNSET
    drawings: Annotated[list[str] | UnsetType, Meta(description="trees as SVG; left out if no drawings are wanted")] = (
        UNSET
    )


class MovesAnswer(Answer):
    """What may follow some moves, and what it costs."""

    legal: Annotated[list[LegalMove], Meta(description="the moves that may follow")]
    oracle: Annotated[str | None, Meta(description="the oracle whose costs these are; null if there are none")]
    problem: Annotated[str | None, Meta(description="why there are no costs")]


class LabelCount(Answer):
    """How many arcs have a label."""

    nonprojective: int
    all: int


class Stats(Answer):
    """Counts over a treebank."""

    sentences: int
    words: int
    nonprojective_sentences: int
    nonprojective_arcs: int
    multi_root_sentences: int
    max_length: int
    degree_2007: Annotated[dict[str, int], Meta(description="sentences by degree (Nivre 2007)")]
    degree_2006: Annotated[dict[str, int], Meta(description="sentences by edge degree (Kuhlmann and Nivre 2006)")]
    nonprojective_labels: dict[str, LabelCount]
    nonprojective_punctuation: int


class CoverageCounts(Answer):
    """How many trees each system derives."""

    sentences: int
    nonprojective_sentences: int
    covered: dict[str, int]
    covered_nonprojective: dict[str, int]
    undecided: Annotated[dict[str, int], Meta(description="where a search for a derivation gave up")]


class Row(Answer):
    """A sentence of a treebank in brief."""

    first_line: int
    last_line: int
    sent_id: str | None
    text: str
    words: int
    crossing: Annotated[int, Meta(description="non-projective arcs")]
    degree: int
    uncovered: Annotated[list[SystemName], Meta(description="systems that do not derive the tree")]
    labels: list[str]
    crossing_labels: list[str]


class LeftOut(Answer):
    """A sentence that was left out, since it is malformed or too long."""

    error: str
    line: int | None
    sent_id: str | None


class TreebankAnswer(Answer):
    """Counts over a treebank, its coverage, and the sentences that pass the filter."""

    stats: Stats
    coverage: CoverageCounts
    matches: Annotated[int, Meta(description="sentences that pass the filter")]
    sentences: list[Row]
    errors: list[LeftOut]


class OptionInfo(Answer):
    """An option of a system."""

    name: str
    type: JsonType
    help: str


class SystemInfo(Answer):
    """A transition system."""

    name: SystemName
    covers: Annotated[str, Meta(description="the trees it derives")]
    paper: str
    oracles: list[str]
    costs: Annotated[
        dict[str, Literal["heads", "detours"]],
        Meta(
            description="oracles that know what every move costs, in any configuration: how many more heads it makes"
            " wrong, or those and moves that only lead astray"
        ),
    ]
    options: list[OptionInfo]
    aside: Annotated[str, Meta(description="what its second list is called; empty if it has none")]


class ModelInfo(Answer):
    """A model of this server."""

    name: str
    kind: Annotated[Literal["arcs", "moves"], Meta(description="what the model scores")]
    system: str
    options: dict[str, OptionValue]


class Systems(Answer):
    """What this server has and allows."""

    version: str
    systems: list[SystemInfo]
    models: list[ModelInfo]
    limits: Limits


class Health(Answer):
    """A sign that the server is up, and how busy it is."""

    status: Literal["ok"]
    version: str
    models: Annotated[list[str], Meta(description="names of the models")]
    working: Annotated[int, Meta(description="requests being worked on")]
    waiting: Annotated[int, Meta(description="requests that wait for their turn")]
