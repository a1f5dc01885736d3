"""The JSON interface of the playground: what it answers to parse, trace and treebank."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from itertools import pairwise, permutations

import pytest

from playground import EXAMPLES, FIGURE1, SCHEMAS, check, client_of, limited, post, refused, toy_model, toy_playground
from tanglewood.parser import ParseOptions
from tanglewood.pipeline import Pipeline
from tanglewood.systems import SYSTEMS
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from tanglewood.treebank.chunks import in_chunks
from tanglewood.web.api import Playground
from tanglewood.web.limits import Limits
from tanglewood.web.models import Model
from toy import sentences_of, toy_sentences, toy_text

NASTY = "<script>alert(1)</script>"
PAGE = (EXAMPLES.parent / "docs" / "playground.md").read_text(encoding="utf-8")
CURLS = re.findall(r"curl -s http://127\.0\.0\.1:8000/api/(\w+) [^\n]*\\\n  -d '(\{.*?\})'\n", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def client():
    with client_of(toy_playground()) as client:
        yield client


@pytest.fixture(scope="module")
def moves():
    return toy_model()


@pytest.fixture(scope="module")
def lifted():
    return toy_model("arc-eager", pseudo_projective="head")


@pytest.mark.parametrize(("path", "body"), CURLS)
def test_the_requests_of_the_documentation_are_answered(client, path, body):
    post(client, path, **json.loads(body))


def test_the_fields_and_refusals_of_the_documentation_are_those_of_the_interface(client):
    (table,) = re.findall(r"### Parse\n.*?\n\| field \| \|\n\|---\|---\|\n(.*?)\n\n", PAGE, re.DOTALL)
    assert {*re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)} == {*SCHEMAS["ParseRequest"]["properties"]}
    told = [json.loads(line) for line in re.findall(r'^\{"error": .*\}$', PAGE, re.MULTILINE)]
    assert told[1] == refused(client, "treebank", conllu=FIGURE1, filter={"degree": "2"})
    assert told[2] == refused(client, "trace", conllu=FIGURE1, sytem="swap")
    (health,) = re.findall(r'^\{"status": .*\}$', PAGE, re.MULTILINE)
    assert {*json.loads(health)} == {*check("Health", json.loads(health))} == {*SCHEMAS["Health"]["properties"]}
    for name in SCHEMAS["SentenceFilter"]["properties"]:
        assert f"`{name}`" in PAGE


def test_the_limits_of_the_documentation_are_those_of_the_server():
    assert len(CURLS) == 8
    shown = dict(re.findall(r"^\| `--([a-z-]+)` \| (\d+) \|", PAGE, re.MULTILINE))
    assert {name.replace("-", "_"): float(value) for name, value in shown.items()} == asdict(Limits())


def test_parse_keeps_the_trees_of_conllu_and_draws_them(client):
    (sentence,) = post(client, "parse", conllu=FIGURE1)["sentences"]
    assert sentence["heads"] == [2, 3, 0, 3, 2, 7, 5, 4, 3]
    assert sentence["conllu"] == FIGURE1
    assert 'class="arc nonprojective"' in sentence["svg"]
    assert "<style" not in sentence["svg"]  # the policy forbids it; the page has the colours


def test_parse_gives_text_a_tree_for_each_sentence(client, moves):
    sentences = post(client, "parse", text="ta wug zorps. wug fimps")["sentences"]
    assert [len(sentence["words"]) for sentence in sentences] == [3, 2]
    tagged = moves.tag_text("ta wug zorps")[0]
    assert sentences[0]["heads"] == moves.parser.parse(tagged).heads[1:].tolist()


def test_parse_fills_in_missing_trees_but_no_broken_ones(client):
    bare = "1\twug\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tzorps\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n"
    (sentence,) = post(client, "parse", conllu=bare)["sentences"]
    assert sorted(sentence["heads"]) in ([0, 1], [0, 2])
    broken = bare.replace("VERB\t_\t_\t_", "VERB\t_\t_\t2").replace("NOUN\t_\t_\t_", "NOUN\t_\t_\t2")
    assert "own head" in refused(client, "parse", conllu=broken)["error"]


def test_trace_gives_the_derivation_of_figure_3(client):
    content = post(client, "trace", conllu=FIGURE1, system="swap", oracle="eager")
    assert content["transitions"] == 30
    assert [step["move"] for step in content["steps"]].count("SWAP") == 6
    assert content["steps"][-1]["stack"] == [0]
    assert len(content["drawings"]) == 1
    for step, following in pairwise(content["steps"]):
        (taken,) = [legal for legal in step["legal"] if legal["taken"]]
        assert (taken["move"], taken["label"]) == (following["move"], following["label"])


def test_the_lazy_oracle_swaps_less(client):
    steps = post(client, "trace", conllu=FIGURE1, oracle="lazy")["steps"]
    assert [step["move"] for step in steps].count("SWAP") == 2


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_traces_and_its_arcs_add_up_to_its_last_drawing(client, system):
    content = post(client, "trace", conllu=FIGURE1, system=system)
    heads = {word: head for step in content["steps"] for head, _, word in step["attached"]}
    if content["covered"]:
        assert [heads[word] for word in range(1, 10)] == content["sentence"]["heads"]
    else:
        assert "not covered" in content["problem"]
    for word, head in heads.items():
        assert f'data-head="{head}" data-dependent="{word}"' in content["drawings"][-1]


def test_an_arc_that_replaces_another_begins_a_new_drawing(client):
    text = (EXAMPLES / "figure2-lacroix.conllu").read_text(encoding="utf-8")
    content = post(client, "trace", conllu=text, system="three-step")
    assert content["covered"]
    made: dict[int, int] = {}
    for step in content["steps"]:
        for head, _, word in step["attached"]:
            made[word] = head
        for word, head in made.items():
            assert f'data-head="{head}" data-dependent="{word}"' in content["drawings"][step["drawing"]]
    assert len(content["drawings"]) == 5  # one more for each arc that is lifted, and for each that is put back


def test_a_tree_comes_for_latex_if_asked_for(client):
    (sentence,) = post(client, "parse", conllu=FIGURE1, tikz=True, drawings=False)["sentences"]
    assert sentence["tikz"].startswith("% \\usepackage{tikz-dependency}\n\\begin{dependency}")
    assert "svg" not in sentence
    assert "tikz" not in post(client, "parse", conllu=FIGURE1)["sentences"][0]


def test_trace_by_a_model_scores_the_legal_moves_and_builds_the_parsers_tree(client, moves):
    content = post(client, "trace", text="ta wug zorps ta dax", guide="model")
    assert (content["model"], content["system"]) == ("toy", "swap")
    parsed = moves.parser.parse(moves.tag_text("ta wug zorps ta dax")[0])
    assert content["sentence"]["heads"] == parsed.heads[1:].tolist()
    assert content["sentence"]["labels"] == parsed.labels[1:]
    for step in content["steps"][:-1]:
        best = max(step["legal"], key=lambda legal: legal["score"])
        assert best["taken"]
        assert sum(legal["share"] for legal in step["legal"]) == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize("seed", range(4))
def test_a_model_that_puts_lifted_arcs_back_says_so_in_a_last_step(client, lifted, seed):
    """The tree of the trace is always the parser's, marks stripped."""
    text = toy_text(1, seed)
    content = post(client, "trace", conllu=text, guide="model", model="lifted")
    parsed = lifted.parser.parse(sentences_of(text)[0])
    assert (content["sentence"]["heads"], content["sentence"]["labels"]) == (
        parsed.heads[1:].tolist(),
        parsed.labels[1:],
    )


