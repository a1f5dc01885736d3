"""From raw text to words: sentences, tokens, tags and lemmas, all learnt from a treebank."""
