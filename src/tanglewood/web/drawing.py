"""Trees as the page shows them."""

from __future__ import annotations

import re

from tanglewood.show import svg
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

STYLE = re.compile(r"<style>.*?</style>\n?", re.DOTALL)


def draw(tree: Tree, sentence: Sentence) -> str:
    """Return the SVG of a tree over the words of a sentence; the page's style sheet has the colours."""
    tags = sentence.upos
    drawing = svg.draw(tree, sentence.forms, tags=tags if set(tags) != {"_"} else None, title=sentence.text)
    return STYLE.sub("", drawing, count=1)