def test_options_reach_the_system(client):
    content = post(client, "trace", conllu=FIGURE1, system="attardi", options={"degree": 3})
    assert content["covered"]
    assert not post(client, "trace", conllu=FIGURE1, system="attardi")["covered"]
    steps = [
        post(client, "trace", conllu=FIGURE1, system="covington", options=options)["transitions"]
        for options in ({}, {"every_pair": False}, {"every_pair": True})
    ]
    assert steps[0] == steps[1] < steps[2]
    for options in ({"best_tags": 2}, {"tag_threshold": 0.5}, {"tag_threshold": 1}):
        assert post(client, "trace", conllu=FIGURE1, system="joint-swap", options=options)["covered"]


def test_treebank_counts_covers_and_filters(client):
    text = toy_text(30)
    content = post(client, "treebank", conllu=text)
    assert content["stats"]["sentences"] == content["matches"] == len(content["sentences"]) == 30
    crossing = [row for row in content["sentences"] if row["crossing"]]
    assert len(crossing) == content["stats"]["nonprojective_sentences"] > 0
    found = post(client, "treebank", conllu=text, filter={"crossing": True}, limit=2)
    assert (found["matches"], found["sentences"]) == (len(crossing), crossing[:2])
    uncovered = [row for row in content["sentences"] if "arc-eager" in row["uncovered"]]
    assert uncovered == crossing == post(client, "treebank", conllu=text, filter={"degree": 1})["sentences"]
    assert uncovered == post(client, "treebank", conllu=text, filter={"not_covered_by": "arc-eager"})["sentences"]
    assert content["coverage"]["covered"]["arc-eager"] == 30 - len(crossing)
    labelled = post(client, "treebank", conllu=text, filter={"label": "acl"})["sentences"]
    assert labelled == [row for row in content["sentences"] if "acl" in row["labels"]]
    assert post(client, "treebank", conllu=text, filter={"search": "TOY-1-7"})["matches"] == 1


