"""What the papers themselves report, with the table or figure that each number is from. Nothing here is ours.

Their data are other versions of today's treebanks, and often other treebanks: compare shapes, not digits.
"""

from __future__ import annotations

from typing import NamedTuple

TITLES = {
    "nivre2007": "Joakim Nivre. 2007. Incremental Non-Projective Dependency Parsing. NAACL HLT, pages 396-403.",
    "nivre2009": "Joakim Nivre. 2009. Non-Projective Dependency Parsing in Expected Linear Time. ACL-IJCNLP, "
    "pages 351-359.",
    "lacroix2014": "Ophélie Lacroix and Denis Béchet. 2014. A Three-Step Transition-Based System for Non-Projective "
    "Dependency Parsing. COLING, pages 224-232.",
    "shi2018": "Tianze Shi and Lillian Lee. 2018. Improving Coverage and Runtime Complexity for Exact Inference in "
    "Non-Projective Transition-Based Dependency Parsers. NAACL HLT.",
    "systems": "Nivre 2007, Nivre 2009, Lacroix & Béchet 2014, Shi & Lee 2018 and the papers that they build on: the "
    "parsers of their tables, the transition systems that they cite for crossing arcs and later ones, in one table.",
}
LANGUAGES = {"Slovenian": "Slovene"}  # names in treebanks -> names in the papers


def language_of(treebank: str) -> str:
    """Return the papers' name for a treebank's language, which is the first part of the treebank's name."""
    name = treebank.partition("-")[0]
    return LANGUAGES.get(name, name)


# Settings of Malt-06 for LIBSVM by language, as far as they are known (see docs/svm.md): from the pages of CoNLL-X.
CONLLX_SETTINGS: dict[str, dict[str, float | str]] = {
    "Arabic": {"gamma": 0.16, "cost": 0.3, "split": ""},
    "Czech": {"cost": 0.5, "threshold": 200},
    "Danish": {"cost": 0.6, "coef0": 0.3, "split": ""},
    "Dutch": {"gamma": 0.16, "cost": 0.3, "split": ""},
}


class Accuracy(NamedTuple):
    """Labelled attachment score, the same for non-projective arcs, exact match."""

    las: float
    nonprojective_las: float
    exact_match: float


class Line(NamedTuple):
    """A fitted line m = slope n."""

    slope: float
    r2: float


# Nivre 2009, section 6: exact match "has the best reported results for four out of five languages" (ties counted).
NIVRE2009_BEST_EXACT = ("Arabic", "Czech", "Slovene", "Turkish")

# Nivre 2009, Table 1: CoNLL-X test sets; labelled, without punctuation, SVM learner.
NIVRE2009 = {
    "Arabic": {
        "Su": Accuracy(67.1, 9.1, 11.6),
        "Sp": Accuracy(67.3, 18.2, 11.6),
        "Spp": Accuracy(67.2, 18.2, 11.6),
        "Malt-06": Accuracy(66.7, 18.2, 11.0),
        "MST-06": Accuracy(66.9, 0.0, 10.3),
        "MSTMalt": Accuracy(68.6, 9.4, 11.0),
    },
    "Czech": {
        "Su": Accuracy(82.4, 73.8, 35.3),
        "Sp": Accuracy(80.9, 3.7, 31.2),
        "Spp": Accuracy(82.1, 60.7, 34.0),
        "Malt-06": Accuracy(78.4, 57.9, 27.4),
        "MST-06": Accuracy(80.2, 61.7, 29.9),
        "MSTMalt": Accuracy(82.3, 69.2, 31.2),
    },
    "Danish": {
        "Su": Accuracy(84.2, 22.5, 26.7),
        "Sp": Accuracy(84.6, 0.0, 27.0),
        "Spp": Accuracy(84.7, 22.5, 28.9),
        "Malt-06": Accuracy(84.8, 27.5, 26.7),
        "MST-06": Accuracy(84.8, 62.5, 25.5),
        "MSTMalt": Accuracy(86.7, 60.0, 29.8),
    },
    "Slovene": {
        "Su": Accuracy(75.2, 23.0, 29.9),
        "Sp": Accuracy(74.2, 3.4, 29.9),
        "Spp": Accuracy(74.8, 20.7, 26.9),
        "Malt-06": Accuracy(70.3, 20.7, 19.7),
        "MST-06": Accuracy(73.4, 26.4, 20.9),
        "MSTMalt": Accuracy(75.9, 27.6, 26.6),
    },
    "Turkish": {
        "Su": Accuracy(64.9, 11.8, 21.5),
        "Sp": Accuracy(65.3, 6.6, 21.0),
        "Spp": Accuracy(65.5, 11.8, 20.7),
        "Malt-06": Accuracy(65.7, 9.2, 19.3),
        "MST-06": Accuracy(63.2, 11.8, 20.2),
        "MSTMalt": Accuracy(66.3, 9.2, 18.6),
    },
}

