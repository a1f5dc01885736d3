r"""Draw a dependency tree for LaTeX: a `dependency` environment of the package tikz-dependency.

Write `\usepackage{tikz-dependency}` into the preamble and `\input` the file. Non-projective arcs are dashed and have a
second colour. Of two analyses, what only the second has is below the words.
"""

from collections.abc import Sequence

from tanglewood.show.layout import FIRST, SECOND, Arc, check_lengths, clean, in_one_line, runs_right_to_left, tree_arcs
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


def draw(tree: Tree, forms: Sequence[str], *, tags: Sequence[str] | None = None, other: Tree | None = None) -> str:
    """Return the environment; `other` is a second tree of the same words to compare with."""
    check_lengths(tree, forms=forms, tags=tags, others=other)
    lines = ["% \\usepackage{tikz-dependency}", r"\begin{dependency}[theme=simple, label style={font=\footnotesize}]"]
    lines.append(r"  \begin{deptext}[column sep=0.8em]")
    turned = runs_right_to_left(forms)
    for row, font in ((forms, ""), (tags, r"\scriptsize ")):
        if row is not None:
            texts = [f"{{{font}{latex(text)}}}" for text in row]
            lines.append("    " + r" \& ".join(texts[::-1] if turned else texts) + r" \\")
    lines.append(r"  \end{deptext}")
    pieces = in_one_line(tree_arcs(tree, other), len(tree), right_to_left=turned)
    highest = {below: max((p.level for p in pieces if p.below == below), default=0) for below in (False, True)}
    for piece in pieces:
        level = piece.level or 1 + highest[piece.below]
        where = f"{{{piece.head}}}{{{piece.dependent}}}" if piece.level else f"{{{piece.dependent}}}"
        command = "depedge" if piece.level else "deproot"
        look = _look(piece.arcs[0], compared=other is not None)
        options = ", ".join([f"edge height={0.5 + 2.5 * level:g}ex", *look])
        lines.append(f"  \\{command}[{options}]{where}{{{_label(piece.arcs[0])}}}")
    return "\n".join([*lines, r"\end{dependency}", ""])


def latex(text: str) -> str:
    """Return a text with all characters escaped that mean something to LaTeX."""
    return clean(text).translate(ESCAPES)


def _label(arc: Arc) -> str:
    return latex(arc.label) if arc.other is None else rf"{latex(arc.label)} $\neq$ {latex(arc.other)}"


def _look(arc: Arc, *, compared: bool) -> list[str]:
    """Return the options that show what kind of arc it is."""
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
