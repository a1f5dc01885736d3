"""The sentences that all inputs are made from; they are invented and come from no treebank."""

from __future__ import annotations

Row = tuple[str, str, str, str, int, str]  # form, lemma, UPOS, FEATS, head, label


def _block(name: str, rows: list[Row], *, glued: int = 0, extra: tuple[tuple[int, str], ...] = ()) -> str:
    """Return a sentence as CoNLL-U; ``glued`` is the first of two words that are one token, ``extra`` are more lines.

    The last word stands directly after the one before it.
    """
    forms = [row[0] for row in rows]
    if glued:
        forms[glued - 1 : glued + 1] = ["".join(forms[glued - 1 : glued + 1])]
    lines = [f"# sent_id = {name}", f"# text = {' '.join(forms[:-1])}{forms[-1]}"]
    for number, (form, lemma, upos, feats, head, label) in enumerate(rows, 1):
        if number == glued:
            lines.append(f"{number}-{number + 1}\t{form}{rows[number][0]}" + "\t_" * 8)
        misc = "SpaceAfter=No" if number == len(rows) - 1 else "_"
        deps = f"{head}:{label}" if len(rows) % 2 else "_"
        lines.append("\t".join([str(number), form, lemma, upos, upos[:1], feats, str(head), label, deps, misc]))
        lines += [line for place, line in extra if place == number]
    return "\n".join(lines) + "\n\n"


DOT: Row = (".", ".", "PUNCT", "_", 0, "punct")


def _dot(head: int) -> Row:
    return (*DOT[:4], head, DOT[5])


CONLLU = "".join(
    [
        "# newdoc id = pond\n",
        _block(
            "plain",
            [
                ("The", "the", "DET", "Definite=Def", 2, "det"),
                ("heron", "heron", "NOUN", "Number=Sing", 3, "nsubj"),
                ("waits", "wait", "VERB", "Number=Sing|Tense=Pres", 0, "root"),
                _dot(3),
            ],
        ),
        _block(
            "crossing",
            [
                ("A", "a", "DET", "Definite=Ind", 2, "det"),
                ("frog", "frog", "NOUN", "Number=Sing", 3, "nsubj"),
                ("came", "come", "VERB", "Tense=Past", 0, "root"),
                ("today", "today", "ADV", "_", 3, "advmod"),
                ("that", "that", "PRON", "PronType=Rel", 6, "nsubj"),
                ("sings", "sing", "VERB", "Number=Sing|Tense=Pres", 2, "acl"),
                _dot(3),
            ],
        ),
        _block(
            "glued",
            [
                ("Let", "let", "VERB", "Mood=Imp", 0, "root"),
                ("us", "we", "PRON", "Case=Acc", 3, "nsubj"),
                ("feed", "feed", "VERB", "VerbForm=Inf", 1, "xcomp"),
                ("the", "the", "DET", "Definite=Def", 5, "det"),
                ("ducks", "duck", "NOUN", "Number=Plur", 3, "obj"),
                _dot(1),
            ],
            glued=1,
            extra=((3, "3.1\tthen\tthen\tADV\tA\t_\t_\t_\t3:advmod\t_"), (3, "3.2" + "\t_" * 9)),
        ),
        _block(
            "serial",
            [
                ("dat", "dat", "SCONJ", "_", 5, "mark"),
                ("wi", "ik", "PRON", "Case=Nom", 5, "nsubj"),
                ("Jan", "Jan", "PROPN", "_", 6, "nsubj"),
                ("vijver", "vijver", "NOUN", "Number=Sing", 6, "obj"),
                ("zien", "zien", "VERB", "VerbForm=Fin", 0, "root"),
                ("graven", "graven", "VERB", "VerbForm=Inf", 5, "xcomp"),
                _dot(5),
            ],
        ),
        _block(
            "mixed",
            [
                ("Ducks", "duck", "NOUN", "Number=Plur", 2, "nsubj"),
                ("feed", "feed", "VERB", "Tense=Pres", 0, "root"),
                ("frogs", "frog", "NOUN", "Number=Plur", 2, "obj"),
                ("what", "what", "PRON", "PronType=Int", 6, "obj"),
                ("we", "we", "PRON", "Case=Nom", 6, "nsubj"),
                ("like", "like", "VERB", "Tense=Pres", 1, "acl"),
                ("today", "today", "ADV", "_", 2, "advmod"),
                _dot(2),
            ],
        ),
        _block(
            "short",
            [
                ("Ponds", "pond", "NOUN", "Number=Plur", 0, "root"),
                ("!", "!", "PUNCT", "_", 1, "punct"),
            ],
        ),
        _block(
            "odd",
            [
                ("Ünïcödé\u0301", "\U0001f438", "X", "Foreign=Yes", 2, "nsubj"),
                ("שלום", "\u202eab", "X", "_", 0, "root"),
                ("pear\u00a0tree", "pear tree", "NOUN", "_", 2, "flat:x"),
                ("\u3000", "_", "SYM", "_", 2, "dep"),
                _dot(2),
            ],
        ),
        _block(
            "again",
            [
                ("We", "we", "PRON", "Case=Nom", 2, "nsubj"),
                ("like", "like", "VERB", "Tense=Pres", 0, "root"),
                ("the", "the", "DET", "Definite=Def", 4, "det"),
                ("pond", "pond", "NOUN", "Number=Sing", 2, "obj"),
                ("that", "that", "PRON", "PronType=Rel", 6, "nsubj"),
                ("waits", "wait", "VERB", "Number=Sing|Tense=Pres", 4, "acl"),
                _dot(2),
            ],
        ),
    ]
)

CONLLX = """\
1\tOwls\towl\tN\tNNS\tnum=pl\t2\tSBJ\t2\tSBJ
2\tsleep\tsleep\tV\tVB\t_\t0\tROOT\t_\t_
3\tlate\tlate\tR\tRB\t_\t2\tADV\t2\t_

1\tRain\train\tN\tNN\tnum=sg\t2\tSBJ\t_\t_
2\tfell\tfall\tV\tVB\t_\t0\tROOT\t0\tROOT
3\ttoday\ttoday\tR\tRB\t_\t2\tADV\t2\tADV
4\tcold\tcold\tA\tJJ\t_\t1\tNMOD\t2\tNMOD

"""

TEXT = (
    "The heron waits. A frog came today that sings!\n\n"
    "Letus feed   the ducks\nWe like 10 000 ponds, \U0001f438 e.g. \u05e9.\r\n"
)


def chain(size: int) -> str:
    """Return a sentence in which every word depends on the one before it."""
    rows = (f"{word}\tw{word}\tw\tNOUN\tN\t_\t{word - 1}\tnmod\t_\t_\n" for word in range(1, size + 1))
    return "".join(rows) + "\n"
