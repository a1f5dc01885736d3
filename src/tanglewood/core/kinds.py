"""Small numbers that several compiled modules mean the same by."""

UNLABELLED, LABELLED, TAGGED = range(3)  # TransitionSystem.labelled: what a move carries
FIRST_TAG = 2  # State.marks where a system gives tags: 2 + tag; 1 is for a word that has gone without, 0 not yet asked
