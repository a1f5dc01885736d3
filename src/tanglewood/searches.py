"""The searches of a parser: each worker parses sentences for one thread, by moves, by arcs, or by both.

A network that scores moves and arcs is searched in several ways. "greedy" and "beam" follow the moves alone; "mst",
"eisner", "exact" and "lite" decode the arcs alone (decoders/__init__.py). "rescore" takes the tree of the beam that
moves and arcs together find best. "vote" adds to the score of every arc how much of the beam has it, trees weighed in
the same way, or whether the greedy tree has it, and decodes that. "mst2" and "eisner2" are for models that score arcs
and siblings. "exact-moves" finds the best of all derivations by a chart, for models whose moves are scored by what the
chart knows.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple, Protocol, Unpack

from tanglewood.core.actions import Actions
from tanglewood.core.beam import Beam
from tanglewood.core.logs_plain import exp
from tanglewood.core.search import Search
from tanglewood.core.state import State
from tanglewood.decoders import MOST_MEMORY, MOVE_SEARCHES, SEARCHES
from tanglewood.decoders.base import Scores
from tanglewood.decoders.kept import kept_heads, kept_problem, too_long_to_keep, with_labels_of
from tanglewood.decoders.limits import MOST_ARC_WORDS, too_long
from tanglewood.decoding import BY_HEADS, DecodedArcs, Decoding, with_confidence
from tanglewood.errors import ConfigError, LocatedError
from tanglewood.learners.base import ArcScores, Model, StackedTree, TreeVote
from tanglewood.learners.tag_candidates import Tagging
from tanglewood.ml.words import Word, words_of
from tanglewood.options import OptionsByName, ParseOptions, asked_beam
from tanglewood.transforms.pseudo_projective import Scheme, deprojectivize
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

ARCS_SHARE = 0.6  # of the log-probabilities of arcs and labels where trees of a beam are weighed; chosen on dev sets
# What trees add to the scores of arcs where these are to say how probable heads are: a beam is surer than it should be.
BELIEVED_VOTE = 0.7
# Words of a sentence with a beam, which keeps configurations that are as long as the sentence, and copies one at about
# every tenth move: of 5,000 words a beam of 8 does three quarters of what it does of 50 in a second, one of 64 half.
MOST_BEAM_WORDS = 5000


class Searcher(Protocol):
    """A parser, as far as one that is stacked on it needs it."""

    description: Mapping[str, Any]

    def parse_all(self, sentences: Iterable[Sentence], /, **more: Unpack[OptionsByName]) -> Iterator[Sentence]:
        """Yield the sentences with their trees."""


class Searched(Protocol):
    """What a search needs to know of a parser."""

    model: Model
    description: Mapping[str, Any]
    scheme: Scheme | None
    stacked: Any  # a `Searcher` whose trees a graph-based model looks at, or None


def learnt_with(description: Mapping[str, Any]) -> int | None:
    """Return the width of the beam that a model was judged with in training; None if there was none."""
    return asked_beam(description["beam"])


def stacked_tree(tree: Tree, actions: Actions) -> StackedTree:
    """Return a stacked parser's tree with the label numbers of the actions; -1 for labels that they do not have."""
    return StackedTree(tree.heads, actions.label_numbers(tree))


def stacked_trees(
    stacked: Searcher, sentences: Sequence[Sentence], actions: Actions, *, reproducible: bool = False
) -> list[StackedTree]:
    """Return a stacked parser's trees of sentences, searching as it did in training."""
    parsed = stacked.parse_all(sentences, beam=learnt_with(stacked.description), reproducible=reproducible)
    return [stacked_tree(sentence.tree, actions) for sentence in parsed]


