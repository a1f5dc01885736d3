"""tanglewood: dependency parsing for trees whose arcs may cross."""

__version__ = "0.1.0"