def test_the_lines_of_a_row_are_those_of_the_sentence(client):
    text = toy_text(3)
    lines = text.split("\n")
    for row, sentence in zip(post(client, "treebank", conllu=text)["sentences"], sentences_of(text), strict=True):
        assert "\n".join(lines[row["first_line"] - 1 : row["last_line"]]) == sentence.to_text().strip()
    (row,) = post(client, "treebank", conllu=toy_text(1), first_line=101)["sentences"]
    assert row["first_line"] == 101


def test_treebank_goes_on_after_bad_sentences_and_lists_them(client):
    content = post(client, "treebank", conllu=(EXAMPLES / "broken.conllu").read_text(encoding="utf-8"), first_line=11)
    assert content["stats"]["sentences"] == 2
    assert [(error["sent_id"], error["line"]) for error in content["errors"]] == [("cycle-en", 22), ("columns-en", 28)]
    assert "there should be 10" in content["errors"][1]["error"]


def test_malformed_conllu_is_refused_with_line_and_sent_id(client):
    problem = refused(client, "parse", conllu=FIGURE1.replace("3\tis\tbe", "3\tis be"))
    assert (problem["line"], problem["sent_id"]) == (5, "nivre2009-figure1")
    assert "there should be 10" in problem["error"]


def test_the_bundled_model_takes_text():
    client = client_of(Playground({"english": Model.load()}))
    content = post(client, "trace", text="What does she want to eat?", guide="model")
    tags = " ".join(word["upos"] for word in content["sentence"]["words"])
    assert tags == "PRON AUX PRON VERB PART VERB PUNCT"
    assert content["sentence"]["heads"][3] == 0
    untagged = "\n".join("\t".join([str(n), form, *"_" * 8]) for n, form in enumerate(["It", "rains", "."], 1))
    (sentence,) = post(client, "parse", conllu=untagged)["sentences"]
    assert (sentence["heads"], sentence["words"][1]["upos"]) == ([2, 0, 2], "VERB")


def test_a_model_without_a_pipeline_parses_conllu_only(moves):
    client = client_of(Playground({"words": Model(Pipeline(moves.parser))}))
    assert "parser only" in refused(client, "parse", text="A word.")["error"]
    assert len(post(client, "parse", conllu=toy_text(2), model="words")["sentences"]) == 2


