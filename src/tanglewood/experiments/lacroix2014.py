"""Lacroix & Béchet 2014: the three-step system against Covington's and pseudo-projective arc-eager, by folds.

The whole treebank is dealt out into ten folds. Each is parsed by parsers trained on the nine others, with tags from a
tagger trained on the nine others (or gold tags). Anchors of three-step are artificial: where lifting puts a
non-projective dependent. Where the files have anchors of their own, a fourth parser learns from those.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any

from tanglewood.errors import FormatError, TreeError
from tanglewood.experiments.judging import (
    MARGIN,
    MARGIN_OF_FEW,
    OPEN,
    Finding,
    better,
    gain,
    interval,
    no_worse,
    sized,
    together,
)
from tanglewood.experiments.markdown import data_table, learner_note, number, p_value, table, whole
from tanglewood.experiments.published import (
    LACROIX2014,
    LACROIX2014_DIRECTION,
    LACROIX2014_LABELS,
    LACROIX2014_LANGUAGE,
    LACROIX2014_NONPROJECTIVE,
    LACROIX2014_SAME_ANCHORS,
    language_of,
)
from tanglewood.experiments.running import (
    FROM_PYTHON,
    LINEAR,
    OLDER,
    Data,
    Learning,
    Run,
    Say,
    Step,
    Treebank,
    as_data,
    comparisons,
    mcnemar_of,
    options_of,
    parse,
    quiet,
    score,
    statistics,
    train,
)
from tanglewood.experiments.sharing import ALONE, Sharing
from tanglewood.measure.significance import measure
from tanglewood.measure.tables import GROUPS
from tanglewood.text.batches import with_tags
from tanglewood.text.tagger import TaggerOptions, tag_scores, train_tagger
from tanglewood.training.folds import deal_out
from tanglewood.transforms.pseudo_projective import lifted
from tanglewood.treebank.sentence import DEPS, Sentence
from tanglewood.treebank.tree import Tree

PAPER = "lacroix2014"
FEATURES = "lacroix2014"  # feature model (Table 6), for all learners that can have one
SYSTEMS: dict[str, dict[str, Any]] = {
    "covnonproj": {"system": "covington", "oracle": "static", "options": {"every_pair": True}},
    "pseudoproj": {"system": "arc-eager", "oracle": "static", "pseudo_projective": "path"},
    "three-step": {"system": "three-step"},
}
OWN = "three-step-column"  # three-step with anchors from a column
PHEAD = "PHEAD"  # the ninth column of CoNLL-X, the head in a projective tree
OTHERS = ("covnonproj", "pseudoproj")
TAGGING = 10.0  # about how many times longer a tagger takes to train than a parser
WITHIN = 2.0  # points by which a size may differ from the paper's
ARCS = {"all": "", "projective": "projective_", "nonprojective": "nonprojective_"}


def run(
    treebank: Treebank,
    folder: Path,
    learning: Learning = LINEAR,
    *,
    folds: int = 10,
    gold_tags: bool = False,
    tagger_epochs: int = 0,
    anchors: str = "",
    command: str = FROM_PYTHON,
    say: Say = quiet,
    sharing: Sharing = ALONE,
) -> Data:
    """Run the experiment, or what is left of it; ``anchors``: PHEAD or a key of MISC, for a row with those anchors."""
    learning = learning.as_in_paper(FEATURES, always=True)
    chosen = {"folds": folds, "gold_tags": gold_tags, "tagger_epochs": tagger_epochs, "anchors": anchors}
    options = options_of(command, treebank, learning, **chosen)
    sentences = [sentence for part in treebank.parts.values() for sentence in part]
    own = [anchors_of(sentence, anchors) for sentence in sentences] if anchors else []
    systems = {**SYSTEMS, **({OWN: SYSTEMS["three-step"]} if anchors else {})}
    dealt = list(deal_out(sentences, folds, learning.seed))
    kinds = {**({} if gold_tags else {"tags": TAGGING}), **dict.fromkeys(systems, 1.0)}
    parts = {f"{kind}-{fold}": size for fold in range(1, folds + 1) for kind, size in kinds.items()}
    needs = {f"{system}-{fold}": [f"tags-{fold}"] for fold in range(1, folds + 1) for system in systems}
    running = Run(folder, options, parts, say, treebank.suffix, sharing, {} if gold_tags else needs)

    def tag(held: list[Sentence], rest: list[Sentence], name: str, step: Step) -> Data:
        for progress in train_tagger(rest, (), TaggerOptions(epochs=tagger_epochs), learning.seed):
            step(0.9 * progress.epoch / progress.epochs, f"epoch {progress.epoch} of {progress.epochs}")
        tags = progress.tagger.worker().tag([sentence.forms for sentence in held])
        found = (with_tags(sentence, tag, replaced=True) for sentence, tag in zip(held, tags, strict=True))
        running.keep(name, found)
        words = sum(map(len, held))
        return {"words": words, "upos": round(tag_scores(held, tags).upos, 4)}

    def make(held: list[Sentence], others: list[int], system: str, name: str, step: Step) -> Data:
        rest = [sentences[place] for place in others]
        given = [own[place] for place in others] if system == OWN else []
        parser = train(learning.config(**systems[system]), rest, (), step, given)
        running.keep(name, parse(parser, held).sentences)
        return {"epoch": parser.description["epoch"]}

    gold: list[Sentence] = []
    parsed: dict[str, list[Sentence]] = {name: [] for name in systems}
    tagged: list[Data] = []
    for fold, (places, others) in enumerate(dealt, 1):
        held = [sentences[place] for place in places]
        rest = [sentences[place] for place in others]
        gold += held
        if not gold_tags:
            name = f"tags-{fold}"
            tagged.append(running.part(name, partial(tag, held, rest, name)))
            held = running.kept(name)
        for system in systems:
            name = f"{system}-{fold}"
            running.part(name, partial(make, held, others, system, name))
            parsed[system] += running.kept(name)
    results: Data = {
        "paper": PAPER,
        "date": running.date(),
        "options": running.options,
        "data": {"all files": statistics(sentences)},
        "same_anchors": same_anchors(sentences, own) if own else None,
        "tagging": None
        if gold_tags
        else round(sum(part["upos"] * part["words"] for part in tagged) / sum(part["words"] for part in tagged), 4),
        **score(gold, parsed),
        "left_minus_right": as_data(measure(_by_side(gold, parsed["three-step"], "non-projective"), _left_minus_right)),
        "projective_left_minus_right": as_data(
            measure(_by_side(gold, parsed["three-step"], "projective"), _left_minus_right)
        ),
        "labels_by_side": {
            side: as_data(measure(rows, lambda sums: 100 * sums[1] / sums[0] if sums[0] else None))
            for side, rows in _labels_by_side(gold, parsed["three-step"]).items()
        },
        "labels_gained": as_data(
            measure(
                [
                    (one[0], one[1], other[1])
                    for one, other in zip(
                        _labels(gold, parsed["three-step"]), _labels(gold, parsed["covnonproj"]), strict=True
                    )
                ],
                lambda sums: 100 * (sums[1] - sums[2]) / sums[0] if sums[0] else None,
            )
        ),
    }
    return running.close(results, report(results))


def anchors_of(sentence: Sentence, column: str) -> list[int]:
    """Return the anchors of a sentence, indexed by node: PHEAD of CoNLL-X, or a key of MISC; else a word's own head.

    They have to form a projective tree.
    """
    given = sentence.column(DEPS) if column == PHEAD else [_value(misc, column) for misc in sentence.misc]
    heads = [int(text) if text.isdecimal() else head for text, head in zip(given, sentence.heads()[1:], strict=True)]
    for word, text in enumerate(given, 1):
        if text != "_" and not text.isdecimal():
            problem = f"word {word}: {column} is {text!r}; it should be the number of a word, or 0"
            raise FormatError(problem, file=sentence.file, line=sentence.line_of(word), sent_id=sentence.sent_id)
    try:
        if Tree(heads).is_projective():
            return [-1, *heads]
        problem = "they cross"
    except TreeError as error:
        problem = str(error)
    raise TreeError(
        f"the anchors in {column}, {' '.join(map(str, heads))}, should form a projective tree, but {problem}",
        file=sentence.file,
        line=sentence.line,
        sent_id=sentence.sent_id,
    )


def _value(misc: str, key: str) -> str:
    """Return the value of a key of MISC, or _ if it is not there."""
    return next((item[len(key) + 1 :] for item in misc.split("|") if item.startswith(f"{key}=")), "_")


def same_anchors(sentences: Sequence[Sentence], anchors: Sequence[Sequence[int]]) -> float | None:
    """Return how many of the anchors of non-projective arcs in a hundred are the ones that projectivization makes."""
    same = words = 0
    for sentence, given in zip(sentences, anchors, strict=True):
        tree = sentence.tree
        made = lifted(tree).heads
        crossing = [word for word in range(1, len(given)) if made[word] != tree.heads[word]]
        words += len(crossing)
        same += sum(made[word] == given[word] for word in crossing)
    return round(100 * same / words, 4) if words else None


def _by_side(gold: Sequence[Sentence], parsed: Sequence[Sentence], kind: str) -> list[tuple[int, ...]]:
    """Return for each sentence the arcs of a kind to the left, how many are correct, and the same to the right."""
    rows = []
    for found in comparisons(gold, parsed):
        groups = found.select(GROUPS["crossing"](found.gold))
        row = []
        for side in ("left", "right"):
            right = [arc for group, arc in zip(groups, found.arc_right, strict=True) if group == f"{kind} {side}"]
            row += [len(right), sum(right)]
        rows.append(tuple(row))
    return rows


def _labels_by_side(gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> dict[str, list[tuple[int, int]]]:
    """Return by side, for each sentence, the non-projective arcs there and how many of them have the right label."""
    rows: dict[str, list[tuple[int, int]]] = {side: [] for side in LACROIX2014_DIRECTION}
    for found in comparisons(gold, parsed):
        groups = found.select(GROUPS["crossing"](found.gold))
        for side, row in rows.items():
            wanted = [group == f"non-projective {side}" for group in groups]
            row.append((sum(wanted), sum(compress(found.label_right, wanted))))
    return rows


def _left_minus_right(sums: Sequence[int]) -> float | None:
    left, left_right, right, right_right = sums
    return 100 * (left_right / left - right_right / right) if left and right else None


def _labels(gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> list[tuple[int, int]]:
    """Return for each sentence the non-projective arcs, and how many of them have the right label."""
    rows = []
    for found in comparisons(gold, parsed):
        right = list(compress(found.label_right, found.gold_crossing))
        rows.append((len(right), sum(right)))
    return rows


def findings(results: Data) -> list[Finding]:
    """Return what the paper found, and the verdict on it."""
    known = results["scores"]["three-step"]["nonprojective_gold"]
    arcs = f"of {known:,} arcs: "
    crossing = {name: mcnemar_of(results, "three-step", name, "nonprojective_las") for name in OTHERS}
    plain = {name: mcnemar_of(results, "three-step", name, "projective_las") for name in OTHERS}
    labels = mcnemar_of(results, "three-step", "covnonproj", "nonprojective_la")
    gained, sides = results["labels_gained"], results["left_minus_right"]
    french = language_of(results["options"]["treebank"]) == LACROIX2014_LANGUAGE
    return [
        Finding(
            "three-step is better on non-projective arcs than covnonproj and pseudoproj (LAS)",
            together([better(test) for test in crossing.values()]) if known else OPEN,
            arcs + _against(results, "nonprojective_las", crossing),
        ),
        Finding(
            "three-step has the better labels on non-projective arcs than covnonproj (LA)",
            better(labels) if known else OPEN,
            arcs + _against(results, "nonprojective_la", {"covnonproj": labels}),
        ),
        Finding(
            f"and that by {LACROIX2014_LABELS} points for {LACROIX2014_LANGUAGE} (within {WITHIN:.0f})",
            sized(gained, LACROIX2014_LABELS - WITHIN, LACROIX2014_LABELS + WITHIN) if french else OPEN,
            ("" if french else f"the paper has {LACROIX2014_LANGUAGE} only; ") + interval(gained),
        ),
        Finding(
            "three-step is better on projective arcs than covnonproj (LAS)",
            better(plain["covnonproj"]),
            _against(results, "projective_las", {"covnonproj": plain["covnonproj"]}),
        ),
        Finding(
            "three-step is as good on projective arcs as pseudoproj: not significantly worse (LAS, within "
            f"{MARGIN:.0f} point)",
            no_worse(plain["pseudoproj"]),
            _against(results, "projective_las", {"pseudoproj": plain["pseudoproj"]})
            + f"; difference {interval(gain(plain['pseudoproj']), 2)}",
        ),
        Finding(
            "left non-projective arcs are found more often than right ones (three-step, LAS)",
            sized(sides, 0),
            f"{number(_group(results, 'three-step', 'non-projective left')['las'])} against "
            f"{number(_group(results, 'three-step', 'non-projective right')['las'])}, difference {interval(sides)}",
        ),
        _projective_sides(results),
        _label_sizes(results, french=french),
        _own_anchors(results),
    ]


def _projective_sides(results: Data) -> Finding:
    """Judge section 5.3: "even the right projective dependencies always achieve lower scores than the left" ones."""
    sides = results.get("projective_left_minus_right")
    left, right = (number(_group(results, "three-step", f"projective {side}")["las"]) for side in ("left", "right"))
    return Finding(
        "left projective arcs are found more often than right ones, too (three-step, LAS)",
        sized(sides, 0),
        f"{left} against {right}, " + (f"difference {interval(sides)}" if sides else f"its interval is {OLDER}"),
    )


def _label_sizes(results: Data, *, french: bool) -> Finding:
    """Judge the sizes of section 5.3.

    "Only 51.4% of the words associated with a right non-projective dependency receive the correct label (LA), compared
    with 84.2% for those associated with left non-projective dependencies."
    """
    ours = results.get("labels_by_side", {})
    theirs = {side: label for side, (label, _) in LACROIX2014_DIRECTION.items()}
    text = "; ".join(
        f"{side} " + (interval(ours[side]) if side in ours else f"{number(plain)} (its interval is {OLDER})")
        for side in theirs
        for plain in [_group(results, "three-step", f"non-projective {side}")["la"]]
    )
    return Finding(
        f"labels of non-projective arcs: {' and '.join(f'{label} ({side})' for side, label in theirs.items())} for "
        f"{LACROIX2014_LANGUAGE} (three-step, LA, within {WITHIN:.0f})",
        together([sized(ours.get(side), label - WITHIN, label + WITHIN) for side, label in theirs.items()])
        if french
        else OPEN,
        ("" if french else f"the paper has {LACROIX2014_LANGUAGE} only; ") + text,
    )


def _own_anchors(results: Data) -> Finding:
    claim = (
        "artificial anchors are as good as the treebank's own: not significantly worse (LAS, within "
        f"{MARGIN:.0f} point, on non-projective arcs {MARGIN_OF_FEW:.0f})"
    )
    if OWN not in results["scores"]:
        return Finding(claim, OPEN, "the files have no anchors of their own, or were not asked for them (`--anchors`)")
    margins = {"las": MARGIN, "nonprojective_las": MARGIN_OF_FEW}
    tests = {key: mcnemar_of(results, "three-step", OWN, key) for key in margins}
    evidence = [
        f"{_against(results, key, {OWN: test})}, difference {interval(gain(test), 2)}" for key, test in tests.items()
    ]
    text = f"all arcs: {evidence[0]}; non-projective ones: {evidence[1]}"
    return Finding(claim, together([no_worse(test, margins[key]) for key, test in tests.items()]), text)


def _against(results: Data, key: str, tests: dict[str, Data]) -> str:
    scores = results["scores"]
    return f"{number(scores['three-step'][key])} against " + ", ".join(
        f"{number(scores[name][key])} ({name}, {p_value(test, 'p')})" for name, test in tests.items()
    )


def _group(results: Data, system: str, group: str) -> Data:
    """Return the scores of a group of arcs; without arcs there are none."""
    found: Data = results["by_crossing"][system].get(group, {"gold": 0, "la": None, "uas": None, "las": None})
    return found


def report(results: Data) -> str:
    """Return the report of the results."""
    options = results["options"]
    keys = ("la", "uas", "las")
    header = ["system", *(f"{arcs} {key.upper()}" for arcs in ("all", "proj.", "non-proj.") for key in keys)]
    ours = [
        [f"**{name}**", *(number(found[f"{prefix}{key}"]) for prefix in ARCS.values() for key in keys)]
        for name, found in results["scores"].items()
    ]
    theirs: list[list[object]] = [
        [f"{name}, paper", *(value for arcs in ARCS for value in published[arcs])]
        for name, published in LACROIX2014.items()
        if name in SYSTEMS or name in results["scores"]
    ]
    gold = results["scores"]["three-step"]
    accuracy = (
        "Label accuracy (LA), unlabelled (UAS) and labelled attachment score (LAS) without punctuation, on all arcs "
        f"({gold['words']:,}), those that are projective in gold, and those that are not "
        f"({gold['nonprojective_gold']:,}). Below ours the rows (1), (2) and (4) of the paper's Table 7, on French; "
        "with anchors from a column (`--anchors`) also row (3).\n\n"
        + table(header, [*ours, *theirs])
        + "\nMcNemar's test on labelled attachment: "
        + "; ".join(
            f"{one} and {other}: {p_value(mcnemar_of(results, one, other, 'las'))}"
            for one, other in (("three-step", "covnonproj"), ("three-step", "pseudoproj"), ("covnonproj", "pseudoproj"))
        )
        + "."
    )
    rows: list[list[object]] = []
    for kind in ("projective", "non-projective"):
        for side in ("left", "right"):
            for name in results["scores"]:
                found = _group(results, name, f"{kind} {side}")
                paper = LACROIX2014_DIRECTION[side] if kind == "non-projective" and name == "three-step" else None
                rows.append(
                    [
                        f"{kind}, {side}",
                        name,
                        found["gold"],
                        *(number(found[key]) for key in keys),
                        *(paper or ("-", "-")),
                    ]
                )
    direction = (
        "An arc is a left one if its dependent stands left of its head. Arcs from 0 have no direction and are left out "
        "here. The paper's numbers: section 5.3.\n\n"
        + table(["arcs", "system", "number", "LA", "UAS", "LAS", "paper: LA", "paper: LAS"], rows)
    )
    sections = [
        ("Data", data_table(results["data"])),
        ("Accuracy (Table 7)", accuracy),
        ("By direction", direction),
        ("Differences from the paper", _differences(results)),
    ]
    return whole(results, options["treebank"], sections, findings(results))


def _differences(results: Data) -> str:
    options = results["options"]
    tags = (
        "gold tags in the test folds too (`--gold-tags`), where the paper has a tagger's"
        if results["tagging"] is None
        else f"test folds are tagged by our tagger, learnt from the other folds ({number(results['tagging'], 2)}% of "
        "UPOS right; lemmas and features are its too), where the paper has MElt; training folds keep gold tags"
    )
    return "\n".join(
        [
            f"- The data: the paper has the French CDG Treebank, {LACROIX2014_NONPROJECTIVE}% of whose arcs are "
            "non-projective, which is not public; here all files of the treebank together.",
            f"- Tags: {tags}.",
            learner_note(options, "SVMs, those of MaltParser for the first step")
            + " It learns all steps of all systems; the last epoch is kept."
            + (
                " Features are those of Table 6 for the two passes of three-step, those of MaltParser's NivreEager.xml "
                "elsewhere."
                if options["settings"].get("features") == FEATURES
                else ""
            ),
            "- Anchors are artificial, as in the paper's row (4); pseudoproj has the encoding `path`, as in the paper."
            + (
                ""
                if results["same_anchors"] is None
                else f" {OWN} learns from those in {options['anchors']}, of which {number(results['same_anchors'])}% "
                f"are the same as the artificial ones (paper: {LACROIX2014_SAME_ANCHORS}%)."
            ),
            "- covnonproj looks at every pair of words, as MaltParser's does unless told otherwise."
            + (
                " It has the features of the first step of three-step; MaltParser's default model for it also has the "
                "label of the buffer's front and the tags of two nodes in between."
                if options["settings"].get("features") == FEATURES
                else ""
            ),
            f"- {options['folds']} folds, dealt out at random by the seed {options['seed']}.",
        ]
    )
