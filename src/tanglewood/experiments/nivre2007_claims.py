"""What Nivre (2007) claims, and the verdict on each claim from the results of a run."""

from __future__ import annotations

from tanglewood.experiments.judging import (
    MARGIN,
    OPEN,
    Finding,
    any_of,
    better,
    gain,
    interval,
    no_worse,
    sized,
    together,
)
from tanglewood.experiments.markdown import number, p_value
from tanglewood.experiments.published import (
    NIVRE2007_DEGREES,
    NIVRE2007_ERROR_REDUCTION,
    NIVRE2007_TIME_LESS,
    NIVRE2007_TIME_REDUCTION,
    language_of,
)
from tanglewood.experiments.running import OLDER, Data, as_data, mcnemar_of
from tanglewood.measure.significance import proportion

BOUNDS: dict[str, int | None] = {"unbounded": None, "d2": 2, "d1": 1}
BASELINES = ("links", "lifted")  # what the projective parsers learn from
NAMES = {
    "unbounded": "non-projective (unbounded)",
    "d2": "max degree 2",
    "d1": "max degree 1",
    "links": "projective (d = 0), learnt from projective links",
    "lifted": "projective (d = 0), learnt from lifted trees",
    "covington": "covington, unbounded",
    "mst": "MST, first-order",
    "mst2": "MST, second-order",
    "pseudo": "pseudo-projective (arc-eager, head)",
}
THEIRS = {"mst2": "MST-06", "pseudo": "Malt-06"}  # the same numbers as in Nivre 2009, Table 1
ABOUT = 10.0  # percentage points by which what is "about" a size may differ from it
SHARE_WITHIN = 2.0  # percentage points by which a share of sentences may differ: the paper rounds them to whole ones


def findings(results: Data) -> list[Finding]:
    """Return what the paper found, and the verdict on it."""
    options, bounds = results["options"], results["bounds"]
    language, base = language_of(options["treebank"]), options["baseline"]
    over = {name: mcnemar_of(results, name, base, "uas") for name in BOUNDS}
    free = {name: mcnemar_of(results, "unbounded", name, "uas") for name in ("d2", "d1")}
    bounded = {name: mcnemar_of(results, name, "unbounded", "uas") for name in ("d2", "d1")}
    reduced = max(
        (bounds[name]["error_reduction"][base] for name in BOUNDS if bounds[name]["error_reduction"][base]),
        key=lambda found: found["estimate"],
        default=None,
    )
    errors, saved = NIVRE2007_ERROR_REDUCTION.get(language), NIVRE2007_TIME_REDUCTION.get(language)
    time = {name: bounds[name]["seconds_saved"] for name in ("d2", "d1")}
    calls = bounds["d1"]["calls_saved"]
    last = results["final"]
    rivals = {name: mcnemar_of(last, "covington", name, "las") for name in THEIRS}
    nothing = f"the paper's text has no number for {language}; "
    return [
        Finding(
            "non-projective parsing is significantly better than the projective baseline",
            better(over["unbounded"]),
            _against(results, "unbounded", {base: over["unbounded"]}),
        ),
        Finding(
            "with d = 1 and d = 2 it is significantly better than the projective baseline",
            together([better(over["d1"]), better(over["d2"])]),
            "; ".join(f"{NAMES[name]}: {_against(results, name, {base: over[name]})}" for name in ("d1", "d2")),
        ),
        Finding(
            "error reduction: over 35% for Dutch, over 20% for German",
            OPEN if errors is None else sized(reduced, errors),
            ("" if errors else nothing)
            + f"best {interval(reduced, 1, '%')} against {base}"
            + (f"; paper: over {errors:.0f}%" if errors else ""),
        ),
        Finding(
            "the highest score is always the one without a bound",
            together([better(test) for test in free.values()]),
            _against(results, "unbounded", free),
        ),
        Finding(
            f"bounds of 1 and 2 cost little: not significantly worse than no bound (within {MARGIN:.0f} point)",
            together([no_worse(test) for test in bounded.values()]),
            "; ".join(
                f"{NAMES[name]}: {_against(results, name, {'unbounded': test})}, difference {interval(gain(test), 2)}"
                for name, test in bounded.items()
            ),
        ),
        Finding(
            "bounds save parsing time",
            together([sized(found, 0) for found in time.values()]),
            "; ".join(f"{NAMES[name]} saves {interval(found, 1, '%')}" for name, found in time.items()),
        ),
        Finding(
            f"d = 1 saves about 50% of the time (within {ABOUT:.0f} points) for Dutch, German and Slovene, less for "
            "Portuguese and Danish",
            _time_saved(language, time["d1"]),
            ("" if saved or language in NIVRE2007_TIME_LESS else nothing)
            + f"{interval(time['d1'], 1, '%')} of the time, {interval(calls, 1, '%')} of the calls of the classifier",
        ),
        _projective_time(results),
        _degrees(results),
        Finding(
            "on the test set it outperforms MST-06 or Malt-06 (LAS)",
            any_of([better(test) for test in rivals.values()]),
            f"{number(last['scores']['covington']['las'], 2)} against "
            + ", ".join(
                f"{number(last['scores'][name]['las'], 2)} ({NAMES[name]}, {p_value(test, 'p')})"
                for name, test in rivals.items()
            ),
        ),
    ]