class ParserWorker:
    """What one thread needs: a workspace of the model and a search."""

    def __init__(self, parser: Searched, options: ParseOptions) -> None:
        self.options = options
        self._parser = parser
        self._actions = parser.model.actions
        self._workspace = parser.model.workspace(reproducible=options.reproducible)
        self.fallbacks = 0  # sentences that were too long for the search that was asked for

    def parse(self, sentences: Sequence[Sentence]) -> list[list[Sentence]]:
        """Return each sentence with its tree, or its best trees."""
        if not sentences:
            return []
        for sentence in sentences:
            if problem := self.problem(sentence):
                raise problem
        self._encode(sentences)
        return [list(self._parse(sentence, index)) for index, sentence in enumerate(sentences)]

    def problem(self, sentence: Sentence) -> LocatedError | None:
        """Return what keeps a sentence from being parsed, before anything is done with it."""
        single_root = self._actions.system.single_root
        return kept_problem(sentence, single_root=single_root) if self.options.keep_heads else None

    def _kept(self, sentence: Sentence) -> Sequence[int] | None:
        return kept_heads(sentence) if self.options.keep_heads else None

    def nbest(self, sentence: Sentence) -> list[tuple[Tree, float]]:
        """Return the best trees of a sentence, each with the logarithm of its probability."""
        raise ConfigError("a graph-based model finds the one best tree; n-best trees come from a transition-based one")

    def _encode(self, sentences: Sequence[Sentence]) -> None:
        self._workspace.encode([words_of(sentence) for sentence in sentences])

    def _parse(self, sentence: Sentence, index: int) -> Iterator[Sentence]:
        raise NotImplementedError

    def _instead(self, parsed: Sentence, search: str, asked: str, *, place: int = 1) -> Sentence:
        """Count a sentence (the first of its trees) that was too long for the search that was asked for, and say so."""
        self.fallbacks += place == 1
        return parsed.with_comments(
            [f"# search = {search} instead of {asked}: {len(parsed)} words are beyond the limit"]
        )

    def _described(self, parsed: Sentence, decoding: Decoding, found: DecodedArcs) -> Sentence:
        """Return a parsed sentence with confidence and a comment on the search, as asked for."""
        asked = self.options.search or decoding.search
        if found.marginals is not None and self.options.confidence:
            parsed = with_confidence(parsed, found.marginals)
        if found.proof == "fallback":
            return self._instead(parsed, "mst", asked)
        if found.proof == BY_HEADS:
            return parsed.with_comments([f"# search = mst instead of {asked}: it finds no tree with the heads given"])
        return self._shown(parsed, f", proof: {found.proof}", asked)

    def _shown(self, parsed: Sentence, more: str = "", search: str = "") -> Sentence:
        """Return a parsed sentence, with a comment on the search if that is asked for."""
        if not self.options.show_search:
            return parsed
        return parsed.with_comments([f"# search = {search or self.options.search}{more}"])

    def _with_tree(self, sentence: Sentence, tree: Tree) -> Sentence:
        """Return a sentence with its tree; labels that it has stay, if they are to be kept."""
        return sentence.with_tree(with_labels_of(sentence, tree) if self.options.keep_heads else tree)

    def _tree(self, heads: Sequence[int], numbers: Sequence[int]) -> Tree:
        """Make a tree of the heads and label numbers of words."""
        tree = self._actions.tree(heads, numbers)
        return tree if self._parser.scheme is None else deprojectivize(tree, self._parser.scheme)


class ArcWorker(ParserWorker):
    """Decodes the scores of arcs."""

    def __init__(self, parser: Searched, options: ParseOptions) -> None:
        ParserWorker.__init__(self, parser, options)
        self.decoding = Decoding(self._actions.system, options, options.search or parser.description["search"])

    def believed(self, sentences: Sequence[Sentence]) -> list[tuple[Scores, Sequence[int]]]:
        """Return of each sentence the scores by which its heads are probable, and the heads that are found."""
        self._encode(sentences)
        tables = [self._workspace.score(index).scores for index in range(len(sentences))]
        return [(scores, self.decoding.decode(scores, 1.0).heads) for scores in tables]

    def problem(self, sentence: Sentence) -> LocatedError | None:
        """Return the error if the tables of a sentence would need too much memory, even for the best of all trees."""
        if problem := ParserWorker.problem(self, sentence):
            return problem
        allowed = max(self.options.max_memory, MOST_MEMORY)  # below that a search falls back on the best of all trees
        needed = self.decoding.memory(len(sentence))
        if needed <= allowed:
            return None
        remedy = (
            f"--max-memory {(needed >> 20) + 1} allows them (in Python max_memory, in bytes), and a transition-based "
            "model needs none"
        )
        return sentence.located(too_long(len(sentence), needed, allowed, remedy))

    def _encode(self, sentences: Sequence[Sentence]) -> None:
        other = self._parser.stacked
        trees: list[list[StackedTree]] = []
        if other is not None:
            trees = [stacked_trees(other, sentences, self._actions, reproducible=self.options.reproducible)]
        self._workspace.encode([words_of(sentence) for sentence in sentences], *trees)

    def _parse(self, sentence: Sentence, index: int) -> Iterator[Sentence]:
        arcs = self._workspace.score(index)
        siblings = None
        if self._parser.model.capabilities.scores_siblings and self.decoding.fits(len(sentence)):
            siblings = self._workspace.score_siblings(index)
        kept = self._kept(sentence)
        found = self.decoding.decode(arcs.scores, self._workspace.temperature, siblings=siblings, kept=kept)
        parsed = self._with_tree(sentence, self._tree(found.heads, arcs.best_labels(found.heads)))
        yield self._described(parsed, self.decoding, found)


