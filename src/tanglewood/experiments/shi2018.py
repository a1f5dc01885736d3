"""Shi & Lee 2018: how many non-projective trees the Attardi family covers, and its oracle checked by its chart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tanglewood.decoders.base import score_table
from tanglewood.decoders.exact import ExactDecoder
from tanglewood.errors import ConfigError
from tanglewood.experiments.judging import OPEN, Finding, better, together, true
from tanglewood.experiments.markdown import number, p_value, table, whole
from tanglewood.experiments.published import SHI2018, SHI2018_ALL_IN_TEXT, SHI2018_SENTENCES, SHI2018_TIMES
from tanglewood.experiments.running import FROM_PYTHON, Data, Run, Say, Step, described, quiet
from tanglewood.experiments.sharing import ALONE, Sharing
from tanglewood.measure.coverage import Coverage
from tanglewood.measure.significance import McNemar
from tanglewood.systems.attardi import Attardi, AttardiAll, AttardiAllDeg1, AttardiAllS0S1, name_of
from tanglewood.treebank.conllu import read
from tanglewood.treebank.tree import Tree

PAPER = "shi2018"
FAMILY = (Attardi, AttardiAllDeg1, AttardiAll, AttardiAllS0S1)
LEFTWARD = "s0>s1,s1>s0,b0>s1"  # section 3.2
HIGHER = 3
LONGEST = 10  # most words of a sentence that the charts check
CHECKED = ("sentences", "nonprojective", "oracle", "chart", "disagree")
COMPARED = (  # the first should cover more than the second
    ("attardi-alldeg1", "attardi"),
    ("attardi-alls0s1", "attardi"),
    ("attardi-all", "attardi-alldeg1"),
    ("attardi-all", "attardi-alls0s1"),
    ("attardi", "leftward"),
)
DIRECTIONS = ("left", "right", "both")  # where the non-projective arcs of a tree go
COUNTEREXAMPLE = (4, 4, 1, 0)  # heads of a tree with one non-projective arc, to the right, that `leftward` derives


def systems() -> dict[str, Attardi]:
    """Return the systems of Figure 1, the leftward one of section 3.2, and the family at the next degree."""
    return {
        **{kind.name: kind() for kind in FAMILY},
        "leftward": Attardi(reduces=LEFTWARD),
        **{f"{kind.name}, degree {HIGHER}": kind(degree=HIGHER) for kind in FAMILY},
    }


def degree_of(system: Attardi) -> int:
    """Return the largest distance between head and modifier of a reduce; b0 is next to s0."""
    return max(abs(head - modifier) for head, modifier in system.inventory)


def is_derived_by(chart: ExactDecoder, tree: Tree) -> bool:
    """Whether the chart derives the tree: whether it is the best tree if its arcs score 1 and all others 0."""
    scores = score_table(len(tree), 0.0)
    for word, head in enumerate(tree.heads[1:], 1):
        scores[head, word] = 1.0
    return list(chart.best(scores).heads) == list(tree.heads)


def direction_of(tree: Tree) -> str:
    """Say whether the non-projective arcs of a tree go to the left (head right of dependent), to the right, or both."""
    right = [tree.heads[word] < word for word in tree.nonprojective_arcs()]
    return "right" if all(right) else "both" if any(right) else "left"


def run(
    files: Sequence[Path],
    folder: Path,
    *,
    longest: int = LONGEST,
    command: str = FROM_PYTHON,
    say: Say = quiet,
    sharing: Sharing = ALONE,
) -> Data:
    """Count the trees of the files, or of those that are left."""
    names = ["/".join(file.resolve().parts[-2:]) for file in files]  # such as Danish-CDT1/train.conll
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{name} is given twice; files should differ in their names or in those of their folders")
    listed = {name: described(file, list(read(file))) for name, file in zip(names, files, strict=True)}
    options = {"command": command, "longest": longest, "files": listed}
    sizes = {_part(name): file["sentences"] for name, file in listed.items()}
    running = Run(folder, options, sizes, say, sharing=sharing)
    parts = {
        name: running.part(_part(name), partial(_count, file, longest, listed[name]["sentences"]))
        for name, file in zip(names, files, strict=True)
    }
    made = systems()
    counts = list(parts.values())
    sentences = sum(part["nonprojective_sentences"] for part in counts)
    results: Data = {
        "paper": PAPER,
        "date": running.date(),
        "options": running.options,
        "sentences": sum(part["sentences"] for part in counts),
        "nonprojective_sentences": sentences,
        "systems": {
            name: {
                "reduces": [name_of(pair) for pair in system.inventory],
                "degree": degree_of(system),
                "complexity": SHI2018_TIMES.get(name),
                "covered_nonprojective": (covered := sum(part["covered_nonprojective"][name] for part in counts)),
                "coverage": round(100 * covered / sentences, 4) if sentences else None,
                "undecided": sum(part["undecided"][name] for part in counts),
            }
            for name, system in made.items()
        },
        "check": {
            kind.name: {key: sum(part["check"][kind.name][key] for part in counts) for key in CHECKED}
            for kind in FAMILY
        },
        "compared": [
            {
                "first": first,
                "second": second,
                **McNemar(*(sum(part["only"][place][side] for part in counts) for side in (0, 1))).as_dict(),
            }
            for place, (first, second) in enumerate(COMPARED)
        ],
        "counterexample": {
            "heads": list(COUNTEREXAMPLE),
            "derived": not Coverage({"leftward": made["leftward"]}).add(Tree(COUNTEREXAMPLE)),
        },
        "leftward": {
            side: {key: sum(part["leftward"][side][key] for part in counts) for key in ("trees", "covered")}
            for side in DIRECTIONS
        },
        "by_file": {
            name: {
                "nonprojective_sentences": part["nonprojective_sentences"],
                "covered_nonprojective": part["covered_nonprojective"],
            }
            for name, part in parts.items()
        },
    }
    return running.close(results, report(results))


def _part(name: str) -> str:
    return name.replace("/", ".")


def _count(file: Path, longest: int, sentences: int, step: Step) -> Data:
    coverage = Coverage(dict(systems()))
    charts = {kind.name: kind().exact() for kind in FAMILY}
    check = {name: dict.fromkeys(CHECKED, 0) for name in charts}
    only = [[0, 0] for _ in COMPARED]
    leftward = {side: {"trees": 0, "covered": 0} for side in DIRECTIONS}
    for seen, sentence in enumerate(read(file), 1):
        tree = sentence.tree
        uncovered = set(coverage.add(tree))
        if not tree.is_projective():
            for count, (first, second) in zip(only, COMPARED, strict=True):
                count[0] += first not in uncovered and second in uncovered
                count[1] += second not in uncovered and first in uncovered
            row = leftward[direction_of(tree)]
            row["trees"] += 1
            row["covered"] += "leftward" not in uncovered
        if seen % 500 == 0:
            step(seen / sentences, f"{seen:,} sentences")
        if len(tree) > longest:
            continue
        for name, chart in charts.items():
            oracle, derived = name not in uncovered, is_derived_by(chart, tree)
            row = check[name]
            for key, value in zip(
                CHECKED, (1, not tree.is_projective(), oracle, derived, oracle != derived), strict=True
            ):
                row[key] += value
    return {**coverage.as_dict(), "check": check, "only": only, "leftward": leftward}


def findings(results: Data) -> list[Finding]:
    """Return what the paper found, and the verdict on it."""
    shares = {name: found["coverage"] for name, found in results["systems"].items()}
    theirs = [SHI2018[kind.name] for kind in (Attardi, AttardiAllS0S1, AttardiAll)]
    known = results["nonprojective_sentences"] > 0
    tests = {(row["first"], row["second"]): row for row in results["compared"]}
    family = [tests[pair] for pair in COMPARED if pair[1] != "leftward"]
    between = _at_least(results, "attardi-alldeg1", "attardi-alls0s1")
    onward = tests["attardi", "leftward"]
    attardi, deg1, every, s0s1 = (number(shares[kind.name], 2) for kind in FAMILY)
    check = results["check"].values()
    disagree = sum(row["disagree"] for row in check)
    weakest = max(family, key=lambda test: test["p_value"])
    return [
        Finding(
            "coverage: attardi < alls0s1 and alldeg1 < all (" + " < ".join(f"{share:.0f}" for share in theirs) + ")",
            together([better(test) for test in family]) if known else OPEN,
            f"{attardi} < {s0s1}, {deg1} < {every}; {p_value(weakest, 'largest p')}",
        ),
        Finding(  # section 3.2, of ALLs0s1: "more than Attardi's (2006) system, but fewer than our other two variants"
            f"coverage: alls0s1 < alldeg1 ({SHI2018['attardi-alls0s1']} < {SHI2018['attardi-alldeg1']})",
            better(between) if known else OPEN,
            f"{s0s1} < {deg1}; {p_value(between, 'largest possible p')}",
        ),
        Finding(  # section 3.2 gives it up for what it cannot handle
            "coverage: leftward < attardi",
            better(onward) if known else OPEN,
            f"{number(shares['leftward'], 2)} < {attardi}; {p_value(onward, 'p')}",
        ),
        Finding(
            "the leftward system can only handle leftward non-projective arcs",
            true(not results["counterexample"]["derived"] and not _rightward(results)),
            f"it derives the tree with the heads {' '.join(map(str, COUNTEREXAMPLE))}, whose only non-projective arc, "
            f"from 1 to 3, goes right; here it derives {_rightward(results):,} trees that have such arcs",
        ),
        Finding(
            f"oracle and chart agree on short sentences (here: up to {results['options']['longest']} words)",
            true(disagree == 0),
            f"{disagree} disagreements in {sum(row['sentences'] for row in check):,} decisions",
        ),
    ]


def _at_least(results: Data, first: str, second: str) -> Data:
    """Return McNemar's test of two systems of which only the numbers of covered trees by file are known.

    How many trees only one of the two covers is not known then, so it is as many as there can be, which makes p the
    largest that it can be: the difference is at least as significant as that.
    """
    only_first = only_second = 0
    for row in results["by_file"].values():
        trees, covered = row["nonprojective_sentences"], row["covered_nonprojective"]
        one, other = covered[first], covered[second]
        only_first += min(one, trees - other)
        only_second += min(other, trees - one)
    return McNemar(only_first, only_second).as_dict()


def _rightward(results: Data) -> int:
    """Return how many trees with non-projective arcs to the right the leftward system covers."""
    return sum(int(results["leftward"][side]["covered"]) for side in ("right", "both"))


def report(results: Data) -> str:
    """Return the report of the results."""
    rows = [
        [
            name,
            " ".join(found["reduces"]),
            found["degree"],
            found["complexity"] or "not given",
            found["covered_nonprojective"],
            number(found["coverage"], 2),
            SHI2018.get(name, "-"),
        ]
        for name, found in results["systems"].items()
    ]
    undecided = [(name, found["undecided"]) for name, found in results["systems"].items() if found["undecided"]]
    coverage = (
        f"{results['sentences']:,} sentences, {results['nonprojective_sentences']:,} of them non-projective. The paper "
        f"has {SHI2018_SENTENCES:,} non-projective sentences, those of the training treebanks of UD 2.1. The degree of "
        "a system is the largest distance between head and modifier of a reduce, b0 being next to s0. `leftward` is "
        "the system of section 3.2. The time is that of exact inference as the paper gives it.\n\n"
        + table(["system", "reduces", "degree", "time", "covered", "% covered", "paper: %"], rows)
        + "".join(
            f"\n{name}: for {count:,} sentences the search for a derivation gave up; they count as not covered.\n"
            for name, count in undecided
        )
    )
    leftward = (
        'Section 3.2 says of the reduces s1>s0, s0>s1 and b0>s1 that this system "can only handle leftward '
        'non-projective arcs". It is true that b0>s1, the only reduce that passes over a node, makes arcs to the left. '
        "But the node that it passes over, s0, may then find its head to the left, across the word that is gone. Take "
        f"the heads {' '.join(map(str, COUNTEREXAMPLE))}: b0>s1 attaches 2 to 4, over 3; then s1>s0 attaches "
        "3 to 1, and s0>s1 attaches 1 to 4. The arc from 4 to 2 is projective; the one from 1 to 3 is not, and goes "
        "right. Non-projective trees of the files by where their non-projective arcs go, and how many of them the "
        "system covers:\n\n"
        + table(
            ["non-projective arcs", "trees", "covered", "% covered"],
            [
                [
                    {"left": "all to the left", "right": "all to the right", "both": "both ways"}[side],
                    row["trees"],
                    row["covered"],
                    number(100 * row["covered"] / row["trees"], 2) if row["trees"] else "-",
                ]
                for side, row in results["leftward"].items()
            ],
        )
    )
    check = (
        "The paper's footnote 7: what the static oracle covers should be what the deduction rules derive. A chart "
        "derives a tree if it is the best one when each of its arcs scores 1 and every other arc 0. All sentences up "
        f"to {results['options']['longest']} words, projective ones too:\n\n"
        + table(
            ["system", "sentences", "non-projective", "oracle covers", "chart derives", "disagree"],
            [[name, *row.values()] for name, row in results["check"].items()],
        )
    )
    names = [kind.name for kind in FAMILY]
    by_file = table(
        ["file", "non-projective", *(f"{name} %" for name in (*names, "leftward"))],
        [
            [
                file,
                part["nonprojective_sentences"],
                *(
                    number(100 * part["covered_nonprojective"][name] / part["nonprojective_sentences"], 2)
                    if part["nonprojective_sentences"]
                    else "-"
                    for name in (*names, "leftward")
                ),
            ]
            for file, part in results["by_file"].items()
        ],
    )
    native = any(file.endswith(".conll") for file in results["by_file"])
    differences = (
        "- The data: the files listed here, other treebanks and other versions than those of UD 2.1."
        + (" Those in their own annotation (`.conll`) cross more often and more deeply than UD.\n" if native else "\n")
        + f"- The paper's Figure 1 gives {SHI2018['attardi-all']} for ALL, its text {SHI2018_ALL_IN_TEXT}.\n"
        "- Several roots are allowed where a treebank has them, and arcs from 0 count as any other."
    )
    subject = f"{len(results['by_file'])} file{'' if len(results['by_file']) == 1 else 's'}"
    sections = [
        ("Coverage (Figure 1)", coverage),
        ("The leftward system (section 3.2)", leftward),
        ("Oracle against chart (footnote 7)", check),
        ("By file", by_file),
        ("Differences from the paper", differences),
    ]
    return whole(results, subject, sections, findings(results))
