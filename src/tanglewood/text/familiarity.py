"""Whether a text is of the kind that a model has learnt from: in its language and script, and without markup."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from tanglewood.text.raw import Token

LEAST_WORDS = 20  # before anything is said
LEAST_KNOWN = 0.5  # share of words that the model should have met: 0.7 to 0.9 in its language, 0.3 in others
LARGE = 5000  # words that a model must know for that to tell; with a small treebank half of all words may be new
MOST_STRANGE = 0.3  # share of words with letters of which the model has met none
TAG = re.compile(r"</?(?:a|b|body|br|div|em|h[1-6]|head|html|i|img|li|ol|p|script|span|strong|table|td|tr|ul)\b[^<>]*>")
LEAST_TAGS, WORDS_A_TAG = 3, 100  # markup is this many tags, and one for so many words


class Familiarity:
    """Counts the words of texts that a model knows; ``known`` are its words in lowercase, ``letters`` its letters."""

    def __init__(self, known: Collection[str], letters: Collection[str]) -> None:
        self._known = known
        self._letters = letters
        self.words = self.met = self.strange = self.tags = 0

    def add(self, text: str, sentences: Sequence[Sequence[Token]]) -> None:
        """Count the words of some sentences of a text."""
        for tokens in sentences:
            for token in tokens:
                for word in token.words:
                    if word.isalpha():
                        small = word.lower()
                        self.words += 1
                        if small in self._known:
                            self.met += 1
                        elif small[0] not in self._letters and small[-1] not in self._letters:
                            self.strange += 1
        if "<" in text and sentences:
            self.tags += sum(1 for _ in TAG.finditer(text, sentences[0][0].start, sentences[-1][-1].end))

    def warnings(self) -> list[str]:
        """Return what seems to be wrong, usually nothing."""
        found = []
        if self.tags >= LEAST_TAGS and self.tags * WORDS_A_TAG >= self.words:
            found.append(
                f"the text has {self.tags:,} tags of HTML, which are parsed as if they were words; remove markup first"
            )
        strange = self.strange > MOST_STRANGE * self.words
        unknown = self.met < LEAST_KNOWN * self.words and len(self._known) >= LARGE
        if self.words >= LEAST_WORDS and (strange or unknown):
            found.append(
                f"the text seems to be in another {'script' if strange else 'language'} than the model's, which knows "
                f"{100 * self.met / self.words:.0f}% of its {self.words:,} words; the trees will hardly be right"
            )
        return found