class MoveWorker(ParserWorker):
    """Searches for the best moves; ``search`` counts its work once it has any."""

    def __init__(self, parser: Searched, options: ParseOptions) -> None:
        ParserWorker.__init__(self, parser, options)
        self.search: Search | None = None
        self._wide = (options.beam or 1) > 1
        self._beam: Beam | None = None  # made for the first sentence
        self._tagging = Tagging(self._actions) if self._actions.tags else None
        self._candidates: list[array[int]] = []

    def _encode(self, sentences: Sequence[Sentence]) -> None:
        if self._tagging is None:
            ParserWorker._encode(self, sentences)
            return
        read = [self._tagging.read(sentence) for sentence in sentences]
        self._candidates = [candidates for _, candidates in read]
        self._workspace.encode([words for words, _ in read])

    def turn_to(self, sentence: Sentence) -> Search:
        """Return the search, set to this sentence, for callers that take the moves themselves."""
        self._encode([sentence])
        return self._search_of(0)

    def _search_of(self, index: int) -> Search:
        """Return the search, set to one of the encoded sentences."""
        scorer = self._workspace.turn_to(index)
        if self.search is None or self.search.scorer is not scorer:
            self.search = Search(self._actions, scorer)
            able = self._parser.model.capabilities
            normalized = able.learnt_beam == 1 and not able.exact_moves
            if self._wide:
                width = self.options.beam or 1
                self._beam = Beam(self.search, width, normalized=normalized, weighs_labels=not able.exact_moves)
        return self.search

    def give_candidates(self, state: State, index: int = 0) -> None:
        """Tell a configuration of one of the encoded sentences which tags its words may be given."""
        if self._tagging is not None:
            state.take_candidates(self._candidates[index])

    def _parse(self, sentence: Sentence, index: int) -> Iterator[Sentence]:
        options = self.options
        every = options.nbest > 1 or options.confidence
        derivations = self._derivations(sentence, index, every=every)
        for place, (tree, found) in enumerate(self._different(derivations)[: options.nbest] if every else (), 1):
            parsed = self._shown(self._ranked(sentence, tree, found, place))
            yield with_confidence(parsed, self._shares(tree, derivations)) if options.confidence else parsed
        if not every:
            parsed = self._shown(self._parsed(sentence, derivations[0]))
            given_up = self._wide and len(sentence) > MOST_BEAM_WORDS
            yield self._instead(parsed, "greedy", f"a beam of {options.beam}") if given_up else parsed

    def nbest(self, sentence: Sentence) -> list[tuple[Tree, float]]:
        """Return the best trees of a sentence, each with the logarithm of its probability."""
        self._encode([sentence])
        found = self._different(self._best_first(sentence, 0))
        return [(tree, one.score) for tree, one in found[: self.options.nbest]]

    def best_scores(self, sentences: Sequence[Sequence[Word]]) -> list[float]:
        """Return for sentences of words the logarithm of the probability of the best moves that the beam finds."""
        self._workspace.encode(sentences)
        scores = []
        for index, words in enumerate(sentences):
            self._search_of(index)
            assert self._beam is not None  # callers ask for one
            scores.append(self._beam.parse(State(len(words)))[0])
        return scores

    def _best_first(self, sentence: Sentence, index: int) -> list[Derivation]:
        """Return every derivation that the search has found."""
        return self._derivations(sentence, index, every=True)

    def _derivations(self, sentence: Sentence, index: int, *, every: bool) -> list[Derivation]:
        """Return the best derivation or, from a beam, every one, best first.

        A beam gives way to greedy search in a very long sentence if not every one is asked for.
        """
        search = self._search_of(index)
        state = State(len(sentence))
        self.give_candidates(state, index)
        if self._beam is None or (len(sentence) > MOST_BEAM_WORDS and not every):
            search.greedy(state)
            return [self._derivation(state)]
        scores = self._beam.parse(state)
        if not every:
            return [self._derivation(state, scores[0])]
        found = []
        for rank, score in enumerate(scores):
            self._beam.restore(state, rank)
            found.append(self._derivation(state, score))
        return found

    def _derivation(self, state: State, score: float = 0.0) -> Derivation:
        """Return what led to a final configuration."""
        tags = () if self._tagging is None else state.word_tags()
        return Derivation(state.word_heads(), state.word_labels(), tags, score)

    def _different(self, derivations: Sequence[Derivation]) -> list[tuple[Tree, Derivation]]:
        """Return the different trees of derivations, each with the best of its derivations."""
        trees = [self._tree(one.heads, one.labels) for one in derivations]
        return [
            (tree, one)
            for rank, (tree, one) in enumerate(zip(trees, derivations, strict=True))
            if tree not in trees[:rank]
        ]

    def _shares(self, tree: Tree, derivations: Sequence[Derivation]) -> list[float]:
        """Return for each word the share of the beam's probability in which it has the head that it has in a tree."""
        shares = shares_of(derivations)
        trees = [self._tree(one.heads, one.labels) for one in derivations]
        return [
            fsum(share for share, other in zip(shares, trees, strict=True) if other.heads[word] == tree.heads[word])
            for word in range(1, len(tree) + 1)
        ]

    def _parsed(self, sentence: Sentence, found: Derivation) -> Sentence:
        """Return the sentence with what a derivation gives it."""
        return self._tagged(sentence, found.tags).with_tree(self._tree(found.heads, found.labels))

    def _ranked(self, sentence: Sentence, tree: Tree, found: Derivation, place: int) -> Sentence:
        """Return the sentence with one of its best trees, and comments if there are to be several."""
        parsed = self._tagged(sentence, found.tags).with_tree(tree)
        if self.options.nbest == 1:
            return parsed
        return parsed.with_comments([f"# nbest = {place}", f"# log_probability = {found.score:.4f}"])

    def _tagged(self, sentence: Sentence, tags: Sequence[int]) -> Sentence:
        """Return the sentence with its tags, if the system gives any."""
        return sentence if self._tagging is None else self._tagging.written(sentence, tags)

    def tree_of(self, state: State) -> Tree:
        """Return the tree of a state in which the parse is over."""
        return self._tree(state.word_heads(), state.word_labels())


