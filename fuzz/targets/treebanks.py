"""Treebanks: CoNLL files read, written back byte for byte, and put through everything that works on sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from io import BytesIO, RawIOBase
from pathlib import Path
from random import Random

import tanglewood as tw
from checks import check_again, check_tree
from conll_files import made_up, n_blocks, unwrapped
from engine import ACCEPTED, Broken, Case, Target
from tanglewood.errors import ConfigError, LocatedError, OracleError
from tanglewood.show.formats import FORMATS, save
from tanglewood.systems import SYSTEMS
from tanglewood.transforms.pseudo_projective import Scheme, fitting_scheme
from tanglewood.treebank.conllu import convert
from tanglewood.treebank.sentence import Sentence
from targets.models import check_parsed, trained

MODELS = ("linear-swap", "eisner", "text", "lifted")
SCHEMES = ("head", "path", "head+path")
TEXT_FORMATS = [name for name, entry in FORMATS.items() if not entry.binary]
USES = 3  # of the sentences of one file


class Pipe(RawIOBase):
    """A stream that can be read once, a little at a time, and neither rewound nor peeked into."""

    def __init__(self, data: bytes, most: int) -> None:
        self._data = BytesIO(data)
        self._most = most

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Read a little."""
        part = self._data.read(min(len(buffer), self._most))
        buffer[: len(part)] = part
        return len(part)


class Treebanks(Target):
    """Reads a file in several ways that must agree, and does a few things with its sentences, chosen by its bytes."""

    suffix = ".conllu"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._models = [tw.load(path) for path in trained(folder, MODELS)]
        self._uses: list[Callable[[list[Sentence], Random], None]] = [
            self._convert,
            self._measure,
            self._evaluate,
            self._projectivize,
            self._trace,
            self._draw,
            self._parse,
        ]

    def make(self, rng: Random) -> Case:
        """Return a file."""
        return Case(made_up(rng))

    def check(self, data: bytes) -> str:
        """Read the file, and use what it holds."""
        plain = unwrapped(data)
        rng = Random(hashlib.sha256(data).digest())
        with self.file(data) as file:
            sentences, error = self._read(file, plain, trees=True, rng=rng)
            self._read(file, plain, trees=False, rng=rng)
        for use in rng.sample(self._uses, USES) if sentences else ():
            use(sentences, rng)
        if error is not None:
            raise error
        return ACCEPTED

    def _read(
        self, file: Path, plain: bytes | None, *, trees: bool, rng: Random
    ) -> tuple[list[Sentence], LocatedError | None]:
        """Return the well-formed sentences of a file, and its first error if there is one."""
        first: LocatedError | None = None
        try:
            for _ in tw.read(file, trees=trees):
                pass
        except LocatedError as error:
            first = located(error, str(file))
        if plain is None:
            if first is None:
                raise Broken("damaged compression goes unnoticed")
            return [], first
        errors: list[LocatedError] = []
        kept = list(tw.read(file, trees=trees, on_error=errors.append))
        for one in errors:
            located(one, str(file))
        if len(kept) + len(errors) != n_blocks(plain):
            raise Broken("sentences are lost or come twice")
        if [*map(str, errors[:1])] != ([] if first is None else [str(first)]):
            raise Broken("on_error and raising disagree")
        if not errors and kept and written(kept) != plain:
            raise Broken("what was read is not written back byte for byte")
        piped = list(tw.read(Pipe(plain, rng.choice((1, 7, 1000))), trees=trees, on_error=lambda _: None))  # type: ignore[arg-type]
        if [one.words for one in piped] != [one.words for one in kept]:
            raise Broken("a pipe gives other sentences than a file")
        return kept, first

    def _convert(self, sentences: list[Sentence], rng: Random) -> None:
        for to in ("conllx", "conllu"):
            check_again([convert(sentence, to) for sentence in sentences])
        again = [Sentence(sentence.to_bytes()) for sentence in sentences]
        check_parsed(sentences, again)

    def _measure(self, sentences: list[Sentence], rng: Random) -> None:
        found = tw.stats(sentences, worst=2)
        if found.sentences != len(sentences) or found.words != sum(map(len, sentences)):
            raise Broken("stats counts wrong")
        repr(found)
        systems = rng.sample(list(SYSTEMS), 2)
        tw.coverage([one for one in sentences if len(one) < 40], systems=systems).as_dict()

    def _evaluate(self, sentences: list[Sentence], rng: Random) -> None:
        same = tw.evaluate(sentences, sentences)
        if same.las != 100:
            raise Broken("a treebank does not agree with itself")
        lifted = [one.with_tree(tw.projectivize(one.tree, scheme_for(one, "head"))) for one in sentences]
        tw.evaluate(sentences, lifted).as_dict()
        tw.evaluate(sentences, lifted, align=True).as_dict()

    def _projectivize(self, sentences: list[Sentence], rng: Random) -> None:
        name = rng.choice(SCHEMES)
        for sentence in sentences:
            scheme = scheme_for(sentence, name)
            tree = tw.projectivize(sentence.tree, scheme)
            if not tree.is_projective():
                raise Broken("a lifted tree is not projective")
            check_tree(sentence.with_tree(tree))
            check_tree(sentence.with_tree(tw.deprojectivize(tree, scheme)))

    def _trace(self, sentences: list[Sentence], rng: Random) -> None:
        system = tw.make_system(rng.choice(list(SYSTEMS)))
        for sentence in sentences:
            if len(sentence) < 20:  # some oracles search
                try:
                    list(tw.trace(sentence, system, rng.choice(list(system.oracles))))
                except (OracleError, ConfigError):  # not a tree of this system
                    continue

    def _draw(self, sentences: list[Sentence], rng: Random) -> None:
        name = rng.choice(TEXT_FORMATS)
        shown = sentences[:1] if FORMATS[name].one else sentences
        out = BytesIO()
        save(shown, out, name)
        out.getvalue().decode()
        for sentence in shown:
            sentence.to_dict()

    def _parse(self, sentences: list[Sentence], rng: Random) -> None:
        nlp = rng.choice(self._models)
        parsed = list(nlp.parse(sentences))
        check_parsed(sentences, parsed)
        for sentence, other in zip(sentences, parsed, strict=True):
            check_tree(other)
            if other.with_tree(sentence.tree).to_bytes() != sentence.to_bytes():
                raise Broken("parsing changes more than heads and labels")


def located(error: LocatedError, file: str) -> LocatedError:
    """Every error must say where it is."""
    if error.file != file or error.line is None or error.line < 1:
        raise Broken(f"an error without its place: {type(error).__name__}")
    return error


def written(sentences: Sequence[Sentence]) -> bytes:
    """Return the bytes that the sentences are written as."""
    out = BytesIO()
    tw.write(sentences, out)
    return out.getvalue()


def scheme_for(sentence: Sentence, name: str) -> Scheme:
    """Return a scheme whose marks no label has."""
    return fitting_scheme(name, sentence.deprels)
