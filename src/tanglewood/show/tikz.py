r"""Draw a dependency tree for LaTeX: a `dependency` environment of the package tikz-dependency.

Write `\usepackage{tikz-dependency}` into the preamble and `\input` the file. Non-projective arcs are dashed and have a
second colour. Of two analyses, what only the second has stands below the words.
"""

from collections.abc import Sequence

from tanglewood.show.layout import FIRST, SECOND, Arc, Measure, clean, lay_out, runs_right_to_left, tree_arcs
from tanglewood.treebank.tree import Tree

ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "&": r"\symbol{38}",  # \& separates the words
        **{char: f"\\{char}" for char in "{}$#%_"},
    }
)
MEASURE = Measure(gap=2, step=1, pad=1, text_width=len, arrow=0)


def draw(tree: Tree, forms: Sequence[str], *, tags: Sequence[str] | None = None, other: Tree | None = None) -> str:
    """Return the environment; `other` is a second tree of the same words to compare with."""
    for name, given in (("forms", forms), ("tags", tags), ("words in the tree to compare with", other)):
        if given is not None and len(given) != len(tree):
            raise ValueError(f"{len(given)} {name} for a tree of {len(tree)} words")
    lines = ["% \\usepackage{tikz-dependency}", r"\begin{dependency}[theme=simple, label style={font=\footnotesize}]"]
    lines.append(r"  \begin{deptext}[column sep=0.8em]")
    turned = runs_right_to_left(forms)
    for row, font in ((forms, ""), (tags, r"\scriptsize ")):
        if row is not None:
            texts = [f"{{{font}{latex(text)}}}" for text in row]
            lines.append("    " + r" \& ".join(texts[::-1] if turned else texts) + r" \\")
    lines.append(r"  \end{deptext}")
    for line in lay_out(tree_arcs(tree, other), [1] * len(tree), MEASURE, most=None, right_to_left=turned):
        for piece in line.pieces:
            level = piece.level or 1 + line.height(below=piece.below)
            where = f"{{{piece.dependent}}}" if piece.level == 0 else f"{{{piece.head}}}{{{piece.dependent}}}"
            command = "deproot" if piece.level == 0 else "depedge"
            options = ", ".join(
                [f"edge height={0.5 + 2.5 * level:g}ex", *_look(piece.arcs[0], compared=other is not None)]
            )
            lines.append(f"  \\{command}[{options}]{where}{{{_label(piece.arcs[0])}}}")
    return "\n".join([*lines, r"\end{dependency}", ""])


def latex(text: str) -> str:
    """Return a text in which no character has a meaning for LaTeX."""
    return clean(text).translate(ESCAPES)


def _label(arc: Arc) -> str:
    return latex(arc.label) if arc.other is None else rf"{latex(arc.label)} $\neq$ {latex(arc.other)}"


def _look(arc: Arc, *, compared: bool) -> list[str]:
    """Return the options that show of what kind an arc is."""
    colour = {FIRST: "blue!70!black", SECOND: "magenta!70!black"}.get(arc.part, "gray" if compared else "")
    if arc.nonprojective and not compared:
        colour = "orange!80!black"
    style = [*["densely dashed"] * arc.nonprojective, *["very thick"] * (arc.part in {FIRST, SECOND}), colour]
    below = ["edge below"] * (arc.part == SECOND)
    chosen = ", ".join(filter(None, style))
    return [
        *below,
        *([f"edge style={{{chosen}}}"] if chosen else []),
        *([f"label style={{text={colour}}}"] if colour else []),
    ]
