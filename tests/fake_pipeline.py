"""Something in the place of a pipeline, for tests of what is done with its sentences."""

from tanglewood.treebank.sentence import Sentence


def fake_pipeline(patch):
    """Make each line of text a sentence whose words hang on each other in a chain; return the models asked for."""
    loaded = []

    def parse_text(texts, model, *, reproducible):
        loaded.append(model)
        for number, line in enumerate("".join(texts).splitlines(), 1):
            words = [
                (str(i), w, "_", "X", "_", "_", str(i - 1), "dep", "_", "_") for i, w in enumerate(line.split(), 1)
            ]
            yield Sentence.build(words, [f"sent_id = {number}", f"text = {line}"])

    patch.setattr("tanglewood.cli.common.parse_text", parse_text)
    return loaded
