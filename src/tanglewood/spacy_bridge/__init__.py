"""tanglewood in spaCy (extra: spacy): components for its pipelines, and documents both ways."""
