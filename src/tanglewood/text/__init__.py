"""Raw text to words: sentence splitter, tokeniser, tagger, lemmas."""