def test_text_without_a_model_says_how_to_get_one():
    assert "tanglewood serve -m MODEL" in refused(limited(), "parse", text="A word.")["error"]


def test_markup_in_words_labels_and_ids_comes_out_escaped(client):
    text = FIGURE1.replace("hearing\thearing", f"{NASTY}\t{NASTY}").replace("NMOD", NASTY)
    text = text.replace("nivre2009-figure1", NASTY).replace("# text = A", f"# text = {NASTY}")
    (sentence,) = post(client, "parse", conllu=text)["sentences"]
    (drawing,) = post(client, "trace", conllu=text)["drawings"]
    for svg in (sentence["svg"], drawing):
        assert "<script" not in svg
        assert svg.count("&lt;script&gt;") == 3


def test_drawings_are_left_out_on_request(client):
    drawn, bare = (post(client, "parse", conllu=FIGURE1, drawings=wanted)["sentences"][0] for wanted in (True, False))
    assert drawn.pop("svg").startswith("<svg")
    assert bare == drawn
    drawn, bare = (post(client, "trace", conllu=FIGURE1, drawings=wanted) for wanted in (True, False))
    assert len(drawn.pop("drawings")) == 1
    assert [step.pop("drawing") for step in drawn["steps"]] == [0] * 31
    assert bare == drawn


def test_several_texts_are_answered_as_each_alone(client):
    texts = ["ta wug zorps. wug fimps", "dax", "", "ta dax zorps ta wug krell. "]
    for search in ({}, {"nbest": 3, "confidence": True, "drawings": False}):
        answers = post(client, "parse", texts=texts, **search)["texts"]
        alone = [post(client, "parse", text=text, **search) if text else {"sentences": []} for text in texts]
        assert answers == alone
    assert post(client, "parse", texts=[]) == {"texts": []}


def test_limits_count_over_all_texts():
    client = client_of(Playground({"toy": toy_model()}, Limits(max_sentences=3, max_text=20, max_words=4)))
    assert len(post(client, "parse", texts=["wug. dax", "wug"])["texts"]) == 2
    refusal = refused(client, "parse", texts=["wug. dax", "wug. dax"])
    assert "more than 3 sentences" in refusal["error"]
    assert refusal["field"] == "texts[1]"
    refusal = refused(client, "parse", texts=["wug", "dax. wug dax wug d"])
    assert "21 characters; a text may have 20" in refusal["error"]
    refusal = refused(client, "parse", texts=[""] * 4)
    assert (refusal["error"], refusal["field"]) == ("4 texts; there may be 3 at once: send them in parts", "texts")
    refusal = refused(client, "parse", texts=["wug", "w. a b c d e"])
    assert "sentence 2 has 5 words; a sentence may have 4" in refusal["error"]
    assert refusal["field"] == "texts[1]"


def test_nbest_gives_different_trees_by_their_probability(client, moves):
    text = "ta wug zorps ta dax krell"
    (sentence,) = post(client, "parse", text=text, nbest=5, beam=8)["sentences"]
    found = sentence["nbest"]
    wanted = list(moves.parser.parse_all(moves.tag_text(text), ParseOptions(beam=8, nbest=5)))
    assert [tree["heads"] for tree in found] == [one.tree.heads[1:].tolist() for one in wanted]
    assert [tree["labels"] for tree in found] == [one.tree.labels[1:] for one in wanted]
    assert len(found) > 1
    scores = [tree["log_probability"] for tree in found]
    assert scores == sorted(scores, reverse=True)
    assert scores == [float(line.split(" = ")[1]) for one in wanted for line in one.comments if "log_prob" in line]
    assert (sentence["heads"], sentence["labels"]) == (found[0]["heads"], found[0]["labels"])
    assert post(client, "parse", text=text, nbest=1)["sentences"][0]["nbest"] == found[:1]
    assert "nbest" not in post(client, "parse", text=text)["sentences"][0]


