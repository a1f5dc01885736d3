"""Draw sentences as one self-contained web page: each tree as SVG, with what is known about each word.

Pointing at a word or reaching it with the keyboard shows its lemma, tags, features, head and relation; pointing at an
arc shows what it connects. The page's own policy forbids it to fetch anything.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files

from tanglewood.errors import LocatedError
from tanglewood.show import svg
from tanglewood.show.layout import clean, is_right_to_left
from tanglewood.treebank.sentence import FEATS, LEMMA, Sentence
from tanglewood.treebank.tree import Tree

WIDTH = 1100  # of a picture
MOST_SHOWN = 50  # most sentences in a notebook
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"  # nothing from elsewhere


def draw(
    sentences: Sequence[Sentence],
    *,
    tags: bool = False,
    title: str | None = None,
    others: Sequence[Tree] | None = None,
    names: tuple[str, str] = ("first", "second"),
    width: int | None = WIDTH,
) -> str:
    """Return the page; `others` are second trees of the same sentences to compare with, `names` what both are called.

    Pictures wider than `width` pixels are broken into lines.
    """
    if others is not None and len(others) != len(sentences):
        raise ValueError(f"{len(others)} trees to compare {len(sentences)} sentences with")
    heading = clean(title or "Dependency trees")
    figures, known = [], []
    for number, sentence in enumerate(sentences):
        other = None if others is None else others[number]
        tree = sentence.tree
        facts = [*_facts(sentence, tree, other, names)]
        known.append(facts)
        picture = svg.draw(
            tree,
            sentence.forms,
            tags=sentence.upos if tags else None,
            title=sentence.text,
            other=other,
            names=names,
            width=width,
            style=False,
            focusable=[", ".join(f"{name} {value}" if name else value for name, value in rows) for rows in facts],
        )
        figures.append(_figure(number, sentence, picture))
    # Only "<" could end the script element too early; everything else is JSON.
    data = json.dumps(known, ensure_ascii=False).replace("<", "\\u003c")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{escape(heading)}</title>
<style>
{_asset("page.css")}</style>
</head>
<body>
<main>
{"".join(figures)}</main>
<div id="card" role="status" hidden></div>
<script type="application/json" id="words">{data}</script>
<script>
{_asset("page.js")}</script>
</body>
</html>
"""


def fragment(
    sentences: Sequence[Sentence],
    *,
    tags: bool = False,
    others: Sequence[Tree] | None = None,
    names: tuple[str, str] = ("first", "second"),
) -> str:
    """Return what a notebook shows of sentences: each with its picture, if it has a tree, up to a limit."""
    parts = []
    for number, sentence in enumerate(sentences[:MOST_SHOWN]):
        try:
            picture = svg.draw(
                sentence.tree,
                sentence.forms,
                tags=sentence.upos if tags else None,
                title=sentence.text,
                other=None if others is None else others[number],
                names=names,
                width=WIDTH,
            )
        except LocatedError:
            picture = ""
        parts.append(_figure(number, sentence, picture))
    more = len(sentences) - MOST_SHOWN
    return "".join([*parts, f"<p>... and {more} more sentences</p>\n" if more > 0 else ""])


@cache
def _asset(name: str) -> str:
    return (files("tanglewood.show") / name).read_text(encoding="utf-8")


def _figure(number: int, sentence: Sentence, picture: str) -> str:
    """Return one sentence: its id and text, and below it the tree."""
    text = clean(sentence.text or " ".join(sentence.forms))
    name = "" if sentence.sent_id is None else f"<b>{escape(clean(sentence.sent_id))}</b> "
    direction = "rtl" if is_right_to_left(text) else "ltr"
    return (
        f'<figure data-sentence="{number}">\n'
        f'<figcaption>{name}<span dir="{direction}">{escape(text)}</span></figcaption>\n'
        f'<div class="picture">\n{picture}</div>\n</figure>\n'
    )


def _facts(
    sentence: Sentence, tree: Tree, other: Tree | None, names: tuple[str, str]
) -> Iterator[list[tuple[str, str]]]:
    """Yield what is known about each word as (name, value), its form first, without a name."""
    forms = [clean(form) for form in sentence.forms]
    crossed = {*tree.nonprojective_arcs()}

    def relation(tree: Tree, word: int) -> str:
        head = tree.heads[word]
        return clean(tree.labels[word]) + (f" of {forms[head - 1]} ({head})" if head else "")

    for word, columns in enumerate(sentence.words, 1):
        facts = [("", f"{forms[word - 1]} ({word})")]
        known = zip(("lemma", "UPOS", "XPOS", "features"), columns[LEMMA : FEATS + 1], strict=True)
        facts += [(name, clean(value)) for name, value in known if value != "_"]
        mine = relation(tree, word)
        theirs = mine if other is None else relation(other, word)
        same = mine == theirs
        facts += [("relation", mine)] if same else [(clean(names[0]), mine), (clean(names[1]), theirs)]
        facts += [("", "non-projective")] * (word in crossed)
        yield facts
