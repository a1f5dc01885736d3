"""Filters over sentences, against a twin that looks at everything."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_trees import arc_degrees_2007, is_nonprojective, random_heads
from tanglewood.derivation import trace
from tanglewood.errors import ConfigError, OracleError, TreeError
from tanglewood.measure.find import Filter
from tanglewood.systems import SYSTEMS
from toy import sentences_of, toy_sentences

FORMS = ["wug", "Wug", "dax", "STRASSE", "straße", "."]
LABELS = ["nsubj", "acl", "punct"]


def derives(system, tree):
    try:
        list(trace(tree, system))
    except OracleError:
        return False
    return True


def wanted(sentence, asked):
    """The twin: all that can be asked for is computed, and then compared."""
    tree = sentence.tree
    heads, labels = list(tree.heads[1:]), tree.labels[1:]
    crossing = [word for word in range(1, len(heads) + 1) if is_nonprojective(heads, word)]
    labelled = {labels[word - 1] for word in crossing} if asked.crossing else {*labels}
    where = [sentence.sent_id or "", sentence.text or " ".join(sentence.forms)]
    return all(
        [
            bool(crossing) or not asked.crossing,
            max(arc_degrees_2007(heads)) >= asked.degree,
            asked.not_covered_by == "" or not derives(asked.not_covered_by, tree),
            asked.label == "" or asked.label in labelled,
            any(asked.search.casefold() in text.casefold() for text in where),
            asked.form == "" or any(re.search(asked.form, form) for form in sentence.forms),
            asked.min_length <= len(heads) <= (len(heads) if asked.max_length is None else asked.max_length),
        ]
    )


@st.composite
def sentences(draw):
    heads = draw(random_heads(7, 1))
    comments = draw(st.sampled_from(["", "# sent_id = wug-7\n", "# text = Dax wug.\n", "# sent_id = x\n# text = W\n"]))
    rows = [
        f"{n}\t{draw(st.sampled_from(FORMS))}\t_\t_\t_\t_\t{head}\t{draw(st.sampled_from(LABELS))}\t_\t_\n"
        for n, head in enumerate(heads, 1)
    ]
    (sentence,) = sentences_of(f"{comments}{''.join(rows)}\n")
    return sentence


FILTERS = st.builds(
    Filter,
    crossing=st.booleans(),
    degree=st.integers(0, 2),
    not_covered_by=st.sampled_from(["", "arc-eager", "attardi", "planar", "two-planar", "swap"]),
    label=st.sampled_from(["", *LABELS, "no"]),
    search=st.sampled_from(["", "wug", "WUG-7", "strasse", "dax wug"]),
    form=st.sampled_from(["", "^w", "ug$", "(?i)^dax$", "[A-Z]{3}"]),
    min_length=st.integers(0, 3),
    max_length=st.none() | st.integers(3, 6),
)


@settings(deadline=None, max_examples=300)
@given(sentences(), FILTERS)
def test_a_filter_lets_through_what_its_slow_twin_does(sentence, asked):
    assert asked.passes(sentence) == wanted(sentence, asked)


@pytest.mark.parametrize(
    "asked",
    [
        *({"not_covered_by": system} for system in SYSTEMS),
        *({"crossing": True, "label": label} for label in ("", "acl", "obj", "root")),
        *({"degree": degree} for degree in range(3)),
        {"search": "TOY-1-7"},
        {"form": "^(zorps|krell)$"},
        {"min_length": 5, "max_length": 6},
    ],
    ids=str,
)
def test_the_toy_treebank_is_filtered_as_the_twin_does(asked):
    found = Filter(**asked)
    treebank = toy_sentences(40)
    assert [found.passes(sentence) for sentence in treebank] == [wanted(sentence, found) for sentence in treebank]


def test_what_is_known_of_the_systems_is_not_computed_again():
    crossing = next(sentence for sentence in toy_sentences(30) if not sentence.tree.is_projective())
    asked = Filter(not_covered_by="arc-eager")
    assert asked.passes(crossing)
    assert asked.passes(crossing, ["swap", "arc-eager"])
    assert not asked.passes(crossing, ["swap"])


def test_a_sentence_needs_a_tree_only_if_its_arcs_are_asked_for():
    (bare,) = sentences_of("1\twug\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdax\t_\t_\t_\t_\t_\t_\t_\t_\n\n", trees=False)
    assert Filter(form="dax", search="Wug dax", max_length=2).passes(bare)
    for asked in ({"crossing": True}, {"degree": 1}, {"not_covered_by": "swap"}):
        assert not Filter(**asked, search="no").passes(bare)  # what is cheaper says no before
        with pytest.raises(TreeError, match="no head"):
            Filter(**asked).passes(bare)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"not_covered_by": "no"}, "unknown system 'no'; choose from arc-standard"),
        ({"form": "("}, r"form '\(' is not a regular expression: missing \), unterminated subpattern at position 0"),
        ({"form": "(" * 5000}, "not a regular expression"),
        ({"form": "a{9" + "9" * 30 + "}"}, "not a regular expression"),
        ({"min_length": 5, "max_length": 4}, "at least 5 and at most 4 words"),
    ],
    ids=["system", "parenthesis", "deep", "many", "length"],
)
def test_a_filter_that_makes_no_sense_says_why(asked, said):
    with pytest.raises(ConfigError, match=said):
        Filter(**asked)
