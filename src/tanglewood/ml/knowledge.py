"""What an encoder may know before it sees a treebank: vectors of forms and, if it was pretrained, its weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tanglewood.errors import ConfigError
from tanglewood.ml.encoder import EMBED, Floats
from tanglewood.ml.vocabulary import Vocabulary

if TYPE_CHECKING:
    from tanglewood.ml.contextual import Contextual
    from tanglewood.ml.lexicon import Lexicon


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A lexicon and, of a pretrained encoder, the values of its other features and its parameters; or a large encoder.

    The rows of ``word.weight`` are in the order of the features, with those of the lexicon at the end.
    """

    lexicon: Lexicon | None = None
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)  # in the order of their numbers
    parameters: Mapping[str, Floats] = field(default_factory=dict)
    sha256: str = ""  # of the file that it comes from
    contextual: Contextual | None = None
    whole: bool = False  # whether the parameters are those of a whole network, not of its encoder alone

    def give_to(self, parameters: Mapping[str, Floats], vocabulary: Vocabulary) -> None:
        """Write what is known into fresh parameters of an encoder with such a vocabulary."""
        if not self.parameters:
            return
        places = dict(_sections(parameters, vocabulary.numbers, self.lexicon))
        for name, place in _sections(self.parameters, self.values, self.lexicon):
            parameters["word.weight"][places[name]] = self.parameters["word.weight"][place]
        for feature in self.values:
            known = self.parameters[f"{EMBED}{feature}"]
            parameters[f"{EMBED}{feature}"][: len(known)] = known
        for name, known in self.parameters.items():
            if name.startswith(("word.bias", "lstm")):
                if name not in parameters or parameters[name].shape != known.shape:
                    raise ConfigError(f"the pretrained encoder has other sizes: {name} has the shape {known.shape}")
                parameters[name][...] = known
            elif self.whole and name != "word.weight" and not name.startswith(EMBED):
                # Labels that are new come after those that are known, in every array that has a place for each.
                parameters[name][tuple(map(slice, known.shape))] = known


def _sections(
    parameters: Mapping[str, Floats], features: Mapping[str, object], lexicon: Lexicon | None
) -> Iterator[tuple[str, slice]]:
    """Yield the rows of ``word.weight`` that each feature has, and under no name those of the lexicon."""
    start = 0
    for feature in features:
        width = parameters[f"{EMBED}{feature}"].shape[1]
        yield feature, slice(start, start + width)
        start += width
    if lexicon is not None:
        yield "", slice(start, start + lexicon.width)
