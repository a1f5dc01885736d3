"""Small numbers that several compiled modules mean the same by."""

LABELLED, TAGGED = 1, 2  # TransitionSystem.labelled: what a move carries; 0: nothing
FIRST_TAG = 2  # State.marks where a system gives tags: 2 + tag, 1 for a word that was left without, 0 until then
