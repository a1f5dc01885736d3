"""The file of a pretrained encoder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tanglewood import __version__
from tanglewood.checks import PLAIN, Shape, check_arrays, check_settings
from tanglewood.errors import ModelError
from tanglewood.ml.encoder import Shapes, new_encoder, packed, packed_arrays, rounded, sizes_in, unpacked
from tanglewood.ml.knowledge import Knowledge
from tanglewood.ml.language_model import KNOWN, WIDTHS
from tanglewood.ml.lexicon import taken_out
from tanglewood.ml.vocabulary import ROOT, UNKNOWN, Vocabulary
from tanglewood.store import read_model, save_model

OTHERS = tuple(name for name in WIDTHS if name != KNOWN)
SETTINGS: Shape = {
    "tanglewood": str,
    "pretrained": {"values": {name: [str] for name in OTHERS}, "lexicon": dict, "description": {str: PLAIN}},
}


def save_knowledge(path: str | Path, knowledge: Knowledge, description: Mapping[str, Any]) -> None:
    """Write a pretrained encoder to a file."""
    assert knowledge.lexicon is not None
    arrays = packed(rounded(knowledge.parameters)) | knowledge.lexicon.arrays()
    pretrained = {
        "values": {name: list(values) for name, values in knowledge.values.items()},
        "lexicon": knowledge.lexicon.settings(),
        "description": dict(description),
    }
    save_model(path, arrays, {"tanglewood": __version__, "pretrained": pretrained})


def load_knowledge(path: str | Path) -> tuple[Knowledge, dict[str, Any]]:
    """Read a pretrained encoder, and what it was made from."""
    contents = read_model(path)
    settings: dict[str, Any] = contents.settings
    try:
        if "pretrained" not in settings:
            raise ModelError("not a pretrained encoder, as tanglewood pretrain makes them")
        check_settings(settings, SETTINGS)
        pretrained = settings["pretrained"]
        lexicon, arrays = taken_out(contents.arrays, pretrained)
        assert lexicon is not None
        values = {name: pretrained["values"][name] for name in OTHERS}
        vocabulary = Vocabulary.load({n: [UNKNOWN, ROOT, *kept] for n, kept in values.items()}, values, lexicon=lexicon)
        wanted = new_encoder(WIDTHS, vocabulary, sizes_in(arrays), Shapes())
        check_arrays(arrays, packed_arrays(wanted))
        knowledge = Knowledge(lexicon, values, unpacked(arrays), contents.checksum)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    return knowledge, pretrained["description"]
