"""What the experiments share: treebanks, a folder that keeps finished parts, training, parsing and scoring."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tanglewood import __version__, compiled
from tanglewood.errors import ConfigError
from tanglewood.experiments.data_text import as_json
from tanglewood.experiments.sharing import ALONE, PartMade, Sharing
from tanglewood.files import writing
from tanglewood.learners import learner_class
from tanglewood.measure.clock import minutes
from tanglewood.measure.running_time import fit_exponent, fit_quadratic, fit_slope, fit_through_origin
from tanglewood.measure.scores import Comparison, Scores, aligned, compare
from tanglewood.measure.significance import Measured, Pairs
from tanglewood.measure.stats import TreebankStats
from tanglewood.measure.tables import Table
from tanglewood.options import ParseOptions
from tanglewood.parser import Parser
from tanglewood.searches import MoveWorker
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from tanglewood.transforms.pseudo_projective import lifted
from tanglewood.treebank.conllu import read, write
from tanglewood.treebank.sentence import Sentence

Say = Callable[[str, bool], None]  # a text, and whether it stays (else the next one replaces it)
Step = Callable[[float, str], None]  # how much of a part is done, and what it does
Data = dict[str, Any]
SUFFIXES = (".conllu", ".conll")
ROUNDS, LONG = 3, 20.0  # parsing is timed in this many rounds, but not again once they took this many seconds
PARTS, PARSED, OPTIONS, RESULTS, REPORT = "parts", "parsed", "options.json", "results.json", "report.md"
FORMAT = 3  # of parts and results: raised when they change, so that those of earlier code are not taken for new ones
ENOUGH = 0.05  # share of a run that must be done before it says how long the rest will take
OLDER = "not in results of earlier code; the same command adds it"  # said of a claim that is newer than the results
FROM_PYTHON = "a call from Python"  # in place of the command, where there was none


def quiet(_text: str, _stays: bool) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class Treebank:
    """The sentences of a treebank's folder: train, dev and test, of which dev may be missing."""

    name: str
    parts: Mapping[str, Sequence[Sentence]]
    files: Mapping[str, Data]  # part -> file name, checksum, sentences and words
    suffix: str

    def __getitem__(self, part: str) -> Sequence[Sentence]:
        return self.parts.get(part, ())

    @classmethod
    def read(cls, folder: str | Path, needed: Sequence[str] = ("train", "test")) -> Treebank:
        """Read train, dev and test as .conllu or .conll; raise ConfigError if one that is needed is missing."""
        folder = Path(folder)
        if not folder.is_dir():
            raise ConfigError(f"{folder}: there is no such folder; it should hold train, dev and test files")
        parts, files, suffixes = {}, {}, []
        for part in ("train", "dev", "test"):
            found = [folder / f"{part}{suffix}" for suffix in SUFFIXES if (folder / f"{part}{suffix}").exists()]
            if not found:
                if part in needed:
                    raise ConfigError(f"{folder}: there is no {part}.conllu and no {part}.conll in it")
                continue
            if len(found) > 1:
                raise ConfigError(f"{folder}: there are both {found[0].name} and {found[1].name}; one should go")
            parts[part] = list(read(found[0]))
            if not parts[part]:
                raise ConfigError(f"{found[0]}: there are no sentences in it")
            files[part] = described(found[0], parts[part])
            suffixes.append(found[0].suffix)
        return cls(folder.resolve().name, parts, files, suffixes[0])

    def statistics(self) -> Data:
        """Return the numbers of the papers' data tables, by part."""
        return {part: statistics(sentences) for part, sentences in self.parts.items()}


def described(file: Path, sentences: Sequence[Sentence]) -> Data:
    """Return the name and checksum of a file, and how many sentences and words it has."""
    return {
        "file": file.name,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "sentences": len(sentences),
        "words": sum(map(len, sentences)),
    }