class ChartWorker(MoveWorker):
    """Finds the best of all derivations by a chart; sentences beyond the limits get a beam."""

    def __init__(self, parser: Searched, options: ParseOptions) -> None:
        MoveWorker.__init__(self, parser, options)
        self._decoder = self._actions.system.exact_moves()

    def _parse(self, sentence: Sentence, index: int) -> Iterator[Sentence]:
        n, asked = len(sentence), self.options.search
        if n > (self.options.max_length or n) or self._decoder.memory(n) > self.options.max_memory:
            (found,) = self._derivations(sentence, index, every=False)
            by_beam = self._wide and n <= MOST_BEAM_WORDS
            yield self._instead(self._parsed(sentence, found), "beam" if by_beam else "greedy", asked)
            return
        state = State(n)
        decoded = self._decoder.best(self._workspace.tables(index))
        self._search_of(index).follow(state, decoded.moves)
        parsed = self._parsed(sentence, self._derivation(state, decoded.value))
        yield self._shown(parsed, f", proof: {decoded.proof}")


class Derivation(NamedTuple):
    """What moves have given the words of a sentence, in numbers, and the logarithm of the moves' probability."""

    heads: Sequence[int]
    labels: Sequence[int]
    tags: Sequence[int]
    score: float


def shares_of(derivations: Sequence[Derivation]) -> list[float]:
    """Return the share that each derivation, the first being the best, has in the probability of all of them."""
    shares = [exp(one.score - derivations[0].score) for one in derivations]
    total = fsum(shares)
    return [share / total for share in shares]


def votes_of(derivations: Sequence[Derivation]) -> list[TreeVote]:
    """Return the trees of derivations, the first being the best, each with its share as its weight."""
    shares = shares_of(derivations)
    return [TreeVote(one.heads, one.labels, share) for one, share in zip(derivations, shares, strict=True)]


