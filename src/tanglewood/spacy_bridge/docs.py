"""Documents to spaCy and back, without loss.

A token of spaCy is a word; white space other than single spaces is tokens of its own, as spaCy has it. What spaCy has
no place for (comments, multiword tokens, DEPS, MISC, tags that are not universal) goes along in ``user_data``, as the
CoNLL-U of each sentence. On the way back a column that is still as it was there keeps its bytes, and what was changed
in spaCy is changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tanglewood.errors import LocatedError, MissingExtraError
from tanglewood.text.raw import ESCAPES, surface_tokens
from tanglewood.treebank.doc import Doc
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

if TYPE_CHECKING:
    from spacy.tokens import Doc as SpacyDoc
    from spacy.tokens import Token
    from spacy.vocab import Vocab

WHITE = -2  # in the place of a head: a token of white space, which hangs on the word before it
KEPT, TEXT = (
    "tanglewood",
    "tanglewood_text",
)  # in user_data: the sentences as they were and their format, and the raw text
ESCAPED = {char: escape for escape, char in ESCAPES.items() if char.isspace()}


class Row(NamedTuple):
    """What spaCy has of a word; ``head`` counts from 1 in the sentence, 0 is the root and -1 unknown."""

    lemma: str
    pos: str
    tag: str
    morph: str
    head: int
    dep: str


def to_spacy(source: Doc | Iterable[Sentence], vocab: Vocab) -> SpacyDoc:
    """Return a document of spaCy with the words, tags, features and trees of sentences."""
    try:
        from spacy.tokens import Doc as SpacyDoc
    except ModuleNotFoundError:
        raise MissingExtraError("documents of spaCy need spaCy: pip install 'tanglewood[spacy]'") from None

    sentences = [*source]
    words: list[str] = []
    spaces: list[bool] = []
    rows: list[Row] = []
    heads: list[int] = []
    starts: list[bool] = []
    for sentence in sentences:
        places: list[int] = []  # of the words among the tokens
        own = rows_of(sentence, vocab)
        first = len(words)
        for form, after in _forms(sentence):
            for text, is_word in _parts(form, after):
                if is_word:
                    places.append(len(words))
                words.append(text)
                spaces.append(is_word and after.startswith(" "))
                rows.append(own[len(places) - 1] if is_word else Row(text, "SPACE", "", "", WHITE, ""))
        for place, row in enumerate(rows[first:], first):
            white = row.pos == "SPACE" and row.head == WHITE
            heads.append(place - 1 if white else place if row.head <= 0 else places[row.head - 1])
        starts += [place == first for place in range(first, len(words))]
    known = all(row.head != -1 for row in rows)
    doc = SpacyDoc(
        vocab,
        words=words,
        spaces=spaces,
        lemmas=[row.lemma for row in rows],
        pos=[row.pos for row in rows],
        tags=[row.tag for row in rows],
        morphs=[row.morph for row in rows],
        **({"heads": heads, "deps": [row.dep or "dep" for row in rows]} if known and rows else {"sent_starts": starts}),
    )
    doc.user_data[KEPT] = [[sentence.to_text(), sentence.format] for sentence in sentences]
    if isinstance(source, Doc):
        doc.user_data[TEXT] = source.text
    return doc


def from_spacy(doc: SpacyDoc) -> Doc:
    """Return a document of spaCy as one of tanglewood; where it came from there, with all that it had."""
    kept = doc.user_data.get(KEPT)
    sentences = None if kept is None else _restored(doc, [Sentence(text.encode(), format=form) for text, form in kept])
    if sentences is None:
        return Doc(doc.text, built(doc))
    return Doc(doc.user_data.get(TEXT, doc.text), sentences)


def _forms(sentence: Sentence) -> Iterator[tuple[str, str]]:
    """Yield each word and the white space after it; the words of a multiword token have none between them."""
    for _, words, after in surface_tokens(sentence):
        for number, word in enumerate(words, 1):
            yield word, after if number == len(words) else ""


def _parts(word: str, after: str) -> list[tuple[str, bool]]:
    """Return the tokens that a word and the white space after it become, and whether they are words."""
    more = after.removeprefix(" ")
    return [(word, True), *([(more, False)] if more else [])]


def rows_of(sentence: Sentence, vocab: Vocab) -> list[Row]:
    """Return what spaCy gets of the words of a sentence."""
    from spacy.parts_of_speech import IDS
    from spacy.tokens import MorphAnalysis

    try:
        heads = sentence.heads()[1:].tolist()
    except LocatedError:
        heads = [-1] * len(sentence)
    found = []
    for (_, form, lemma, upos, xpos, feats, _, label, *_), head in zip(sentence.words, heads, strict=True):
        pairs = feats if all("=" in pair for pair in feats.split("|")) else ""
        found.append(
            Row(
                "" if lemma == "_" and form != "_" else lemma,
                upos if upos in IDS else "",
                "" if xpos == "_" else xpos,
                str(MorphAnalysis(vocab, pairs)) if pairs else "",
                head,
                label if label != "_" else "dep" if head >= 0 else "",  # spaCy wants a label where there is a head
            )
        )
    return found


def words_in(doc: SpacyDoc) -> list[Token]:
    """Return the tokens that are words, not white space."""
    return [token for token in doc if not token.is_space]


def _restored(doc: SpacyDoc, sentences: list[Sentence]) -> list[Sentence] | None:
    """Return the sentences with what spaCy has changed; None if these are not the words of the document any more."""
    parts = [part for sentence in sentences for word, after in _forms(sentence) for part in _parts(word, after)]
    if [token.text for token in doc] == [text for text, _ in parts]:  # a word may look like white space
        tokens = [token for token, (_, is_word) in zip(doc, parts, strict=True) if is_word]
    else:
        tokens = words_in(doc)
    if [token.text for token in tokens] != [form for sentence in sentences for form in sentence.forms]:
        return None
    found = []
    done = 0
    for sentence in sentences:
        own = tokens[done : done + len(sentence)]
        found.append(_updated(sentence, rows_of(sentence, doc.vocab), _rows_now(doc, own)))
        done += len(sentence)
    return found


def _rows_now(doc: SpacyDoc, tokens: list[Token]) -> list[Row]:
    """Return what spaCy has now; heads in other sentences are roots."""
    places = {token.i: number for number, token in enumerate(tokens, 1)}
    parsed = doc.has_annotation("DEP")
    return [
        Row(
            token.lemma_,
            token.pos_,
            token.tag_,
            str(token.morph),
            (0 if token.head.i == token.i else places.get(token.head.i, 0)) if parsed else -1,
            token.dep_,
        )
        for token in tokens
    ]


def _updated(sentence: Sentence, before: list[Row], now: list[Row]) -> Sentence:
    if before == now:
        return sentence
    columns: list[list[str]] = []
    for index, old in enumerate((sentence.lemmas, sentence.upos, sentence.xpos, sentence.feats)):
        pairs = zip(old, before, now, strict=True)
        columns.append([mine if was[index] == new[index] else str(new[index]) or "_" for mine, was, new in pairs])
    changed = sentence.with_columns(*columns)
    if all((was.head, was.dep) == (new.head, new.dep) or new.head < 0 for was, new in zip(before, now, strict=True)):
        return changed
    labels = [
        mine if was.dep == new.dep != "" else new.dep or "dep"
        for mine, was, new in zip(sentence.deprels, before, now, strict=True)
    ]
    return changed.with_tree(Tree([row.head for row in now], labels))


def built(doc: SpacyDoc, starts: Iterable[int] = ()) -> list[Sentence]:
    """Return the sentences of a document that spaCy made; ``starts`` are the characters at which they begin.

    Without these they are those of spaCy, or all is one sentence. White space goes to MISC.
    """
    tokens = words_in(doc)
    begins = {*starts}
    if not begins and doc.has_annotation("SENT_START"):
        begins = {next((token.idx for token in span if not token.is_space), -1) for span in doc.sents}
    cuts = [number for number, token in enumerate(tokens) if number == 0 or token.idx in begins]
    found = []
    for number, (first, last) in enumerate(pairwise([*cuts, len(tokens)]), 1):
        own = tokens[first:last]
        text = doc.text[own[0].idx : own[-1].idx + len(own[-1].text)].replace("\n", " ").replace("\r", " ")
        lines = []
        for place, (token, row) in enumerate(zip(own, _rows_now(doc, own), strict=True), 1):
            following = tokens[first + place].idx if first + place < len(tokens) else len(doc.text)
            misc = _misc(doc.text[token.idx + len(token.text) : following])
            if first == 0 and place == 1 and token.idx:
                misc = "|".join([f"SpacesBefore={_escaped(doc.text[: token.idx])}", *([misc] if misc != "_" else [])])
            columns = [row.lemma, row.pos, row.tag, row.morph]
            head, label = (str(row.head), row.dep or "dep") if row.head >= 0 else ("_", "_")
            filled = [column.replace("\t", " ").replace("\n", " ") or "_" for column in columns]
            lines.append([str(place), token.text, *filled, head, label, "_", misc])
        found.append(Sentence.build(lines, [f"sent_id = {number}", f"text = {text}"]))
    return found


def _misc(gap: str) -> str:
    """Return the last column of a word that is followed by this white space."""
    if gap == " ":
        return "_"
    return f"SpacesAfter={_escaped(gap)}" if gap else "SpaceAfter=No"


def _escaped(gap: str) -> str:
    return "".join(ESCAPED.get(char, char) for char in gap)
