"""Labels, tags and the rule about the root label, against what the words of the rule say."""

from itertools import product

import pytest

from tanglewood.core.actions import Actions, LabelNumbers
from tanglewood.errors import ModelError
from tanglewood.systems import make_system
from tanglewood.treebank import Tree

TREES = [Tree([2, 0, 2], ["nsubj", "root", "obj"]), Tree([0, 1], ["root", "obj"])]


def test_labels_are_sorted_and_the_root_label_is_that_of_all_arcs_from_0_and_of_no_other():
    actions = Actions.of(make_system("swap"), TREES, ["NOUN", "ADJ", "NOUN"])
    assert actions.labels == ["nsubj", "obj", "root"]
    assert actions.labels[actions.root_label] == "root"
    assert actions.tags == ["ADJ", "NOUN"]
    assert actions.n_labels == 3


@pytest.mark.parametrize(
    "odd", [Tree([0, 1], ["dep", "obj"]), Tree([0, 1], ["root", "root"])], ids=["two from 0", "elsewhere too"]
)
def test_there_is_no_root_label_where_the_trees_do_not_keep_to_it(odd):
    assert Actions.of(make_system("swap"), [*TREES, odd]).root_label == -1


@pytest.mark.parametrize("root_label", [-1, 1])
def test_a_move_is_settled_exactly_where_its_arc_comes_from_0_and_there_is_a_root_label(root_label):
    system = make_system("swap")
    actions = Actions(system, ["a", "root", "b"], root_label)
    s = system.start(2)
    system.apply(s, 0)
    for move in range(system.n_moves):
        assert actions.is_root_arc(s, move) == (root_label >= 0 and system.arc(s, move)[0] == 0)


def test_numbers_and_names_go_together():
    actions = Actions(make_system("joint-swap"), ["a", "b"], -1, ["X", "Y", "Z"])
    assert actions.n_labels == 3
    assert actions.label_numbers(Tree([0, 1], ["b", "new"])) == [-1, 1, -1]
    assert actions.tag_numbers(["Z", "?"]) == [-1, 2, -1]
    shift, left_arc, swap = (
        next(number for number, move in enumerate(actions.system.moves) if move.name == name)
        for name in ("SHIFT", "LEFT-ARC", "SWAP")
    )
    names = {
        (move, number): actions.name(move, number) for move, number in product((shift, left_arc, swap), (-1, 1, 2))
    }
    assert names == {
        **{(shift, -1): None, (shift, 1): "Y", (shift, 2): "Z"},
        **{(left_arc, -1): None, (left_arc, 1): "b", (left_arc, 2): None},
        **{(swap, -1): None, (swap, 1): None, (swap, 2): None},
    }


def test_words_without_a_label_get_the_root_label_on_0_and_dep_elsewhere():
    assert Actions(make_system("planar"), ["a", "r"], 1).tree([0, 1], [-1, -1]).labels == ["", "r", "dep"]
    assert Actions(make_system("planar"), ["a"]).tree([0, 1], [-1, 0]).labels == ["", "root", "a"]


def test_settings_bring_them_back_and_a_root_label_out_of_range_is_refused():
    system = make_system("joint-swap")
    actions = Actions(system, ["a", "root"], 1, ["X"])
    again = Actions.load(system, actions.settings())
    assert (again.labels, again.root_label, again.tags) == (["a", "root"], 1, ["X"])
    with pytest.raises(ModelError, match="root label 2 is none of its 2 labels"):
        Actions.load(system, {**actions.settings(), "root_label": 2})


def test_labels_are_numbered_as_they_come():
    numbers = LabelNumbers()
    assert [numbers.of(tree) for tree in TREES] == [[-1, 0, 1, 2], [-1, 1, 2]]
