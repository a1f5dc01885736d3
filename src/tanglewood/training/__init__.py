"""Learning a parser: what to train with, and the loop."""