def statistics(sentences: Iterable[Sentence]) -> Data:
    """Return tokens, sentences, and the share of them that is non-projective."""
    stats = TreebankStats()
    for sentence in sentences:
        stats.add(sentence)
    return {
        "tokens": stats.words,
        "sentences": stats.sentences,
        "nonprojective_sentences": stats.nonprojective_sentences,
        "nonprojective_sentences_percent": _share(stats.nonprojective_sentences, stats.sentences),
        "nonprojective_arcs": stats.nonprojective_arcs,
        "nonprojective_arcs_percent": _share(stats.nonprojective_arcs, stats.words),
    }


def _share(part: int, whole: int) -> float:
    return round(100 * part / max(whole, 1), 4)


@dataclass(slots=True)
class Run:
    """A run in a folder: its options, and its finished parts, which are not done again.

    A folder with results of other options, data or versions is refused, since they may have taken hours. Parts that
    need others (``needs``) are made after them.
    """

    folder: Path
    options: Data
    parts: Mapping[str, float]  # names of all parts, and about how long each takes, in any unit
    say: Say = quiet
    suffix: str = SUFFIXES[0]  # of the parsed files
    sharing: Sharing = ALONE
    needs: Mapping[str, Sequence[str]] = field(default_factory=dict)
    finished: list[str] = field(default_factory=list)
    made: float = 0.0  # work done in this run, in that unit
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        made_by = {"version": __version__, "compiled": compiled(), "format": FORMAT}
        self.options = json.loads(json.dumps({**self.options, **made_by}))
        earlier = earlier_options(self.folder)
        changed = _differences(earlier, self.options) if earlier else []
        if changed and any((self.folder / PARTS).glob("*.json")):
            raise ConfigError(
                f"{self.folder}: the folder is of another run ({'; '.join(changed)}); "
                "choose another one with -o, or remove what is in it with --restart"
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        self.write(OPTIONS, as_json(self.options))
        for name in (PARTS, PARSED):
            (self.folder / name).mkdir(exist_ok=True)
        if self.sharing.again is not None and not self.sharing.engine.is_alone:
            self._make_side_by_side(self.sharing.again)

    def _make_side_by_side(self, again: Callable[[str], str]) -> None:
        """Have all parts made that are not there, those that need others after them."""
        while missing := [name for name in self.parts if not self._kept(name).exists()]:
            ready = [name for name in missing if all(self._kept(one).exists() for one in self.needs.get(name, ()))]
            if not ready:
                return
            self.say(f"{len(missing)} parts are to be made, {len(ready)} of them side by side", False)
            for name in self.sharing.engine.in_order(again, ready, len(ready)):
                self.say(f"{name} done", True)

    def write(self, name: str, text: str) -> None:
        """Write a file in the folder, either all of it or nothing."""
        with writing(self.folder / name) as out:
            out.write(text.encode())

    def keep(self, name: str, sentences: Iterable[Sentence]) -> None:
        """Keep parsed sentences."""
        write(sentences, self.folder / PARSED / f"{name}{self.suffix}")

    def kept(self, name: str) -> list[Sentence]:
        """Return parsed sentences that were kept."""
        if self.sharing.only and not (self.folder / PARSED / f"{name}{self.suffix}").exists():
            return []  # of another part, which this run is not for
        return list(read(self.folder / PARSED / f"{name}{self.suffix}"))

    def part(self, name: str, make: Callable[[Step], Data]) -> Data:
        """Return a part, as it was kept or else as it is made now; ``make`` reports how far it is and what it does."""
        kept = self._kept(name)
        if self.sharing.only and name != self.sharing.only and not kept.exists():
            return {}
        if not kept.exists():
            self.say(f"{self._where(name)}: {name}", False)
            began = time.monotonic()
            data = make(lambda share, text: self.say(f"{self._where(name, share)}: {name}, {text}", False))
            self.write(f"{PARTS}/{name}.json", as_json(data))
            self.say(f"{self._where(name, 1)}: {name} done in {time.monotonic() - began:.0f} s", True)
            self.made += self.parts[name]
        else:
            self.say(f"{len(self.finished) + 1}/{len(self.parts)}: {name} kept from before", True)
        self.finished.append(name)
        if name == self.sharing.only:
            raise PartMade
        found: Data = json.loads(kept.read_text(encoding="utf-8"))
        return found

    def _kept(self, part: str) -> Path:
        return self.folder / PARTS / f"{part}.json"

    def _where(self, name: str, share: float = 0.0) -> str:
        """Say which part this is, and how long the rest of all parts will take if this share of it is done."""
        text = f"{len(self.finished) + 1}/{len(self.parts)}"
        rest = sum(size for part, size in self.parts.items() if part != name and not self._kept(part).exists())
        done, left = self.made + share * self.parts[name], rest + (1 - share) * self.parts[name]
        if done > ENOUGH * (done + left):
            text += f", about {minutes((time.monotonic() - self.began) / done * left)} left"
        return text

    def date(self) -> str:
        """Return the day on which the last part was made."""
        last = max(kept.stat().st_mtime for kept in (self.folder / PARTS).glob("*.json"))
        return datetime.fromtimestamp(last, UTC).date().isoformat()

    def close(self, results: Data, report: str) -> Data:
        """Write results and report."""
        self.write(RESULTS, as_json(results))
        self.write(REPORT, report)
        self.say(f"{self.folder}: {RESULTS}, {REPORT}", True)
        return results


def earlier_options(folder: Path) -> Data:
    """Return the options of the run in a folder, none if the folder is empty or missing; refuse any other folder."""
    try:
        found: Data = json.loads((folder / OPTIONS).read_text(encoding="utf-8"))
        if {"command", "version"} <= found.keys():
            return found
    except FileNotFoundError:
        if not folder.exists() or all(path.name.startswith(".") for path in folder.iterdir()):
            return {}
    except (ValueError, AttributeError):
        pass
    raise ConfigError(f"{folder}: the folder is not empty and of no earlier run; choose another one")


def clear(folder: Path) -> None:
    """Remove the results of an earlier run, so that any run may use its folder; any other folder is refused."""
    if earlier_options(folder):
        for name in (PARTS, PARSED):
            shutil.rmtree(folder / name, ignore_errors=True)
        for path in (folder / RESULTS, folder / REPORT, *folder.glob("figure*.svg")):
            path.unlink(missing_ok=True)


def _differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Say what differs between two descriptions of runs."""
    found = []
    for key in (*new, *(key for key in old if key not in new)):
        one, other = old.get(key), new.get(key)
        if one != other:
            short = all(value is None or isinstance(value, str | int | float) for value in (one, other))
            found.append(f"{key}: {one} is now {other}" if short else f"other {key}")
    return found


@dataclass(frozen=True, slots=True)
class Learning:
    """The learner that all systems of an experiment share, its settings, and the seed of everything random."""

    learner: str = "linear"
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 1

    def config(self, system: str, **choices: Any) -> Config:  # noqa: ANN401 - fields of Config
        """Return the choices of a run with this learner."""
        return Config(system=system, learner=self.learner, settings=self.settings, seed=self.seed, **choices)

    def graph(self, search: str = "mst", **choices: Any) -> Config:  # noqa: ANN401 - fields of Config
        """Return those of a graph-based model, by default with maximum spanning trees; of the settings, only epochs."""
        epochs = {key: value for key, value in self.settings.items() if key == "epochs"}
        return Config(search=search, settings=epochs, seed=self.seed, **choices)

    def as_in_paper(self, features: str, *, always: bool = False, tuned: Mapping[str, Any] | None = None) -> Learning:
        """Return it with the paper's feature model, if the learner needs one, learning from the oracle's states only.

        The papers' classifiers learn from the configurations that the oracle goes through. Learners that also follow
        their own mistakes could do so with some systems only, and the comparison would not be fair. With ``always``, a
        learner with features of its own takes the paper's, too, if it can. ``tuned`` are settings that the paper chose
        for the language. Settings that were given stay.
        """
        kind = learner_class(self.learner, "Options")
        takes = {option.name for option in fields(kind)}
        chosen: dict[str, Any] = {"explore": 0.0, **(tuned or {})}
        if always or bool(getattr(kind(), "features", "")):  # the linear learner has features of its own
            chosen["features"] = features
        return replace(self, settings={**{key: chosen[key] for key in chosen if key in takes}, **self.settings})

    def as_dict(self) -> Data:
        """Return it as plain data for JSON."""
        return {"learner": self.learner, "settings": dict(self.settings), "seed": self.seed}


LINEAR = Learning()


def options_of(command: str, treebank: Treebank, learning: Learning, **more: object) -> Data:
    """Return the options that a run on a treebank was started with."""
    return {
        "command": command,
        "treebank": treebank.name,
        **learning.as_dict(),
        **more,
        "files": treebank.files,
    }


# Training and parsing. ---------------------------------------------------------------------------------------------


def train(
    config: Config,
    sentences: Sequence[Sentence],
    dev: Sequence[Sentence],
    step: Step,
    anchors: Sequence[Sequence[int]] = (),
) -> Parser:
    """Train a parser; the epoch that is best on dev is kept, without dev the last one.

    For three-step, ``anchors`` of all sentences take the place of those by projectivization.
    """
    training = Training(config, sentences, dev)
    if anchors:
        found = training.lesson.examples
        found[:] = [replace(example, anchors=given) for example, given in zip(found, anchors, strict=True)]

    def tell(share: float) -> None:
        epoch, epochs = training.epoch, training.options.epochs
        step(0.9 * (epoch + share) / epochs, f"epoch {epoch + 1} of {epochs}")

    for progress in training.run(tell=tell):
        step(0.9 * progress.epoch / progress.epochs, f"epoch {progress.epoch} of {progress.epochs}")
    return training.best_parser()


def projective(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Return the sentences with projective trees: crossing arcs lifted, labels as they were."""
    found = []
    for sentence in sentences:
        tree = sentence.tree
        changed = lifted(tree)
        found.append(sentence if changed is tree else sentence.with_tree(changed))
    return found


def with_options(parser: Parser, **options: object) -> Parser:
    """Return the same learnt model in a system with other options, such as covington with another bound."""
    arrays, settings = parser.contents()
    description = {**settings["description"], "options": options}
    return Parser.from_contents(arrays, {**settings, "description": description})


@dataclass(frozen=True, slots=True)
class Parsed:
    """Trees and, for a transition-based model, what each took to find: moves, and calls of the scorer."""

    sentences: list[Sentence]
    transitions: list[int]
    calls: list[int]


def _worker(parser: Parser) -> MoveWorker:
    """Return what parses greedily."""
    both = parser.model.capabilities.scores_arcs  # then arcs would vote, which the papers' systems know nothing of
    worker = parser.worker(ParseOptions(search="greedy" if both else ""))
    assert isinstance(worker, MoveWorker)
    return worker


def parse(parser: Parser, sentences: Sequence[Sentence]) -> Parsed:
    """Parse greedily, and count."""
    if parser.graph_based:
        return Parsed(list(parser.parse_all(sentences)), [], [])
    worker = _worker(parser)
    parsed, transitions, calls = [], [], []
    for sentence in sentences:
        search = worker.search
        before = (0, 0) if search is None else (search.moves_taken, search.states_scored)
        parsed += worker.parse([sentence])[0]
        assert worker.search is not None
        if worker.search is not search:  # a new one, which counts from 0
            before = (0, 0)
        transitions.append(worker.search.moves_taken - before[0])
        calls.append(worker.search.states_scored - before[1])
    return Parsed(parsed, transitions, calls)


def parsing_times(parsers: Mapping[str, Parser], sentences: Sequence[Sentence]) -> dict[str, list[int]]:
    """Return the nanoseconds of CPU time that greedy parsers take for each sentence: the least of a few rounds.

    The parsers take turns at each sentence, so that whatever else the machine does strikes all of them alike.
    """
    workers = {name: _worker(parser) for name, parser in parsers.items()}
    least: dict[str, list[int]] = {}
    began = time.process_time()
    for _ in range(ROUNDS):
        taken: dict[str, list[int]] = {name: [] for name in parsers}
        for sentence in sentences:
            for name, worker in workers.items():
                start = time.process_time_ns()
                worker.parse([sentence])
                taken[name].append(time.process_time_ns() - start)
        least = {name: list(map(min, least.get(name, row), row)) for name, row in taken.items()}
        if time.process_time() - began > LONG * len(parsers):
            break
    return least


def parsing_time(parser: Parser, sentences: Sequence[Sentence]) -> float:
    """Return the CPU seconds that parsing takes: the least of a few rounds, or fewer if they take long."""
    least = float("inf")
    spent = 0.0
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in parser.parse_all(sentences):
            pass
        taken = time.process_time() - began
        least = min(least, taken)
        spent += taken
        if spent > LONG:
            break
    return round(least, 4)


# Scores. -----------------------------------------------------------------------------------------------------------


def score(gold: Sequence[Sentence], systems: Mapping[str, Iterable[Sentence]]) -> Data:
    """Return the scores of systems without punctuation, by projectivity and direction too, and McNemar's tests."""
    names = list(systems)
    scores = {name: Scores() for name in names}
    groups = {name: Table("crossing") for name in names}
    pairs = Pairs(len(names), by_crossing=True)
    for sentence, outputs in aligned(gold, list(systems.values())):
        found = [compare(sentence, output, punctuation=False) for output in outputs]
        for name, comparison in zip(names, found, strict=True):
            scores[name].add(comparison)
            groups[name].add(comparison)
        pairs.add(found)
    return {
        "scores": {name: scores[name].as_dict() for name in names},
        "by_crossing": {name: groups[name].as_dict() for name in names},
        "mcnemar": [
            {"first": names[one], "second": names[other], **{by: test.as_dict() for by, test in tests.items()}}
            for (one, other), tests in pairs.tests().items()
        ],
    }


def comparisons(gold: Sequence[Sentence], parsed: Iterable[Sentence]) -> Iterator[Comparison]:
    """Yield what is right in each sentence, punctuation left out."""
    for sentence, (output,) in aligned(gold, [parsed]):
        yield compare(sentence, output, punctuation=False)


def as_data(measured: Measured | None) -> Data | None:
    """Return a number and its interval as plain data for JSON."""
    return None if measured is None else measured.as_dict()


def fitted(lengths: Sequence[int], transitions: Sequence[int]) -> Data:
    """Return the line m = a n through the origin, what it is fitted to, and whether growth is linear."""
    slope, r2 = fit_through_origin(lengths, transitions)
    return {
        "sentences": len(lengths),
        "words": sum(lengths),
        "longest": max(lengths, default=0),
        "transitions": sum(transitions),
        "slope": round(slope, 4),
        "line": as_data(fit_slope(lengths, transitions)),
        "r2": round(r2, 4),
        "exponent": as_data(fit_exponent(lengths, transitions)),
        "quadratic": as_data(fit_quadratic(lengths, transitions)),
    }


def mcnemar_of(results: Data, first: str, second: str, by: str) -> Data:
    """Return McNemar's test of two systems; ``only_first`` counts what only ``first`` got right of the ``items``."""
    for row in results["mcnemar"]:
        if {row["first"], row["second"]} == {first, second}:
            found: Data = {**row[by], "items": _tested(results["scores"][first], by)}
            if row["first"] == second:
                found |= {"only_first": row[by]["only_second"], "only_second": row[by]["only_first"]}
            return found
    raise KeyError((first, second))


def _tested(scores: Data, by: str) -> int:
    """Return how many words or sentences a test is about."""
    words, crossing = int(scores["words"]), int(scores["nonprojective_gold"])
    if by == "exact_match":
        return int(scores["sentences"])
    return crossing if by.startswith("nonprojective") else words - crossing if by.startswith("projective") else words
