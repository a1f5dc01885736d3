"""What is learnt before the parser of a pipeline: tokenizer and tagger, and the tags that the parser will meet.

A parser that learns from gold tags trusts them too much. So each part of the training data is tagged by a tagger that
has learnt from the other parts, and the parser learns from tags that are as good, and as bad, as those of new text.
These taggers are also the teachers of the one that is kept.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from tanglewood.errors import ModelError
from tanglewood.ml.knowledge import Knowledge
from tanglewood.ml.threads import keep_one_matrix_thread
from tanglewood.run.processes import in_order
from tanglewood.store import load_model, save_model
from tanglewood.text.batches import with_tags
from tanglewood.text.borders import BorderOptions
from tanglewood.text.tagger import Tagger, TaggerOptions, TagProgress, Tags, train_tagger
from tanglewood.text.tokenizer import Tokenizer
from tanglewood.training.folds import deal_out
from tanglewood.training.knowledge import at_hand, connect
from tanglewood.training.progress import Report, TaggerProgress, quiet
from tanglewood.treebank.chunks import in_chunks
from tanglewood.treebank.sentence import Sentence

_Part = tuple[Mapping[str, Any], dict[str, Any]]  # arrays and settings


@dataclass(frozen=True, slots=True)
class Prepared:
    """Tokenizer and tagger, and the data for the parser: with the tags it will meet."""

    tokenizer: Tokenizer | None
    tagger: Tagger
    train: list[Sentence]
    dev: list[Sentence]
    unlabelled: Sequence[Sentence] = ()
    silver: Sequence[Sentence] = ()


@dataclass(frozen=True, slots=True)
class TagPlan:
    """How tags are learnt: from which seed and in how many parts, and what is kept in a folder, if there is one.

    Where the parser gives the tags of a ``tag_column`` itself, that column stays as it is in the data, and the tagger's
    candidates go to MISC.
    """

    seed: int = 1
    folds: int = 5
    options: TaggerOptions = field(default_factory=TaggerOptions)
    processes: int = 1
    tag_column: str = ""
    folder: Path | None = None
    report: Report = quiet
    knowledge: Knowledge | None = None  # of all taggers, before they learn

    def parts(self, *data: Sequence[Sentence], silver: Sequence[Sentence] = ()) -> _Parts:
        """Return the finished parts of learning from this data."""
        made_from = {"data": _digest(*data), "seed": self.seed, "folds": self.folds, "tag_column": self.tag_column}
        known = {} if self.knowledge is None else {"knowledge": self.knowledge.sha256}
        if silver:
            known["silver"] = _digest(silver)
        return _Parts(self.folder, {**made_from, **known, "options": asdict(self.options)})


def _digest(*data: Sequence[Sentence]) -> str:
    digest = hashlib.sha256()
    for sentence in chain(*data):
        digest.update(sentence.to_bytes())
    return digest.hexdigest()


def prepare(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    unlabelled: Callable[[Tokenizer], Sequence[Sentence]] = lambda _: (),
    silver: Sequence[Sentence] = (),
    **choices: Any,  # noqa: ANN401 - a TagPlan
) -> Prepared:
    """Learn tokenizer and tagger, and tag the data; finished parts are taken from the folder.

    ``unlabelled`` makes sentences that have no tags, some perhaps with the tokenizer. Of the ``silver`` sentences,
    which another parser has annotated, every other one is for the tagger; the rest, which it has not seen, is tagged by
    it, for the parser.
    """
    plan = TagPlan(**choices)

    def learn_tokenizer() -> _Part:
        learnt = Tokenizer.learn(train, dev, seed=plan.seed, borders=BorderOptions(), report=plan.report)
        return learnt.arrays(), learnt.settings()

    tokenizer = Tokenizer.load(*plan.parts(train, dev).get("tokenizer", learn_tokenizer))
    more = unlabelled(tokenizer)
    tagger, tagged_train, tagged_dev = prepare_tags(train, dev, plan, more, silver[::2])
    filled = filled_in(tagger, more, plan.tag_column)
    return Prepared(
        tokenizer, tagger, tagged_train, tagged_dev, filled, tagged_anew(tagger, silver[1::2], plan.tag_column)
    )


def prepare_tags(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    plan: TagPlan,
    unlabelled: Sequence[Sentence] = (),
    silver: Sequence[Sentence] = (),
) -> tuple[Tagger, list[Sentence], list[Sentence]]:
    """Learn a tagger and tag dev with it; the training data is tagged by its teachers, which have not seen it.

    About ``unlabelled`` sentences the teachers say what they find probable; all learn the tags of ``silver`` ones.
    """
    parts = plan.parts(train, dev, unlabelled, silver=silver)
    teachers: list[Tagger] = []

    def learn_tagger() -> _Part:
        forms = [sentence.forms for sentence in unlabelled]
        steps = train_tagger(train, dev, plan.options, plan.seed, plan.knowledge, teachers, forms, silver)
        learnt = _last(steps, plan.report, "tagger").tagger
        return learnt.arrays(), learnt.settings()

    dealt = list(deal_out(train, plan.folds, plan.seed))
    silver_blocks = [sentence.to_bytes() for sentence in silver]
    jobs = [
        _Job(
            f"tagger of part {number}/{plan.folds}",
            _blocks(train, others),
            _blocks(train, held),
            silver_blocks,
            plan.options,
            plan.seed,
            plan.tag_column,
            plan.knowledge,
        )
        for number, (held, others) in enumerate(dealt, 1)
        if not parts.has(f"fold{number}")
    ]
    tags: list[Sequence[Tags]] = [()] * len(train)
    with closing(_tag_folds(jobs, plan.processes, plan.report)) as results:
        for number, (held, _) in enumerate(dealt, 1):
            arrays, found = parts.get(f"fold{number}", lambda: next(results))
            for place, tagged in zip(held, found["tags"], strict=True):
                tags[place] = [Tags(*tag) for tag in tagged]
            teachers.append(Tagger.load(arrays, found["tagger"]))
            connect(teachers[-1], plan.knowledge)
    tagger = Tagger.load(*parts.get("tagger", learn_tagger))
    connect(tagger, plan.knowledge)
    tagged_train = [_tagged(sentence, found, plan.tag_column) for sentence, found in zip(train, tags, strict=True)]
    return tagger, tagged_train, with_tags_of(tagger, dev, plan.tag_column)


def with_tags_of(tagger: Tagger, sentences: Sequence[Sentence], tag_column: str) -> list[Sentence]:
    """Return the sentences with the tagger's tags, as `prepare` does."""
    tagged = tagger.worker().tag([sentence.forms for sentence in sentences], tag_column)
    return [_tagged(sentence, found, tag_column) for sentence, found in zip(sentences, tagged, strict=True)]


