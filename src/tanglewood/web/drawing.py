"""Trees as the page shows them."""

from __future__ import annotations

from tanglewood.show import svg
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree


def draw(tree: Tree, sentence: Sentence) -> str:
    """Return the SVG of a tree over the words of a sentence, on one line; the page's style sheet has the colours."""
    tags = sentence.upos if set(sentence.upos) != {"_"} else None
    return svg.draw(tree, sentence.forms, tags=tags, title=sentence.text, width=None, style=False)
