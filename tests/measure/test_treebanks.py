"""Counting whole treebanks: `stats` and `coverage`, from files, open files and sentences alike."""

from __future__ import annotations

import pytest

import tanglewood
from tanglewood.errors import ConfigError, TreeError
from tanglewood.measure.coverage import Coverage, coverage
from tanglewood.measure.stats import TreebankStats, stats
from tanglewood.systems import SYSTEMS, make_system
from tanglewood.treebank.doc import Doc
from toy import sentences_of, toy_sentences, toy_text


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "toy.conllu"
    path.write_text(toy_text(30))
    return path


def sources(path):
    """The same treebank in every shape."""
    sentences = toy_sentences(30)
    return [path, str(path), path.open("rb"), sentences, iter(sentences), Doc("", sentences)]


def test_a_treebank_is_counted_wherever_it_is(path):
    by_hand = TreebankStats()
    for sentence in toy_sentences(30):
        by_hand.add(sentence)
    for source in sources(path):
        assert stats(source) == by_hand
        if hasattr(source, "close"):
            source.close()
    assert by_hand.sentences == 30
    assert 0 < by_hand.nonprojective_sentences < 30


def test_the_most_crossing_sentences_are_kept_if_asked_for(path):
    assert stats(path).worst == []
    worst = stats(path, worst=3).worst
    assert len(worst) == 3
    assert min(worst).crossing_pairs > 0


def test_counts_say_what_they_counted(path):
    counts = stats(path)
    crossing, words, arcs = counts.nonprojective_sentences, counts.words, counts.nonprojective_arcs
    assert repr(counts) == (
        f"<TreebankStats of 30 sentences, {words} words: {crossing} sentences ({crossing / 30:.2%})"
        f" and {arcs} arcs ({arcs / words:.2%}) non-projective>"
    )
    assert repr(stats([])).startswith("<TreebankStats of 0 sentences, 0 words: 0 sentences (0.00%)")
    covered = coverage(path, ["swap", "arc-eager"])
    assert repr(covered) == (
        f"<Coverage of 30 trees ({crossing} non-projective): swap 30 ({crossing}), arc-eager {30 - crossing} (0)>"
    )


def test_systems_are_given_by_name_made_or_with_names_of_their_own(path):
    by_hand = Coverage({name: make_system(name) for name in ("swap", "attardi")})
    for sentence in toy_sentences(30):
        by_hand.add(sentence.tree)
    for source in sources(path):
        assert coverage(source, systems=["swap", "attardi"]).as_dict() == by_hand.as_dict()
        if hasattr(source, "close"):
            source.close()
    assert coverage(path, ["swap", make_system("attardi")]).as_dict() == by_hand.as_dict()
    assert coverage(path, "swap").covered == {"swap": 30}
    assert coverage(path, make_system("swap")).covered == {"swap": 30}
    assert [*coverage(path).covered] == [*SYSTEMS]
    named = coverage(path, {"narrow": make_system("covington", max_degree=0), "wide": make_system("covington")})
    assert named.covered["narrow"] < named.covered["wide"] == 30


def test_a_tree_that_is_added_says_who_does_not_cover_it():
    counts = Coverage({name: make_system(name) for name in ("arc-eager", "swap", "planar")})
    trees = [sentence.tree for sentence in toy_sentences(30)]
    uncovered = [counts.add(tree) for tree in trees]
    assert all(("arc-eager" in names) != tree.is_projective() for names, tree in zip(uncovered, trees, strict=True))
    for name, covered in counts.covered.items():
        assert covered == 30 - sum(name in names for names in uncovered)


def test_what_cannot_be_counted_is_refused(path):
    for count in (stats, coverage):
        with pytest.raises(
            TypeError, match=r"None \(NoneType\) was given; it should be a path, .* an iterable of sentences"
        ):
            count(None)
        with pytest.raises(TypeError, match=r"5 \(int\) was given among the sentences"):
            count([5])
        with pytest.raises(TreeError, match="has no head"):
            count(sentences_of("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n", trees=False))
    with pytest.raises(ConfigError, match="unknown system 'swop'"):
        coverage(path, ["swop"])
    with pytest.raises(ConfigError, match="swap is there twice; a mapping can give each a name of its own"):
        coverage(path, ["swap", make_system("swap")])
    with pytest.raises(TypeError, match=r"should be a name or a TransitionSystem, not 5 \(int\)"):
        coverage(path, [5])


def test_the_package_has_them_under_their_names():
    assert tanglewood.stats is stats
    assert tanglewood.coverage is coverage