def test_accurate_trees_are_those_of_a_beam(client, moves):
    text = "ta wug zorps krell . wug dax zorps grubben ."
    found = post(client, "parse", text=text, accurate=True)["sentences"]
    wanted = list(moves.parser.parse_all(moves.tag_text(text), ParseOptions(accurate=True)))
    assert [[word["head"] for word in one["words"]] for one in found] == [list(s.tree.heads[1:]) for s in wanted]


@pytest.mark.parametrize(
    ("rule", "count"), [({}, None), *(({"sentences": rule}, n) for rule, n in (("lines", 3), ("blank-lines", 2)))]
)
def test_who_asks_may_say_where_sentences_end(pipeline, rule, count):
    model = Model(pipeline)
    client = client_of(Playground({"toy": model}))
    text = "ta wug zorps krell . wug\ndax zorps grubben .\n\nta wug zorps"
    found = post(client, "parse", text=text, **rule)["sentences"]
    assert [one["text"] for one in found] == [one.text for one in model.tag_text(text, **rule)]
    assert count is None or len(found) == count
    assert post(client, "parse", texts=[text], **rule)["texts"] == [{"sentences": found}]


def test_a_rule_for_sentences_that_is_not_there_is_refused(client):
    assert "sentences" in client.post("/api/parse", json={"text": "ta wug", "sentences": "words"}).text


def test_confidence_is_a_number_of_each_word(client, moves):
    text = "ta wug zorps ta dax krell"
    (sentence,) = post(client, "parse", text=text, confidence=True, beam=16)["sentences"]
    (wanted,) = moves.parser.parse_all(moves.tag_text(text), ParseOptions(beam=16, confidence=True))
    assert [f"Confidence={word['confidence']:.4f}" for word in sentence["words"]] == wanted.misc
    assert all("misc" not in word for word in sentence["words"])
    assert sentence["conllu"] == wanted.to_text()
    noted = toy_text(1).replace("\t_\n", "\tNote=x\n")
    (sentence,) = post(client, "parse", conllu=noted, model="toy", confidence=True)["sentences"]
    assert [word["misc"] for word in sentence["words"]] == [{"Note": "x"}] * len(sentence["words"])
    assert all(0 < word["confidence"] <= 1 for word in sentence["words"])


def test_the_beam_is_the_one_asked_for(client, moves):
    found = {beam: [] for beam in (1, 2, 16)}
    for text in (f"ta wug {' '.join(words)}" for words in permutations(["dax", "zorps", "krell", "vonly"])):
        for beam, trees in found.items():
            (sentence,) = post(client, "parse", text=text, beam=beam, drawings=False)["sentences"]
            (wanted,) = moves.parser.parse_all(moves.tag_text(text), ParseOptions(beam=beam))
            assert sentence["heads"] == wanted.tree.heads[1:].tolist()
            trees.append(sentence["heads"])
    assert found[1] != found[16]  # else nothing would be shown


def test_a_named_model_parses_trees_anew_with_its_beam(client):
    found = post(client, "parse", conllu=FIGURE1, model="lifted", nbest=2)["sentences"][0]["nbest"]
    assert len(found) == 2
    assert found[0] != found[1]


def test_what_a_model_cannot_do_is_refused_with_its_reason():
    training = Training(Config(system="attardi", search="mst", settings={"epochs": 1}), toy_sentences(6), ())
    *_, last = training.run()
    client = client_of(Playground({"arcs": Model(Pipeline(last.parser)), "toy": toy_model()}))
    for field, value in (("nbest", 2), ("beam", 4)):
        refusal = refused(client, "parse", conllu=toy_text(1), model="arcs", **{field: value})
        assert refusal["error"].startswith("model arcs: ")
        assert "there is no beam and no nbest" in refusal["error"]
        assert refusal["field"] == field
    (sentence,) = post(client, "parse", conllu=toy_text(1), model="arcs", confidence=True)["sentences"]
    assert all(0 < word["confidence"] <= 1 for word in sentence["words"])
    assert "makes no moves" in refused(client, "trace", conllu=toy_text(1), model="arcs", guide="model")["error"]


