"""One pipeline in many hands: threads, processes and pickles give what it gives alone."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice

import pytest

import tanglewood as tw
from tanglewood import pipeline as pipeline_module
from tanglewood.errors import ModelError
from tanglewood.packages.installed import bundled_model
from tanglewood.pipeline import Pipeline
from tanglewood.run.corpus import Corpus
from toy_pipeline import TEXT, TEXTS, blocks


def test_many_threads_share_one_pipeline(pipeline):
    texts = list(islice(cycle(TEXTS), 200))
    options = [{}, {"beam": 1}, {"confidence": True}]
    wanted = {(text, kind): blocks(pipeline(text, **options[kind])) for text in TEXTS for kind in range(3)}

    def parse(number):
        text, kind = texts[number], number % 3
        return blocks(pipeline(text, **options[kind])) == wanted[text, kind]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(parse, range(len(texts))))
    assert all(len(idle) <= pipeline_module.MOST_IDLE for idle in pipeline._idle.values())


def test_workers_are_kept_but_not_too_many_nor_those_that_failed(pipeline, monkeypatch):
    made = []
    plain = pipeline_module.Worker.__init__
    monkeypatch.setattr(
        pipeline_module.Worker, "__init__", lambda self, *args, **more: made.append(1) or plain(self, *args, **more)
    )
    nlp = Pipeline(pipeline.parser, pipeline.tagger, pipeline.tokenizer)
    for _ in range(5):
        nlp("Dax.")
    assert len(made) == 1
    for beam in range(1, 20):
        nlp("Dax.", beam=beam)
    assert len(nlp._idle) <= pipeline_module.MOST_KINDS
    made.clear()
    nlp("Dax.")
    with monkeypatch.context() as patch:
        patch.setattr(pipeline_module.Worker, "parse", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            nlp("Dax.")
    assert blocks(nlp("Dax.")) == blocks(pipeline("Dax."))
    assert len(made) == 2


def test_a_pipeline_can_be_pickled(pipeline, bare, model, tmp_path):
    path = tmp_path / "moved.tw"
    path.write_bytes(model.read_bytes())
    loaded = tw.load(path)
    wanted = blocks(pipeline(TEXT))
    for nlp, small in ((pipeline, False), (loaded, True)):
        data = pickle.dumps(nlp)
        assert (len(data) < 1000) is small
        assert blocks(pickle.loads(data)(TEXT)) == wanted
        assert blocks(copy.deepcopy(nlp)(TEXT)) == wanted
    assert repr(pickle.loads(pickle.dumps(bare))) == repr(bare)
    pickled = pickle.dumps(loaded)
    bare.save(path)
    assert len(pickle.dumps(loaded)) > 1000  # the file is another one now, so it travels as bytes
    assert blocks(pickle.loads(pickle.dumps(loaded))(TEXT)) == wanted
    with pytest.raises(ModelError, match=r"moved\.tw: the model file is another one"):
        pickle.loads(pickled)
    path.unlink()
    assert blocks(pickle.loads(pickle.dumps(loaded))(TEXT)) == wanted
    with pytest.raises(FileNotFoundError):
        pickle.loads(pickled)


def test_a_pickled_path_holds_wherever_the_process_is(model, tmp_path, monkeypatch):
    monkeypatch.chdir(model.parent)
    data = pickle.dumps(tw.load(model.name))
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(data).description == tw.load(model).description


def test_the_bundled_model_travels_as_nothing():
    nlp = tw.load()
    data = pickle.dumps(nlp)
    assert len(data) < 1000
    assert str(bundled_model()).encode() not in data
    assert blocks(pickle.loads(data)("I know.")) == blocks(nlp("I know."))


def test_text_is_parsed_in_processes_as_in_one(pipeline, model):
    pieces = list(pipeline.pieces([TEXT, "\n\n", TEXT]))
    pieces = [p._replace(sentences=[s], number=p.number + i) for p in pieces for i, s in enumerate(p.sentences)]
    worker = tw.load(model).worker()
    one = blocks(Corpus(worker).parse(pieces, pytest.fail))
    assert one
    for method in ("fork", "spawn"):
        assert blocks(Corpus(worker, processes=2).parse(pieces, pytest.fail, method=method)) == one