def _projective_time(results: Data) -> Finding:
    """Judge section 6: "the largest reduction is obtained with the strictly projective parser".

    By the calls of the classifier, which take most of the time: time itself cannot be compared (`_time_saved_by`).
    """
    bounds, base = results["bounds"], results["options"]["baseline"]
    fewer = bounds[base].get("calls_saved_from_d1")
    text = "; ".join(
        f"{name} {interval(bounds[name]['calls_saved'], 1, '%')} of the calls, "
        f"{interval(alone(bounds[name]['seconds_saved']), 1, '%')} of the time"
        for name in (base, "d1", "d2")
    )
    return Finding(
        "d = 0 saves the most time (judged by calls of the classifier, since its time was not measured in turns)",
        sized(fewer, 0),
        f"{text}; {base} against d1: " + (f"{interval(fewer, 1, '%')} fewer calls" if fewer else OLDER),
    )


def _degrees(results: Data) -> Finding:
    """Judge section 2: "more than 99.5% of all sentences" of degree 2 at most, "about 98%" of degree 1 at most.

    And "only 77% in the Czech data and 85% in the Danish data have degree 0".
    """
    language = language_of(results["options"]["treebank"])
    theirs = NIVRE2007_DEGREES.get(language)
    sentences = results["data"]["train"]["sentences"]
    shares = [as_data(proportion(share, sentences)) for share in results["degrees"]]
    first = " or ".join(f"{shares[0]:.0f}% ({name})" for name, shares in NIVRE2007_DEGREES.items())
    claim = (
        f"sentences of degree 0, at most 1, at most 2: {first}, about 98%, over 99.5% "
        f"(the first two within {SHARE_WITHIN:.0f})"
    )
    verdict = OPEN
    if theirs:
        zero, one, two = theirs
        around = ((zero - SHARE_WITHIN, zero + SHARE_WITHIN), (one - SHARE_WITHIN, one + SHARE_WITHIN), (two, 101.0))
        verdict = together([sized(share, *ends) for share, ends in zip(shares, around, strict=True)])
    text = ", ".join(interval(share, 1, "%") for share in shares)
    return Finding(claim, verdict, text if theirs else f"the paper has {' and '.join(NIVRE2007_DEGREES)} only; {text}")


def _time_saved(language: str, saved: Data | None) -> str:
    """Judge what d = 1 saves by what the paper says of the language."""
    if language in NIVRE2007_TIME_LESS:
        return sized(saved, most=max(NIVRE2007_TIME_REDUCTION.values()) - ABOUT)  # less than what is "about" that
    theirs = NIVRE2007_TIME_REDUCTION.get(language)
    return OPEN if theirs is None else sized(saved, theirs - ABOUT, theirs + ABOUT)


def _against(results: Data, one: str, tests: dict[str, Data]) -> str:
    bounds = results["bounds"]
    return f"{number(bounds[one]['uas'], 2)} against " + ", ".join(
        f"{number(bounds[name]['uas'], 2)} ({name}, {p_value(test, 'p')})" for name, test in tests.items()
    )


def alone(measured: Data | None) -> Data | None:
    """Return a number without its interval."""
    return measured and {"estimate": measured["estimate"]}