# Nivre 2009, section 4.1 and Figure 5: the oracle on the training set, the parser on the test set.
NIVRE2009_LINES = {
    "Arabic": {"oracle": Line(2.06, 0.97), "parser": Line(2.02, 0.98)},
    "Danish": {"oracle": Line(2.22, 0.85), "parser": Line(2.07, 0.96)},
}

# Nivre 2009, section 4.2: the languages for which Su has a better attachment score than Sp and Spp; for these also
# "there is no statistical difference between Su and MSTMalt, which are both significantly better than all the other
# parsers, except Spp for Czech", and on non-projective arcs "Su outperforms all other systems for Czech and is second
# only to the two MST parsers (MST-06 and MSTMalt) for Slovene".
NIVRE2009_BETTER = ("Czech", "Slovene")
NIVRE2009_EXCEPT = {"Czech": "spp"}
NIVRE2009_FIRST_CROSSING, NIVRE2009_SECOND_CROSSING = "Czech", "Slovene"

# There, of the other three: "the only significant differences in attachment score here are the positive differences
# between MSTMalt and all other systems for Arabic and Danish, and the negative difference between MST-06 and all other
# systems for Turkish"; on non-projective arcs "Su performs at least as well as Spp on Danish and Turkish".
NIVRE2009_COMBINED_BEST = ("Arabic", "Danish")
NIVRE2009_MST_WORST = "Turkish"
NIVRE2009_CROSSING_ALIKE = ("Danish", "Turkish")

NIVRE2007_FEATURES = 20  # "core set of 20 features", section 5

# Nivre 2007, section 2, after Nivre 2006: % of sentences of degree 0, at most 1, at most 2 ("about", "more than").
NIVRE2007_DEGREES = {"Czech": (77.0, 98.0, 99.5), "Danish": (85.0, 98.0, 99.5)}

# Nivre 2007, what its text says about its Tables 2 and 3 (whose cells we do not have), by language, in %.
NIVRE2007_ERROR_REDUCTION = {"Dutch": 35.0, "German": 20.0}  # "over"
NIVRE2007_TIME_REDUCTION = dict.fromkeys(("Dutch", "German", "Slovene"), 50.0)  # "about", at d = 1
NIVRE2007_TIME_LESS = ("Portuguese", "Danish")  # "significantly smaller"

# Shi & Lee 2018, Figure 1: % of 76,084 non-projective sentences of the training treebanks of UD 2.1, and the time of
# exact inference; and what its text gives for ALL.
SHI2018_SENTENCES = 76_084
SHI2018 = {"attardi": 87.24, "attardi-alldeg1": 93.32, "attardi-all": 95.99, "attardi-alls0s1": 93.16}
SHI2018_ALL_IN_TEXT = 95.54
SHI2018_TIMES = {
    "attardi": "O(n^7)",
    "attardi-alldeg1": "O(n^7)",
    "attardi-all": "O(n^7)",
    "attardi-alls0s1": "O(n^6)",
    "leftward": "O(n^4)",  # section 3.2
    "attardi, degree 3": "O(n^10)",  # O(n^(3D + 1)) for degree D, with the first two variants too: section 3.2
    "attardi-alldeg1, degree 3": "O(n^10)",
    "attardi-all, degree 3": "O(n^10)",
    "attardi-alls0s1, degree 3": "O(n^9)",  # O(n^(3D))
}


class Triple(NamedTuple):
    """Label accuracy, unlabelled and labelled attachment score."""

    la: float
    uas: float
    las: float


# Lacroix & Béchet 2014, Table 7: ten folds of the French CDG Treebank (3,030 sentences), without punctuation, SVM
# learner. three-step-column is row (3), with the treebank's own anchors; three-step row (4), with artificial ones.
LACROIX2014 = {
    "covnonproj": {
        "all": Triple(82.2, 85.5, 78.0),
        "projective": Triple(82.8, 86.2, 78.7),
        "nonprojective": Triple(68.7, 68.7, 62.7),
    },
    "pseudoproj": {
        "all": Triple(83.6, 85.9, 78.7),
        "projective": Triple(84.1, 87.0, 79.7),
        "nonprojective": Triple(73.5, 56.9, 53.5),
    },
    "three-step-column": {
        "all": Triple(83.7, 86.3, 79.1),
        "projective": Triple(84.1, 86.9, 79.6),
        "nonprojective": Triple(75.5, 70.2, 66.3),
    },
    "three-step": {
        "all": Triple(83.7, 86.2, 79.0),
        "projective": Triple(84.1, 86.9, 79.5),
        "nonprojective": Triple(75.5, 70.5, 66.7),
    },
}

LACROIX2014_LANGUAGE = "French"
LACROIX2014_LABELS = 6.8  # points of LA on non-projective arcs that three-step gains over covnonproj, section 5.3
LACROIX2014_SAME_ANCHORS = 90.9  # % of anchors that its two treebanks share, section 5.1
LACROIX2014_NONPROJECTIVE = 3.8  # % of its arcs that are non-projective, section 5.1

# Lacroix & Béchet 2014, section 5.3: LA and LAS of non-projective arcs of three-step, by direction.
LACROIX2014_DIRECTION = {"left": (84.2, 75.0), "right": (51.4, 42.7)}
