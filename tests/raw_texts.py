"""A small invented treebank with what a tokenizer must learn: contractions, abbreviations, headings, addresses."""

from collections.abc import Iterable
from io import BytesIO

from tanglewood.treebank.conllu import read
from tanglewood.treebank.sentence import Sentence

PARAGRAPHS = [
    "Dr. Hill didn't come.|\"Why not?\" she asked.|He's ill , she said...|",
    "Opening hours|We open at 9.30 a.m. and close at 5 p.m. on Mondays.|Don't be late!|",
    "Write to hill@example.org or see http://example.org/a.b?c=1 today.|Cats aren't dogs , I'd say.|",
    "The dog's bowl (the red one) is well-known.|Mr. Hill can't find it.|It isn't here.|",
    "Lost and found|A bag was found.|The owner hasn't called.|Nor has the owner's son.|",
]
CLITICS = ("n't", "'s", "'d")


def pieces(chunk: str) -> Iterable[str]:
    """The tokens of what stands between two spaces, by rules that hold for the invented text."""
    if "@" in chunk or "://" in chunk or chunk in {"Dr.", "Mr.", "a.m.", "p.m.", "9.30", "..."}:
        return [chunk]
    for mark in ('"', "("):
        if chunk.startswith(mark) and len(chunk) > 1:
            return [mark, *pieces(chunk[1:])]
    for mark in ("...", '"', ")", ".", "?", "!"):
        if chunk.endswith(mark) and len(chunk) > len(mark):
            return [*pieces(chunk[: -len(mark)]), mark]
    before, hyphen, after = chunk.partition("-")
    return [before, hyphen, after] if hyphen and before and after else [chunk]


def words_of(token: str) -> list[str]:
    for clitic in CLITICS:
        if token.endswith(clitic) and token != clitic:
            return [token.removesuffix(clitic), clitic]
    return [token]


def row(number: str, form: str, misc: str) -> str:
    return f"{number}\t{form}\t_\tX\t_\t_\t_\t_\t_\t{misc}"


def conllu(paragraphs: Iterable[str]) -> str:
    """CoNLL-U of paragraphs whose sentences end with a stroke."""
    lines = []
    for paragraph in paragraphs:
        for index, sentence in enumerate(paragraph.split("|")[:-1]):
            lines += ["# newpar"] if index == 0 else []
            lines.append(f"# text = {sentence}")
            number = 1
            for chunk in sentence.split(" "):
                tokens = list(pieces(chunk))
                for i, token in enumerate(tokens):
                    misc = "SpaceAfter=No" if i + 1 < len(tokens) else "_"
                    words = words_of(token)
                    if len(words) > 1:
                        lines.append(row(f"{number}-{number + len(words) - 1}", token, misc))
                        misc = "_"
                    for word in words:
                        lines.append(row(str(number), word, misc))
                        number += 1
            lines.append("")
    return "\n".join(lines) + "\n"


def treebank(paragraphs: Iterable[str] = PARAGRAPHS) -> list[Sentence]:
    return list(read(BytesIO(conllu(paragraphs).encode()), trees=False))