class JointWorker(MoveWorker):
    """Searches with the scores of moves and of arcs."""

    def __init__(self, parser: Searched, options: ParseOptions) -> None:
        MoveWorker.__init__(self, parser, options)
        projective = parser.scheme is not None or self._actions.system.projective
        over_arcs = options.search if options.search in SEARCHES else "eisner" if projective else "mst"
        cautious = options.search == "vote" and not projective
        self.decoding = Decoding(self._actions.system, options, over_arcs, cautious=cautious)

    def _fits(self, n: int) -> bool:
        """Whether arcs of n words are scored; in longer sentences the moves have to do."""
        return n <= (self.options.max_length or MOST_ARC_WORDS) and self.decoding.memory(n) <= self.options.max_memory

    def believed(self, sentences: Sequence[Sentence]) -> list[tuple[Scores, Sequence[int]]]:
        """Return of each sentence the scores by which its heads are probable, and the heads that are found by voting.

        Only the best moves vote, without a beam.
        """
        self._encode(sentences)
        found = []
        for index, sentence in enumerate(sentences):
            votes = votes_of(self._derivations(sentence, index, every=False))
            arcs = self._workspace.score(index)
            scores = arcs.with_votes(votes, self._workspace.votes.greedy)
            heads = self.decoding.decode(scores, 1.0, trusted=votes[0].heads).heads
            found.append((arcs.with_votes(votes, BELIEVED_VOTE), heads))
        return found

    def problem(self, sentence: Sentence) -> LocatedError | None:
        """Return the error if heads are to be kept in a sentence that is too long for the scores of arcs."""
        problem = MoveWorker.problem(self, sentence)
        if problem is None and self._kept(sentence) is not None and not self._fits(len(sentence)):
            problem = sentence.located(too_long_to_keep())
        return problem

    def _parse(self, sentence: Sentence, index: int) -> Iterator[Sentence]:
        options = self.options
        if not self._fits(len(sentence)):
            yield from self._by_moves(sentence, index)
            return
        if options.search == "vote":
            by_beam = self._wide and len(sentence) <= MOST_BEAM_WORDS
            derivations = self._derivations(sentence, index, every=by_beam)
            parsed = self._decoded(sentence, self._workspace.score(index), derivations, by_beam=by_beam)
            given_up = self._wide and not by_beam
            yield self._instead(parsed, "greedy and vote", f"a beam of {options.beam} and vote") if given_up else parsed
            return
        derivations = [] if options.search in SEARCHES else self._best_first(sentence, index)
        arcs = self._workspace.score(index)
        if options.search in SEARCHES:
            yield self._decoded(sentence, arcs, derivations)
            return
        chances = self.decoding.marginals(arcs.scores, self._workspace.temperature) if options.confidence else None
        for place, (tree, one) in enumerate(self._different(derivations)[: options.nbest], 1):
            parsed = self._shown(self._ranked(sentence, tree, one, place))
            yield parsed if chances is None else with_confidence(parsed, chances)

    def _best_first(self, sentence: Sentence, index: int) -> list[Derivation]:
        """Return every derivation, in the order of both heads if they are to be rescored."""
        derivations = self._derivations(sentence, index, every=True)
        if self.options.search != "rescore" or not self._fits(len(sentence)):
            return derivations
        arcs = self._workspace.score(index)
        return sorted(derivations, key=lambda one: -self._joint_score(one, arcs))

    def _by_moves(self, sentence: Sentence, index: int) -> Iterator[Sentence]:
        """Parse a sentence that is too long for the scores of arcs; without a beam, words get no confidence."""
        options = self.options
        by_beam = self._wide and (len(sentence) <= MOST_BEAM_WORDS or options.nbest > 1)
        derivations = self._derivations(sentence, index, every=by_beam)
        asked = "sums over all trees" if options.search in MOVE_SEARCHES else options.search
        for place, (tree, one) in enumerate(self._different(derivations)[: options.nbest], 1):
            parsed = self._ranked(sentence, tree, one, place)
            if by_beam and options.confidence:
                parsed = with_confidence(parsed, self._shares(tree, derivations))
            yield self._instead(parsed, "beam" if by_beam else "greedy", asked, place=place)

    def _decoded(
        self, sentence: Sentence, arcs: ArcScores, derivations: Sequence[Derivation], *, by_beam: bool = False
    ) -> Sentence:
        """Return the sentence with the best tree by the scores of arcs, to which derivations add their votes."""
        if len(derivations) > 1:
            both = [one._replace(score=self._joint_score(one, arcs)) for one in derivations]
            derivations = sorted(both, key=lambda one: -one.score)
        votes = votes_of(derivations)
        scores = believed = arcs.scores
        if votes:
            scores = arcs.with_votes(votes, self._workspace.votes.beam if by_beam else self._workspace.votes.greedy)
            if self.options.confidence:
                believed = arcs.with_votes(votes, BELIEVED_VOTE)
        kept, trusted = self._kept(sentence), votes[0].heads if votes else None
        found = self.decoding.decode(scores, self._workspace.temperature, believed, kept=kept, trusted=trusted)
        tree = self._tree(found.heads, arcs.best_labels(found.heads, votes))
        tagged = self._tagged(sentence, derivations[0].tags) if derivations else sentence
        return self._described(self._with_tree(tagged, tree), self.decoding, found)

    def _joint_score(self, found: Derivation, arcs: ArcScores) -> float:
        """Return the sum of the log-probabilities of a derivation and, less a constant, of its arcs and labels."""
        return found.score + ARCS_SHARE * arcs.tree_score(found.heads, found.labels)
