"""The feature models of the papers, for any system: `--set features=nivre2006` and so on.

They are written with the papers' names for the nodes: i and j are the two nodes that the next arc may join, i the left
one; below is the node under i on the stack; ahead1, ahead2, ahead3 are the words after j. A system says which addresses
these are (its phases' nodes, core/system.py). Where arcs join the stack's top and the buffer's front i is s0 and j is
b0, as in the papers. Where they join the two topmost nodes of the stack i is s1, j is s0, and what is ahead begins with
u0, the first word that was never on the stack: the way MaltParser's models for its stack systems differ from those for
arc-eager. A feature may be for systems of one sort only: front, stack, or swap, where b0 may be a word that was put
back (MaltParser's Input[0]).

cpos and pos are CPOSTAG and POSTAG of CoNLL-X. In CoNLL-U they are UPOS and XPOS; where most words have no XPOS, or it
has more values than tagsets of the time had, pos is UPOS and there is no cpos. Columns without any value are left out
("if available").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from tanglewood.core.system import TransitionSystem
from tanglewood.errors import ConfigError
from tanglewood.learners.templates import STEPS, Templates, step_of, template_lines
from tanglewood.ml.words import OPTIONAL, words_of
from tanglewood.treebank.sentence import Sentence

MOST_TAGS = 100  # different XPOS that still count as parts of speech; most tagsets of CoNLL-X have fewer

# Nivre et al. 2006 (CoNLL-X), the features that all languages share: 20 of them, stated for arc-eager; Nivre 2009 takes
# "features and parameters" from there without repeating them, so this list is from the literature around it and was
# not checked against the paper's own table. Additions tuned for single languages are not part of it. FEATS are taken
# apart at "|". In a stack system i has neither head nor label (it would have left the stack), so these two features are
# left out; but j, which has no dependents to its right in arc-eager, may have some.
NIVRE_2006 = """
    i.form, i.lemma, i.cpos, i.pos, i.feats
    j.form, j.lemma, j.cpos, j.pos, j.feats
    below.pos, ahead1.form, ahead1.pos, ahead2.pos, ahead3.pos
    i.left1.label, i.right1.label, j.left1.label
    front: i.label, front: i.head.form
    stack: j.right1.label, swap: b0.pos
"""

# Nivre 2007, section 5: the core set, 22 features by count, though the paper says 20, for covington. c0 and c1 are k
# and k - 1, the two topmost nodes of the context stack. In a stack system nothing between i and j is without a head.
NIVRE_2007 = """
    i.form, j.form, ahead1.form
    i.lemma
    i.previous.pos, i.pos, j.pos, ahead1.pos, ahead2.pos
    i.cpos, j.cpos
    i.feats, j.feats
    i.left1.label, j.left1.label, i.right1.label
    front: i.head.form, front: c0.pos, front: c1.pos, front: c0.cpos, front: i.label, front: j.label
    stack: j.right1.label
"""

# Lacroix & Béchet 2014. For the first step "classical features", by MaltParser with nivreeager: those of its model
# NivreEager.xml for LIBSVM. For the two passes Table 6: forms at i-1..i+1 and of the anchor's head, tags at i-2..i+2
# and of that head, the label of the anchor (the table's lj may also be read as that head's own label), the labels of
# that head's dependents on the side of the pass, and which labels have an open valency; here the word in question is j,
# as it is at the front of the buffer.
LACROIX_2014 = """
    first:i.form, first:j.form, first:ahead1.form
    first:below.pos, first:i.pos, first:j.pos, first:ahead1.pos, first:ahead2.pos, first:ahead3.pos
    first:i.left1.label, first:i.right1.label, first:j.left1.label
    front: first:i.label, front: first:i.head.form
    stack: first:j.right1.label
    later:j.previous.form, later:j.form, later:j.next.form, later:j.head.form
    later:j.previous.previous.pos, later:j.previous.pos, later:j.pos, later:j.next.pos, later:j.next.next.pos
    later:j.head.pos
    later:j.label, later:j.head.sidelabels, later:valencies
"""

FEATURE_MODELS = {
    "nivre2006": template_lines(NIVRE_2006),
    "nivre2007": template_lines(NIVRE_2007),
    "lacroix2014": template_lines(LACROIX_2014),
}


def feature_templates(name: str, system: TransitionSystem, sentences: Sequence[Sentence]) -> list[str]:
    """Return a feature model as templates for moves of this system, with the columns that the training data have."""
    if name not in FEATURE_MODELS:
        raise ConfigError(f"unknown feature model {name!r}; choose from {', '.join(FEATURE_MODELS)}")
    return resolve(FEATURE_MODELS[name], system, sentences)


def resolve(templates: Sequence[str], system: TransitionSystem, sentences: Sequence[Sentence]) -> list[str]:
    """Return templates with the papers' names for nodes replaced by addresses."""
    columns = _columns(sentences)
    first, *later = system.phases
    places = {"", "front"} if first.joins_front else {"", "stack", "swap"} if system.puts_back else {"", "stack"}
    found = []
    for text in templates:
        place, _, rest = text.rpartition(": ")
        if place not in places:
            continue
        step, atoms = step_of(rest)
        if step == 2 and not later:
            continue
        nodes = later[0].nodes if step == 2 else first.nodes
        parts = [_atom(atom, nodes, columns) for atom in atoms.split()]
        if all(parts):
            found.append((STEPS[step - 1] if step and later else "") + " ".join(parts))
    return found


def _columns(sentences: Sequence[Sentence]) -> dict[str, str]:
    """Return our names for the columns of the papers, with "" for those that the data do not have."""
    words = {word for sentence in sentences for word in words_of(sentence)}
    present = {name.lower(): any(word[at] != "_" for word in words) for at, name in enumerate(OPTIONAL, 1)}
    columns = {name: name if there else "" for name, there in present.items()}
    # A single stray XPOS is no tagset: if the svm split its data by it, nearly all would be one part.
    tagged = [word[3] for word in words if word[3] != "_"]
    has_tags = len(tagged) > len(words) / 2 and len(set(tagged)) <= MOST_TAGS
    return columns | {"pos": "xpos" if has_tags else "upos", "cpos": columns["upos"] if has_tags else ""}


def _atom(atom: str, nodes: Mapping[str, str], columns: Mapping[str, str]) -> str:
    """Return an atom with an address instead of the paper's name for a node; "" if its column is missing."""
    start, *steps = atom.split(".")
    if not steps:
        return atom
    attribute = columns.get(steps[-1], steps[-1])
    return ".".join([nodes.get(start, start), *steps[:-1], attribute]) if attribute else ""


def with_pairs(templates: Sequence[str]) -> list[str]:
    """Add all pairs of templates of the same step: the space of the quadratic kernel, spelt out for linear learners."""
    pairs = []
    for one, other in combinations(templates, 2):
        (step, first), (other_step, second) = step_of(one), step_of(other)
        if step == other_step:
            pairs.append((STEPS[step - 1] if step else "") + f"{first} {second}")
    return [*templates, *pairs]


def linear_templates(name: str, system: TransitionSystem, sentences: Sequence[Sentence]) -> Templates:
    """Return a feature model, with its pairs, for a learner that scores moves first and then labels."""
    found = tuple(with_pairs(feature_templates(name, system, sentences)))
    return Templates(found, found)
