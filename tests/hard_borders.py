"""Sixty short texts whose sentences are hard to find, and how many of them a tokenizer gets right.

``|`` stands where a sentence ends; it is no part of the text. The last sentence ends with the text. A text is right
when all of its borders are found and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tanglewood.text.raw import Token

MARK = "|"
ABBREVIATIONS = (
    "We asked Prof. Smith about the bridge.| He had never seen it.",
    "The parcel went to Mrs. Alder of No. 14 and came back.",
    "She works for Harlow & Sons Ltd. in Leeds.| Her brother does not.",
    "Bring pens, paper, glue, etc. and a good lamp.| We start at nine.",
    "They moved to Washington, D.C. in the spring of 2009.",
    "The train leaves at 7 a.m. and gets in at noon.| Don't be late.",
    "It weighs about 3 lbs. without the box, i.e. less than the old one.",
    "He was born in Jan. 1950 near St. Ives.| His sister came two years later.",
    "The dam failed in the U.S. last year.| Nobody was hurt.",
)
DIALOGUE = (
    '"Where is the key?" she asked.| "I gave it to Tom."',
    '"Run!" he shouted, and they ran.',
    '"I am tired," said Nell, "but I will come."',
    '"Is it far?" asked the boy.| "Not very," said the old man.',
    "'Sit down,' he said.| 'You must be hungry.'",
    '"Stop that!" cried the nurse.| Nobody moved.',
    "\u201cDo you like it?\u201d asked Ben.| \u201cI love it.\u201d",
    '"Well," she began, "it was late, and the shop was shut."| He nodded.',
)
LISTS = (
    "Please bring:\n|- two apples\n|- a loaf of bread\n|- some cheese",
    "* Open the lid\n|* Pour in the water\n|* Close the lid",
    "1. Wash the rice.\n|2. Boil it for ten minutes.\n|3. Let it rest.",
    "We need three things:\n|1) a map\n|2) a rope\n|3) time",
    "\u2022 Free parking\n|\u2022 Breakfast until ten\n|\u2022 No pets",
    "The rules are simple:\n|a) no running\n|b) no shouting\n|c) no food in the pool",
    "To do today:\n|- call the plumber about the sink,\n  which still leaks\n|- pay the rent",
)
LINKS = (
    "Go to www.harlow-bridge.org and look at the map.| It is new.",
    "Write to anna.bell@post.example.com before Friday.| She will answer.",
    "The form is at http://www.example.org/forms/a.b.html?x=1.| Print it twice.",
    "I found it on Example.com last week.| It was cheap.",
    "See https://example.net/faq#top for more.| Then call us.",
    "Our site, example.co.uk, was down all night.",
    "Download setup.exe from ftp.example.org and run it.| That is all.",
)
ELLIPSES = (
    "I wonder... maybe we should go home.",
    "He waited... and waited.| Nothing came.",
    "That was all he said...| Then he left the room.",
    "Well... I don't know.| Ask Jane.",
    "The soup was cold, the bread was hard ...| We never went back.",
    "She opened the box and... it was empty!",
    "So it goes\u2026| They will try again tomorrow.",
)
INITIALS = (
    "J. R. Marsh wrote the report.| It is long.",
    "The book by A. B. Carver sold well.",
    "I met George W. Tanner at the fair.| He sells boats.",
    "P.J. Hollis and M. Stone won the cup in 1987.",
    "The house belonged to E. Whitlow until 1920.| Then it burned down.",
    "It was vitamin C.| She took it every day.",
    "Call Mary K. if you need help.| She knows the way.",
)
QUOTES = (
    'He called it "the best day of my life."| Then he went to bed.',
    'The sign said "No entry!" in red letters.',
    'The word "why?" was written on every wall.| We laughed.',
    "He said\u2014and I agree\u2014that the plan is weak.",
    "The song (you know it!) was played twice.| Everyone sang.",
    "They left early.| (The road was icy.)| We stayed.",
    'What does "as is" mean?| It means no repairs.',
    "\u201cThe tide will turn.\u201d| That was his whole speech.",
)
HEADINGS = (
    "Opening hours\n|We are open from nine to five.",
    "Chapter 3\n|The Long Road\n|It was raining when they left the village.",
    "CONTACT US\n|Call the office before noon.| Ask for Ruth.",
    "2. Methods\n|We measured the depth of the lake every week.",
    "From: Ruth Alder\n|To: Ben Stone\n|Subject: the boat\n|The boat is ready.",
    "What to bring\n|A coat and good boots are enough for the first day,\nand a hat for the second.",
    "See you on Monday.\n|Best wishes,\n|Ruth",
)
KINDS = {
    "abbreviations": ABBREVIATIONS,
    "dialogue": DIALOGUE,
    "lists": LISTS,
    "links": LINKS,
    "ellipses": ELLIPSES,
    "initials": INITIALS,
    "quotes": QUOTES,
    "headings": HEADINGS,
}


def with_borders(case: str) -> tuple[str, list[str]]:
    """Return the text of a case, and its sentences without the white space around them."""
    return case.replace(MARK, ""), [sentence.strip() for sentence in case.split(MARK)]


def found_sentences(text: str, sentences: Sequence[Sequence[Token]]) -> list[str]:
    """Return the sentences that a tokenizer found, each as it stands in the text."""
    return [text[tokens[0].start : tokens[-1].end] for tokens in sentences]


def right(tokenize: Callable[[str], Sequence[Sequence[Token]]]) -> dict[str, list[bool]]:
    """Return for each kind which of its texts come out right."""
    results = {}
    for kind, cases in KINDS.items():
        pairs = [with_borders(case) for case in cases]
        results[kind] = [found_sentences(text, tokenize(text)) == wanted for text, wanted in pairs]
    return results
