"""Each viewer draws exactly what is in the files of `golden/`, which somebody has looked at.

After a change that is meant, write them anew and look at the difference (open the SVG files in a browser):

    python tests/show/test_golden.py && git diff tests/show/golden
"""

from pathlib import Path

import pytest

from tanglewood.measure.calibration import Calibration
from tanglewood.show import html, reliability, svg, tikz, tree
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

GOLDEN = Path(__file__).parent / "golden"


def sentence(name: str, text: str) -> Sentence:
    """A sentence from words written as form/UPOS/head/label, separated by spaces."""
    rows = [word.rsplit("/", 3) for word in text.split()]
    columns = [
        (str(number), form, form.lower(), tag, "_", "_", head, label, "_", "_")
        for number, (form, tag, head, label) in enumerate(rows, 1)
    ]
    return Sentence.build(columns, [f"sent_id = {name}", f"text = {' '.join(row[0] for row in rows)}"])


CROSSED = sentence(
    "what", "What/PRON/5/obl do/AUX/4/aux you/PRON/4/nsubj look/VERB/0/root at/ADP/4/case ?/PUNCT/4/punct"
)
LONG = sentence(
    "dog",
    "The/DET/2/det dog/NOUN/10/nsubj that/PRON/9/obj the/DET/5/det cat/NOUN/9/nsubj from/ADP/8/case the/DET/8/det"
    " house/NOUN/5/nmod saw/VERB/2/acl ran/VERB/0/root when/SCONJ/14/mark a/DET/13/det child/NOUN/14/nsubj"
    " called/VERB/10/advcl it/PRON/14/obj home/ADV/14/advmod that/DET/18/det evening/NOUN/10/obl ,/PUNCT/21/punct"
    " which/PRON/21/nsubj pleased/VERB/14/acl us/PRON/21/obj ./PUNCT/10/punct",
)
HEBREW = sentence(
    "book", "את/ADP/2/case הספר/NOUN/5/obj הילדה/NOUN/4/nsubj רצתה/VERB/0/root לקרוא/VERB/4/xcomp ./PUNCT/4/punct"
)
SEEN = sentence("men", "She/PRON/2/nsubj saw/VERB/0/root men/NOUN/2/obj with/ADP/5/case telescopes/NOUN/2/obl")
OTHER = Tree([2, 0, 2, 5, 3], ["nsubj", "root", "iobj", "case", "nmod"])
ODD = sentence("odd", "<b>/X_&/2/50%{x} $\\#/Y/0/~root^ \"'/Z/2/a|b")
NAMES = ("gold.conllu", "mine.conllu")


def page(one: Sentence, other: Tree | None = None) -> str:
    """The part of a web page that depends on the sentence."""
    text = html.draw([one], tags=True, others=None if other is None else [other], names=NAMES)
    return text[text.index("<body>") : text.index("<script>")]


def terminal(one: Sentence, **options: object) -> str:
    return tree.draw(one.forms, one.tree, **options) + "\n"


def picture(one: Sentence, **options: object) -> str:
    return svg.draw(one.tree, one.forms, **options)


def latex(one: Sentence, **options: object) -> str:
    return tikz.draw(one.tree, one.forms, **options)


def calibrated(*words: tuple[float, int, int]) -> Calibration:
    """Words of some confidence: how many there are, and how many of them have the right head."""
    found = Calibration()
    for value, count, right in words:
        for number in range(count):
            found.count(value, right=number < right)
    return found


BOTH_WAYS = calibrated((0.3, 20, 9), (0.5, 41, 20), (0.75, 90, 81), (0.85, 160, 110), (0.97, 1480, 1390))
PERFECT = calibrated((1.0, 12, 12))

DRAWINGS = {
    "crossed.txt": lambda: terminal(CROSSED, tags=CROSSED.upos),
    "long.txt": lambda: terminal(LONG, width=64),
    "narrow.txt": lambda: terminal(LONG, width=40),
    "compared.txt": lambda: terminal(SEEN, other=OTHER, names=NAMES),
    "hebrew.txt": lambda: terminal(HEBREW),
    "hebrew-broken.txt": lambda: terminal(HEBREW, width=30, column=False),
    "crossed.svg": lambda: picture(CROSSED, tags=CROSSED.upos),
    "long.svg": lambda: picture(LONG, width=640),
    "compared.svg": lambda: picture(SEEN, other=OTHER, names=NAMES),
    "hebrew.svg": lambda: picture(HEBREW, width=400),
    "odd.svg": lambda: picture(ODD, tags=ODD.upos),
    "reliability.svg": lambda: reliability.draw([("mine & yours.conllu", BOTH_WAYS), ("perfect.conllu", PERFECT)]),
    "odd.html": lambda: page(ODD),
    "compared.html": lambda: page(SEEN, OTHER),
    "crossed.tex": lambda: latex(CROSSED, tags=CROSSED.upos),
    "odd.tex": lambda: latex(ODD, tags=ODD.upos),
    "hebrew.tex": lambda: latex(HEBREW),
    "compared.tex": lambda: latex(SEEN, other=OTHER),
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_the_one_in_its_file(name):
    assert DRAWINGS[name]() == (GOLDEN / name).read_text(encoding="utf-8")


def test_every_file_is_drawn():
    assert sorted(path.name for path in GOLDEN.iterdir()) == sorted(DRAWINGS)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for file, drawing in DRAWINGS.items():
        (GOLDEN / file).write_text(drawing(), encoding="utf-8")
