"""Small constants that several compiled modules share."""

LABELLED, TAGGED = 1, 2  # TransitionSystem.labelled: what a move carries; 0: nothing
FIRST_TAG = 2  # State.marks in systems that give tags: 0 until a word is tagged, then 2 + tag, or 1 if it got none