def test_sentences_are_parsed_some_at_a_time_so_that_the_clock_is_looked_at(moves, monkeypatch):
    sentences = sentences_of(toy_text(30))
    whole = [parsed.sentence.to_text() for parsed in moves.parse(sentences)]
    monkeypatch.setattr("tanglewood.web.models.TOGETHER", 20)
    groups = list(in_chunks(sentences, most=20))
    assert len(groups) > 5
    assert [sentence for group in groups for sentence in group] == sentences
    assert [parsed.sentence.to_text() for parsed in moves.parse(sentences)] == whole


def test_a_treebank_is_filtered_by_length(client):
    text = toy_text(30)
    lengths = [len(sentence) for sentence in sentences_of(text)]
    found = post(client, "treebank", conllu=text, filter={"min_length": 5, "max_length": 6}, offset=1, limit=3)
    fitting = [length for length in lengths if 5 <= length <= 6]
    assert (found["matches"], [row["words"] for row in found["sentences"]]) == (len(fitting), fitting[1:4])


def test_a_treebank_is_searched_beyond_what_a_row_shows(client):
    words = "\n".join(f"{n}\twug{n}\t_\t_\t_\t_\t{n - 1}\tdep\t_\t_" for n in range(1, 101))
    found = post(client, "treebank", conllu=f"{words}\n\n", filter={"search": "WUG100"})
    assert found["matches"] == 1
    assert "wug100" not in found["sentences"][0]["text"]


class CountingPipeline(Pipeline):
    """The bundled pipeline, which counts the pieces that were asked for."""

    asked = 0

    def pieces(self, texts, **choices):
        for piece in Pipeline.pieces(self, texts, **choices):
            self.asked += 1
            yield piece


@pytest.fixture(scope="module")
def english():
    found = Pipeline.load()
    return CountingPipeline(found.parser, found.tagger, found.tokenizer)


def test_text_gets_the_trees_that_the_command_gives_it(english):
    client = client_of(Playground({"en": Model(english)}))
    text = "That is the man whom I spoke of."
    wanted, greedy = (
        [list(s.tree.heads)[1:] for s in english(text, options=options)]
        for options in (None, ParseOptions(search="greedy"))
    )
    assert wanted != greedy
    assert [sentence["heads"] for sentence in post(client, "parse", text=text)["sentences"]] == wanted


def test_places_in_several_texts_are_those_in_each(english):
    client = client_of(Playground({"en": Model(english)}))
    texts = ["I can't. You do.", "What are you looking for?", "It rains."]
    answers = post(client, "parse", texts=texts, drawings=False)["texts"]
    assert answers == [post(client, "parse", text=text, drawings=False) for text in texts]
    for text, answer in zip(texts, answers, strict=True):
        whole = [
            one for sentence in answer["sentences"] for one in (*sentence["words"], *sentence.get("multiword", []))
        ]
        placed = [one for one in whole if "start" in one]
        assert len(placed) > 2
        assert all(text[one["start"] : one["end"]] == one["form"] for one in placed)
    assert answers[0]["sentences"][0]["multiword"]


def test_no_more_text_is_tagged_than_may_be_sent(english):
    limits = Limits(max_sentences=5)
    client = client_of(Playground({"en": Model(english)}, limits))
    english.asked = 0
    assert "more than 5 sentences" in refused(client, "parse", text="Yes. " * 5000)["error"]
    assert english.asked == 1


def test_a_place_in_the_text_that_is_no_number_is_passed_over(client):
    conllu = "1\tA\t_\tX\t_\t_\t0\troot\t_\tTokenRange=5:" + "9" * 5000 + "\n\n"
    (sentence,) = post(client, "parse", conllu=conllu)["sentences"]
    assert "start" not in sentence["words"][0]
