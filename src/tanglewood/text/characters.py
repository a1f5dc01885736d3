"""Characters as the tokenizer sees them: a class, such as lowercase letter or full stop, and a lowercase form."""

from __future__ import annotations

import sys
import unicodedata
from array import array

CLASSES = 32  # fit into the five bits that the compiled modules have for them
SPACE, LOWER, UPPER, LETTER, DIGIT, MARK, STOP, COMMA, ASKS, COLON, APOSTROPHE, DOUBLE_QUOTE = range(12)
OPENS, CLOSES, HYPHEN, DASH, SLASH, LINK, MONEY, AT, OTHER_MARK, MATHS, SYMBOL, OTHER, ELLIPSIS = range(12, 25)
CHARACTERS = {
    **dict.fromkeys(".．", STOP),
    **dict.fromkeys(",،、，", COMMA),
    **dict.fromkeys("!?。！？؟।։။።‼⁇⁈⁉", ASKS),
    **dict.fromkeys(":;：；؛·", COLON),
    **dict.fromkeys("'’‘`´ʼ", APOSTROPHE),
    **dict.fromkeys('"“”„«»', DOUBLE_QUOTE),
    **dict.fromkeys("-‐‑", HYPHEN),
    **dict.fromkeys("/\\", SLASH),
    "@": AT,
    "…": ELLIPSIS,
}
CATEGORIES = {
    **dict.fromkeys(("Ll",), LOWER),
    **dict.fromkeys(("Lu", "Lt"), UPPER),
    **dict.fromkeys(("Lo", "Lm"), LETTER),
    **dict.fromkeys(("Nd", "Nl", "No"), DIGIT),
    **dict.fromkeys(("Mn", "Mc", "Me"), MARK),
    **dict.fromkeys(("Ps", "Pi"), OPENS),
    **dict.fromkeys(("Pe", "Pf"), CLOSES),
    **dict.fromkeys(("So", "Sk"), SYMBOL),
    "Pd": DASH,
    "Pc": LINK,
    "Sc": MONEY,
    "Po": OTHER_MARK,
    "Sm": MATHS,
}
TYPEWRITTEN = {**dict.fromkeys("’‘", "'"), **dict.fromkeys("“”", '"'), **dict.fromkeys("–—", "-")}  # treated as these
CODEC = f"utf-32-{sys.byteorder[0]}e"


def class_of(character: str) -> int:
    """Return the class of a character, SPACE for white space."""
    if character.isspace():
        return SPACE
    return CHARACTERS.get(character) or CATEGORIES.get(unicodedata.category(character), OTHER)


class Characters:
    """A table of all characters met so far: the lowercase form of each, then, in five bits, its class."""

    def __init__(self) -> None:
        self.table = array("i", bytes(4 * (sys.maxunicode + 1)))
        self.known: set[str] = set()

    def of(self, text: str) -> tuple[memoryview, array[int]]:
        """Return the code points of a text, and the table."""
        new = set(text) - self.known
        for character in new:
            lower = TYPEWRITTEN.get(character) or character.lower()
            letter = ord(lower) if len(lower) == 1 else ord(character)
            self.table[ord(character)] = letter * CLASSES + class_of(character)
        self.known |= new
        return memoryview(text.encode(CODEC, "surrogatepass")).cast("i"), self.table
