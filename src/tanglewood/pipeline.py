"""From raw text to trees: a tokenizer, a tagger and a parser in one model file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import as_file, files
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from tanglewood import __version__
from tanglewood.errors import ModelError, TanglewoodError
from tanglewood.parser import ParseOptions, Parser, in_chunks
from tanglewood.store import load_model, save_model
from tanglewood.text.raw import Token
from tanglewood.text.tagger import Tagger, Tags
from tanglewood.text.tokenizer import Tokenizer
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tag_candidates import with_candidates, without_candidates

TOKENIZER, TAGGER = "tokenizer/", "tagger/"  # what the names of their arrays begin with
BUNDLED = "english-ewt.tw"
CHUNK_LETTERS = 1 << 16
BEAM = 8  # of a parser of moves, if nothing else is said: half a point of LAS for a third of the speed


class Piece(NamedTuple):
    """Some sentences of a text: the text they are in, their tokens, where in all of the text that begins.

    ``number`` is that of the first of the sentences, ``document`` the name of the text if they are its first ones.
    """

    text: str
    sentences: Sequence[Sequence[Token]]
    begin: int
    number: int
    document: str = ""


class Pipeline:
    """Gives text its sentences, words, tags and trees; one instance serves all threads."""

    def __init__(self, parser: Parser, tagger: Tagger, tokenizer: Tokenizer) -> None:
        self.parser = parser
        self.tagger = tagger
        self.tokenizer = tokenizer

    @property
    def tag_column(self) -> str:
        """The column whose tags the parser chooses itself, from what the tagger offers; mostly there is none."""
        return self.parser.model.actions.system.tag_column

    def parse_text(self, text: str, choices: ParseOptions | None = None) -> list[Sentence]:
        """Return the sentences of a text with their trees."""
        worker = self.worker(choices)
        return [parsed for piece in self.pieces([text]) for parsed in worker.parse_piece(piece)]

    def tag_text(self, text: str) -> list[Sentence]:
        """Return the sentences of a text with tags, and without trees."""
        worker = PieceTagger(self)
        return [without_candidates(sentence) for piece in self.pieces([text]) for sentence in worker.sentences(piece)]

    def parse_stream(self, texts: Iterable[str], choices: ParseOptions | None = None) -> Iterator[Sentence]:
        """Parse one long text that comes in any pieces; memory stays flat however long it is."""
        worker = self.worker(choices)
        return chain.from_iterable(map(worker.parse_piece, self.pieces(texts)))

    def pieces(
        self, texts: Iterable[str], *, document: str = "", number: int = 1, lines: bool = False
    ) -> Iterator[Piece]:
        """Give the sentences of a text that comes in any pieces, about as many at a time as are parsed together.

        Sentences are counted from ``number`` on; the first one says that the ``document`` begins, if it has a name.
        With ``lines`` each line is a sentence.
        """
        begin = 0
        document = " ".join(document.encode("utf-8", "replace").decode().split())  # it is to fit into a comment
        chunks = _cut(texts)
        for text, sentences in self._line_by_line(chunks) if lines else self.tokenizer.stream(chunks):
            for some in in_chunks(sentences):
                yield Piece(text, some, begin, number, document)
                number += len(some)
                document = ""
            begin += len(text)

    def _line_by_line(self, chunks: Iterable[str]) -> Iterator[tuple[str, list[list[Token]]]]:
        """Give texts of whole lines, and the tokens of each line that has any."""
        rest = ""
        for chunk in chain(chunks, ["\n"]):
            text, newline, last = chunk.rpartition("\n")
            if not newline:
                rest += chunk
                continue
            text, rest = rest + text + newline, last
            sentences = []
            begin = 0
            for line in text.split("\n"):
                found = chain.from_iterable(self.tokenizer.tokenize(line))
                sentences.append([Token(t.start + begin, t.end + begin, t.words) for t in found])
                begin += len(line) + 1
            yield text, [tokens for tokens in sentences if tokens]

    def resolved(self, choices: ParseOptions | None) -> ParseOptions:
        """Return the choices with a beam, where nothing else is said and the parser takes one."""
        choices = choices or ParseOptions()
        if choices.beam is None and not choices.search and not self.parser.scores_arcs:
            return replace(choices, beam=max(BEAM, choices.nbest))
        return choices

    def worker(self, choices: ParseOptions | None = None) -> PipelineWorker:
        """Return what one thread needs to parse text."""
        return PipelineWorker(self, self.resolved(choices))

    def save(self, path: str | Path) -> None:
        """Write everything to one file; the same pipeline gives the same bytes."""
        arrays, settings = self.parser.contents()
        for name, part in ((TOKENIZER, self.tokenizer), (TAGGER, self.tagger)):
            arrays |= {f"{name}{key}": values for key, values in part.arrays().items()}
            settings[name[:-1]] = part.settings()
        save_model(path, arrays, settings)

    @classmethod
    def load(cls, path: str | Path | None = None) -> Pipeline:
        """Read a pipeline, by default the English one that comes with tanglewood; nothing in the file is executed."""
        return needed(load_parts(path)[1], path)


def needed(pipeline: Pipeline | None, path: str | Path | None) -> Pipeline:
    """Return the pipeline of the model, or raise a ModelError if it has none."""
    if pipeline is None:
        raise ModelError(
            f"{path}: the model has a parser only, which needs words and tags; "
            "`tanglewood train --pipeline` makes one that also splits and tags text"
        )
    return pipeline


def load_parts(path: str | Path | None = None) -> tuple[Parser, Pipeline | None]:
    """Read a model file, by default that which comes with tanglewood: its parser, and the pipeline if it has one."""
    if path is None:
        with as_file(bundled_model()) as file:
            return load_parts(file)
    arrays, settings = load_model(path)
    try:
        parser = Parser.from_contents(arrays, settings)
        if "tokenizer" not in settings:
            return parser, None
        tokenizer = Tokenizer.load(_part(arrays, TOKENIZER), settings["tokenizer"])
        tagger = Tagger.load(_part(arrays, TAGGER), settings["tagger"])
        return parser, Pipeline(parser, tagger, tokenizer)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, TanglewoodError) as error:
        raise ModelError(f"{path}: the model cannot be used by this tanglewood {__version__}: {error!r}") from None


def bundled_model() -> Any:  # noqa: ANN401 - a Traversable
    """Return the model file that comes with tanglewood."""
    return files("tanglewood") / "models" / BUNDLED


def _part(arrays: Mapping[str, memoryview], prefix: str) -> dict[str, memoryview]:
    return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}


def _cut(texts: Iterable[str]) -> Iterator[str]:
    """Cut long texts; half a surrogate pair, which no file can hold, becomes a question mark."""
    for whole in texts:
        text = whole.encode("utf-8", "replace").decode()
        for begin in range(0, len(text), CHUNK_LETTERS):
            yield text[begin : begin + CHUNK_LETTERS]


class PieceTagger:
    """Makes tagged sentences of tokens, and tags sentences that have none, in one thread.

    What a parser that gives tags itself may choose from goes to MISC.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._tagger = pipeline.tagger.worker()
        self._tag_column = pipeline.tag_column

    def sentences(self, piece: Piece) -> list[Sentence]:
        """Return the sentences with tags."""
        forms = [[word for token in tokens for word in token.words] for tokens in piece.sentences]
        tagged = self._tagger.tag(forms, self._tag_column)
        return [
            _with_candidates(_sentence(piece, place, tokens, tags), tags)
            for place, (tokens, tags) in enumerate(zip(piece.sentences, tagged, strict=True))
        ]

    def tag(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Fill columns from LEMMA to FEATS that hold nothing in the whole sentence; all else stays as it is."""
        tagged = self._tagger.tag([sentence.forms for sentence in sentences], self._tag_column)
        return [with_tags(sentence, tags) for sentence, tags in zip(sentences, tagged, strict=True)]


class PipelineWorker(PieceTagger):
    """Parses text, in one thread."""

    def __init__(self, pipeline: Pipeline, choices: ParseOptions) -> None:
        PieceTagger.__init__(self, pipeline)
        self._parser = pipeline.parser.worker(choices)

    def parse_piece(self, piece: Piece) -> list[Sentence]:
        """Return the sentences with tags and trees."""
        return list(chain.from_iterable(self._parser.parse(self.sentences(piece))))


def with_tags(sentence: Sentence, tags: Sequence[Tags], *, replaced: bool = False) -> Sentence:
    """Return a copy with these tags in columns that hold nothing, or, if they are to be replaced, in all four.

    ParseOptions, if the tags have any, go to MISC.
    """
    sentence = _with_candidates(sentence, tags)
    old = (sentence.lemmas, sentence.upos, sentence.xpos, sentence.feats)
    empty = [replaced or all(value == "_" for value in column) for column in old]
    if not any(empty):
        return sentence
    columns = [[str(tag[i]) for tag in tags] if empty[i] else column for i, column in enumerate(old)]
    return sentence.with_columns(*columns)


def _with_candidates(sentence: Sentence, tags: Sequence[Tags]) -> Sentence:
    """Return a copy with the tagger's choices in MISC, or the sentence itself if there are none."""
    return with_candidates(sentence, [tag.choices for tag in tags]) if tags and tags[0].choices else sentence


def _sentence(piece: Piece, place: int, tokens: Sequence[Token], tags: Sequence[Tags]) -> Sentence:
    """Write a sentence in CoNLL-U: its text, its tokens and where they are in the text, its words and their tags."""
    text, begin = piece.text, piece.begin
    lines: list[str] = []
    surface: list[str] = []
    number = 0
    for token in tokens:
        form = text[token.start : token.end]
        misc = f"TokenRange={begin + token.start}:{begin + token.end}"
        surface.append(form)
        if text[token.end : token.end + 1].strip():
            misc = f"SpaceAfter=No|{misc}"
        else:
            surface.append(" ")
        if len(token.words) > 1:
            end = number + len(token.words)
            lines.append(f"{number + 1}-{end}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}")
            misc = "_"
        for word in token.words:
            lemma, upos, xpos, feats = tags[number][:4]
            number += 1
            lines.append(f"{number}\t{word}\t{lemma}\t{upos}\t{xpos}\t{feats}\t_\t_\t_\t{misc}")
    top = [f"# newdoc id = {piece.document}"] if piece.document and place == 0 else []
    top += [f"# sent_id = {piece.number + place}", f"# text = {''.join(surface).strip()}"]
    return Sentence("\n".join([*top, *lines, "", ""]).encode())