def filled_in(tagger: Tagger, sentences: Sequence[Sentence], tag_column: str) -> list[Sentence]:
    """Return the sentences with the tagger's tags in columns that are empty, and its candidates for the column."""
    return [with_tags(sentence, found) for sentence, found in _in_chunks(tagger, sentences, tag_column)]


def tagged_anew(tagger: Tagger, sentences: Sequence[Sentence], tag_column: str) -> list[Sentence]:
    """Return the sentences as `with_tags_of` does, however many they are."""
    return [_tagged(sentence, found, tag_column) for sentence, found in _in_chunks(tagger, sentences, tag_column)]


def _in_chunks(
    tagger: Tagger, sentences: Sequence[Sentence], tag_column: str
) -> Iterator[tuple[Sentence, Sequence[Tags]]]:
    """Yield sentences and what the tagger says about them, which it computes for some at a time."""
    worker = tagger.worker()
    for chunk in in_chunks(sentences):
        yield from zip(chunk, worker.tag([sentence.forms for sentence in chunk], tag_column), strict=True)


def _tagged(sentence: Sentence, tags: Sequence[Tags], tag_column: str) -> Sentence:
    """Return the sentence with all its tags replaced except those of the column that the parser is to learn."""
    if tag_column == "upos":
        tags = [tag._replace(upos=gold) for tag, gold in zip(tags, sentence.upos, strict=True)]
    elif tag_column:
        tags = [tag._replace(xpos=gold) for tag, gold in zip(tags, sentence.xpos, strict=True)]
    return with_tags(sentence, tags, replaced=True)


class _Parts:
    """Finished parts, kept in a folder if there is one, so that an interrupted run can continue where it stopped."""

    def __init__(self, folder: Path | None, made_from: Mapping[str, Any]) -> None:
        self.folder = folder
        self.made_from = made_from

    def has(self, name: str) -> bool:
        return self.folder is not None and (self.folder / f"{name}.tw").exists()

    def get(self, name: str, make: Callable[[], _Part]) -> _Part:
        """Return arrays and settings of a part."""
        if self.folder is None:
            return make()
        self.folder.mkdir(exist_ok=True)
        path = self.folder / f"{name}.tw"
        if not path.exists():
            arrays, settings = make()
            save_model(path, arrays, {"made_from": self.made_from, "settings": settings})
        arrays, kept = load_model(path)
        if kept.get("made_from") != self.made_from:
            raise ModelError(
                f"{path}: the part is of another training run (other data, options or seed); "
                "with --restart training begins anew"
            )
        return arrays, kept["settings"]


@dataclass(frozen=True, slots=True)
class _Job:
    """Learn from some sentences, given as bytes, and tag others."""

    name: str
    learnt: Sequence[bytes]
    held: Sequence[bytes]
    silver: Sequence[bytes]
    options: TaggerOptions
    seed: int
    tag_column: str
    knowledge: Knowledge | None

    def run(self, report: Report = quiet) -> _Part:
        """Return the tagger, and in its settings the tags of the others."""
        learnt, silver = ([Sentence(block) for block in blocks] for blocks in (self.learnt, self.silver))
        steps = train_tagger(learnt, (), self.options, self.seed, at_hand(self.knowledge), silver=silver)
        tagger = _last(steps, report, self.name).tagger
        tags = tagger.worker().tag([Sentence(block).forms for block in self.held], self.tag_column)
        return tagger.arrays(), {"tagger": tagger.settings(), "tags": tags}


def _blocks(sentences: Sequence[Sentence], places: Sequence[int]) -> list[bytes]:
    return [sentences[place].to_bytes() for place in places]


def _tag_folds(jobs: Sequence[_Job], processes: int, report: Report) -> Generator[_Part]:
    """Do the jobs, one after another when they are asked for, or side by side in processes."""
    if min(processes, len(jobs)) < 2:
        yield from (job.run(report) for job in jobs)
        return
    # Spawned, since matrices may be in use: their threads do not survive a fork.
    results = in_order(_Job.run, jobs, processes=processes, method="spawn", prepare=keep_one_matrix_thread)
    with closing(results):
        for job, result in zip(jobs, results, strict=True):
            report(f"{job.name}: done")
            yield result


def _last(steps: Iterator[TagProgress], report: Report, name: str) -> TagProgress:
    """Return the last progress of a tagger, and report each."""
    began = time.perf_counter()
    for progress in steps:
        ended = time.perf_counter()
        report(
            TaggerProgress(progress.epoch, progress.epochs, progress.loss, ended - began, progress.scores, part=name)
        )
        began = ended
    return progress
