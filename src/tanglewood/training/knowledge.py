"""What a network knows before training begins: vectors of a file, or all that a pretrained encoder has learnt."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.training.config import Config
from tanglewood.training.progress import Report, quiet
from tanglewood.treebank.sentence import Sentence

if TYPE_CHECKING:
    from tanglewood.ml.knowledge import Knowledge
    from tanglewood.ml.lexicon import Lexicon


def knowledge_for(config: Config, sentences: Sequence[Sentence], report: Report = quiet) -> Knowledge | None:
    """Return what the choices say a network should know before it learns from these sentences, if there is anything."""
    knowledge = None
    if config.vectors:
        knowledge = _of_vectors(config, sentences, report)
    elif config.pretrained:
        knowledge = _of_pretrained(config, sentences, report)
    elif config.begin_from:
        from tanglewood.training.continuing import knowledge_of

        report(f"going on with {config.begin_from}")
        return knowledge_of(config.begin_from)
    if config.contextual:
        from tanglewood.embedding import contextual_of
        from tanglewood.ml.knowledge import Knowledge

        contextual = contextual_of(config.contextual)
        report(f"vectors of {contextual.encoder}: {contextual.width} numbers for each word in its sentence")
        return replace(knowledge or Knowledge(), contextual=contextual)
    return knowledge


def at_hand(knowledge: Knowledge | None) -> Knowledge | None:
    """Open in this process what another has sent closed: the vectors of a large encoder."""
    if knowledge is not None and knowledge.contextual is not None and knowledge.contextual.source is None:
        from tanglewood.embedding import contextual_of

        knowledge.contextual.source = contextual_of(knowledge.contextual.names).source
    return knowledge


def connect(model: object, knowledge: Knowledge | None) -> None:
    """Let a model that came from a file take the vectors of a large encoder from where training takes them."""
    own = getattr(getattr(model, "vocabulary", None), "contextual", None)
    if own is not None and knowledge is not None and knowledge.contextual is not None:
        own.source = knowledge.contextual.source


def _of_pretrained(config: Config, sentences: Sequence[Sentence], report: Report) -> Knowledge:
    from tanglewood.training.pretrained import load_knowledge

    knowledge, description = load_knowledge(config.pretrained)
    assert knowledge.lexicon is not None
    counts = Counter(form for sentence in sentences for form in sentence.forms)
    report(
        f"{config.pretrained}: an encoder that has read {description.get('words', 0):,} words of text; "
        f"{_known_share(knowledge.lexicon, counts)}"
    )
    return knowledge


def _of_vectors(config: Config, sentences: Sequence[Sentence], report: Report) -> Knowledge:
    from tanglewood.ml.file_lexicon import lexicon_of
    from tanglewood.ml.knowledge import Knowledge
    from tanglewood.ml.vector_files import read_vectors, wanted_forms
    from tanglewood.ml.vector_source import Pruning

    counts = Counter(form for sentence in sentences for form in sentence.forms)
    forms = wanted_forms(form for form, _ in counts.most_common())
    vectors = read_vectors(config.vectors, Pruning(forms, config.vectors_rows, config.vectors_width))
    lexicon = lexicon_of(vectors, config.vectors_width)
    dim = vectors.sample.shape[1]
    told = [
        f"{config.vectors}: vectors of {len(lexicon.words):,} of {vectors.total:,} words are kept"
        if lexicon.words
        else f"{config.vectors}: {vectors.total:,} vectors of pieces of words",
        f"{dim} numbers each" + (f", reduced to {lexicon.width}" if lexicon.width < dim else ""),
        _known_share(lexicon, counts),
    ]
    if vectors.skipped:
        told.append(f"{vectors.skipped:,} words that are not UTF-8 are left out")
    report("; ".join(told))
    return Knowledge(lexicon, sha256=sha256_of(config.vectors))


def _known_share(lexicon: Lexicon, counts: Counter[str]) -> str:
    """Say how many of some forms, counted as often as they occur, have a vector."""
    known = sum(count for form, count in counts.items() if lexicon.knows(form))
    return f"{100 * known / max(sum(counts.values()), 1):.1f}% of the words of the training data have a vector"


def sha256_of(path: str | Path) -> str:
    """Return the checksum of a file, of which little is held in memory."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
