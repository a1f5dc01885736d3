"""The web page: complete, safe, nothing fetched, and each word says what is known of it."""

import json
import re
import shutil
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawings import pairs_of_trees, trees
from tanglewood.show.html import draw
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

VOID = {"meta", "rect", "path", "polygon"}


class Page(HTMLParser):
    """What a browser would see: elements with their attributes and the text inside them, in the order of the page."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.open = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append([tag, dict(attributes), ""])
        if tag not in VOID:
            self.open.append(self.elements[-1])

    def handle_startendtag(self, tag, attributes):
        self.elements.append([tag, dict(attributes), ""])

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for element in self.open:
            element[2] += data

    def all(self, tag, **wanted):
        return [e for e in self.elements if e[0] == tag and all(e[1].get(k) == v for k, v in wanted.items())]

    def words(self):
        return [e for e in self.all("text") if e[1].get("class") == "word"]

    def known(self):
        return json.loads(self.all("script", id="words")[0][2])


def sentence(tree, **columns):
    """A sentence with this tree; columns given by name are the same for all words."""
    names = ("form", "lemma", "upos", "xpos", "feats")
    rows = []
    for head, label, word in tree.arcs():
        given = [columns.get(name, f"{name}{word}") for name in names]
        rows.append((str(word), *given, str(head), label or "_", "_", "_"))
    return Sentence.build(rows, columns.get("comments", []))


def test_a_word_tells_all_that_is_known_of_it():
    page = Page(draw([sentence(Tree([2, 0], ["nsubj", "root"]), feats="Case=Nom|Number=Sing")]))
    first, second = page.known()[0]
    assert first == [
        ["", "form1 (1)"],
        ["lemma", "lemma1"],
        ["UPOS", "upos1"],
        ["XPOS", "xpos1"],
        ["features", "Case=Nom|Number=Sing"],
        ["relation", "nsubj of form2 (2)"],
    ]
    assert ["relation", "root"] in second
    described = [word[1]["aria-label"] for word in page.words()]
    assert described[0] == (
        "form1 (1), lemma lemma1, UPOS upos1, XPOS xpos1, features Case=Nom|Number=Sing, relation nsubj of form2 (2)"
    )


def test_what_is_not_annotated_is_not_shown_and_crossing_arcs_are_named():
    page = Page(draw([sentence(Tree([3, 0, 2, 1], ["a", "b", "c", "d"]), lemma="_", xpos="_", feats="_")]))
    assert [name for name, _ in page.known()[0][1]] == ["", "UPOS", "relation"]
    assert [["", "non-projective"] in facts for facts in page.known()[0]] == [True, False, False, True]


@given(st.lists(trees(20), min_size=1, max_size=3), st.booleans())
@settings(deadline=None, max_examples=30)
def test_every_word_and_arc_of_every_sentence_is_there_and_can_be_reached(drawn, tagged):
    page = Page(draw([sentence(tree) for tree in drawn], tags=tagged))
    assert page.open == []
    assert len(page.all("figure")) == len(page.known()) == len(drawn)
    assert [int(word[1]["data-word"]) for word in page.words()] == [w for t in drawn for w in range(1, len(t) + 1)]
    assert all(word[1]["tabindex"] == "0" for word in page.words())
    arcs = [e[1] for e in page.all("g") if "arc" in e[1]["class"].split()]
    assert [(int(arc["data-head"]), int(arc["data-dependent"])) for arc in arcs] == [
        (head, word) for tree in drawn for head, _, word in tree.arcs()
    ]
    assert len([e for e in page.all("text") if e[1].get("class") == "tag"]) == tagged * len(page.words())


@given(pairs_of_trees(15))
@settings(deadline=None, max_examples=30)
def test_where_two_trees_differ_both_relations_are_told(pair):
    one, other = pair
    names = ("gold", "mine")
    known = Page(draw([sentence(one)], others=[other], names=names)).known()[0]
    for word, facts in enumerate(known, 1):
        same = (one.heads[word], one.labels[word] or "_") == (other.heads[word], other.labels[word])
        assert ("relation" in dict(facts)) == same
        assert ({*names} <= {*dict(facts)}) == (not same)


EVIL = ["</script><script>alert(1)</script>", '"><img/src=x/onerror=alert(1)>', "<!--", "'&quot;", "]]>", "</svg>"]


def test_no_text_becomes_markup():
    tree = Tree([2, 0, 2, 2, 2, 2], [*EVIL])
    rows = [(str(i), *[evil] * 5, str(tree.heads[i]), evil, "_", "_") for i, evil in enumerate(EVIL, 1)]
    text = draw(
        [Sentence.build(rows, [f"sent_id = {EVIL[0]}", f"text = {EVIL[1]}"])],
        tags=True,
        title=EVIL[0],
        others=[Tree([2, 0, 2, 2, 2, 5], [EVIL[1]] * 6)],
        names=(EVIL[0], EVIL[1]),
    )
    page = Page(text)
    assert page.open == []
    assert len(page.all("script")) == 2
    assert page.all("img") == []
    assert [word[2] for word in page.words()] == EVIL
    assert page.all("title")[0][2] == EVIL[0]
    assert all("onerror" not in e[1] for e in page.elements)
    assert "<!--" not in text
    assert page.known()[0][0][0] == ["", f"{EVIL[0]} (1)"]


def test_nothing_is_fetched():
    text = draw([sentence(Tree([2, 0]))])
    assert "default-src 'none'" in text
    assert {*re.findall(r"https?://[^\"'\s]+", text)} == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\burl\(|@import|\bsrc=|\bhref=|<link|<img|fetch\(|XMLHttp|import\(", text)


def test_it_has_light_and_dark_colours_and_one_style_sheet():
    text = draw([sentence(Tree([2, 0])), sentence(Tree([0]))])
    assert text.count("<style>") == 1
    assert text.count("prefers-color-scheme: dark") == 1
    used, given = ({*re.findall(pattern, text)} for pattern in (r"var\((--\w+)\)", r"(--\w+):"))
    assert used == given


PROBE = """<script>
const words = document.querySelectorAll(".word");
const seen = [];
const lit = () => [...document.querySelectorAll(".on")].map((e) => e.dataset.word || `arc ${e.dataset.dependent}`);
const note = () => seen.push([lit(), card.hidden ? "" : card.textContent]);
words[0].focus(); note();
words[0].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true })); note();
words[1].dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true })); note();
document.querySelectorAll(".arc .hit")[2].dispatchEvent(new PointerEvent("pointerover", { bubbles: true })); note();
document.querySelectorAll(".arc .hit")[2].dispatchEvent(new PointerEvent("pointerout", { bubbles: true })); note();
document.body.replaceChildren(); document.body.textContent = JSON.stringify(seen);
</script></body>"""


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs chromium")
def test_in_a_browser_keys_and_pointer_light_words_and_arcs(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(draw([sentence(Tree([2, 0, 2], ["nsubj", "root", "obj"]))]).replace("</body>", PROBE))
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as starting:  # it lets the page believe that it has the focus
        browser = starting.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        opened = browser.new_page()
        opened.goto(page.as_uri())
        first, second, escaped, arc, left = json.loads(opened.locator("body").inner_text())
        browser.close()
    assert first == [
        ["arc 1", "1", "2"],
        "form1 (1)lemmalemma1UPOSupos1XPOSxpos1featuresfeats1relationnsubj of form2 (2)",
    ]
    assert second[0] == ["arc 2", "2"]
    assert second[1].startswith("form2 (2)")
    assert escaped == [[], ""]
    assert arc == [["arc 3", "2", "3"], ""]
    assert left == [[], ""]


def test_right_to_left_text_says_so():
    one = sentence(Tree([0]), form="שלום")
    assert '<span dir="rtl">שלום</span>' in draw([one])
    assert 'data-direction="rtl"' in draw([one])


def test_as_many_trees_to_compare_with_as_sentences():
    with pytest.raises(ValueError, match="2 trees to compare 1 sentences with"):
        draw([sentence(Tree([0]))], others=[Tree([0]), Tree([0])])
