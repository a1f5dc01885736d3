"""Make silver trees, for `tanglewood train --silver`: fine-tune a transformer on a treebank, and annotate raw text.

    python bench/silver.py ENCODER TREEBANK_DIR TEXT... -o FILE [--teachers 3] [--words 1000000]

ENCODER is a folder of `bench/transformer.py` or any encoder of Hugging Face; TREEBANK_DIR holds train.conllu and
dev.conllu. TEXT has one sentence a line, tokens separated by spaces; plain, .gz or .xz. The encoder and what stands on
it learn everything at once: UPOS, XPOS, FEATS, the rules for lemmas, and biaffine scores of arcs and labels (Dozat &
Manning 2017). As many teachers as asked for differ in their seeds; their mean probabilities count. Of the sentences
picked from the text at random those are kept in which the likeliest heads form a tree. Needs PyTorch, transformers
and, unless it is to be a toy, a GPU.
"""

import argparse
import math
import random
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

from tanglewood import read
from tanglewood.decoders.spanning import SpanningTree
from tanglewood.files import writing
from tanglewood.text.lemmas import apply_rule, lemma_rule
from tanglewood.text.tagger import COLUMNS
from transformer import lines_of

ARC, LABEL = 512, 128  # hidden units
DROP = 0.33
SHORTEST, LONGEST = 3, 60  # words of a sentence that is annotated
MOST_PIECES = 500  # of a sentence, for the encoder


class Teacher(nn.Module):
    """An encoder, the mixture of its layers, and a layer for everything that is predicted."""

    def __init__(self, encoder, sizes):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(encoder, dtype=torch.float32)
        width = self.encoder.config.hidden_size
        self.mix = nn.Parameter(torch.zeros(self.encoder.config.num_hidden_layers + 1))
        self.root = nn.Parameter(torch.zeros(width))
        self.tags = nn.ModuleList(nn.Linear(width, size) for size in sizes[:-1])
        self.ends = nn.ModuleList(nn.Linear(width, size) for size in (ARC, ARC, LABEL, LABEL))
        self.arc = nn.Parameter(torch.zeros(ARC + 1, ARC + 1))
        self.label = nn.Parameter(torch.zeros(sizes[-1], LABEL + 1, LABEL + 1))
        self.drop = nn.Dropout(DROP)

    def forward(self, pieces, owners, n_words):
        """Return log-probabilities: of tags for each word, of heads, and of labels for each pair of nodes.

        ``owners`` is the number of the word, from 1, that a piece belongs to; 0 for signs of the encoder.
        """
        mask = (pieces != self.encoder.config.pad_token_id).long()
        layers = self.encoder(pieces, attention_mask=mask, output_hidden_states=True).hidden_states
        mixed = sum(weight * layer for weight, layer in zip(self.mix.softmax(0), layers, strict=True))
        words = mixed.new_zeros(len(pieces), n_words + 1, mixed.shape[-1])
        counts = words.new_zeros(len(pieces), n_words + 1, 1)
        places = owners[..., None]
        words = words.scatter_add(1, places.expand_as(mixed), mixed)
        counts = counts.scatter_add(1, places, torch.ones_like(places, dtype=mixed.dtype))
        words = words / counts.clamp(min=1)
        words = self.drop(torch.cat([self.root.expand(len(words), 1, -1), words[:, 1:]], 1))
        tags = [layer(words).float().log_softmax(-1) for layer in self.tags]
        hidden = [self.drop(functional.gelu(layer(words))) for layer in self.ends]
        dependent, head, of_dependent, of_head = (functional.pad(part, (0, 1), value=1.0) for part in hidden)
        arcs = (dependent @ self.arc @ head.transpose(1, 2)).float() / math.sqrt(ARC)
        labels = torch.einsum("bdx,lxy,bhy->bdhl", of_dependent, self.label, of_head).float() / math.sqrt(LABEL)
        there = torch.arange(n_words + 1, device=pieces.device) <= owners.amax(1, keepdim=True)
        arcs = arcs.masked_fill(~there[:, None, :], -1e4)
        arcs = arcs.masked_fill(torch.eye(n_words + 1, dtype=torch.bool, device=pieces.device), -1e4)
        return tags, arcs.log_softmax(-1), labels.log_softmax(-1)


class Cutter:
    """Cuts sentences into pieces, and puts several into a batch."""

    def __init__(self, encoder, device):
        self.tokenizer = AutoTokenizer.from_pretrained(encoder)
        self.padding = self.tokenizer.pad_token_id
        self.device = device

    def cut(self, sentences):
        """Return for each sentence its pieces and their owners; None where there are too many."""
        found = self.tokenizer(sentences, is_split_into_words=True, add_special_tokens=True)
        cut = []
        for number in range(len(sentences)):
            pieces = found["input_ids"][number]
            owners = [0 if word is None else word + 1 for word in found.word_ids(number)]
            cut.append((pieces, owners) if len(pieces) <= MOST_PIECES else None)
        return cut

    def batch(self, cut):
        """Return the pieces and owners of some sentences as tables."""
        width = max(len(pieces) for pieces, _ in cut)
        table = torch.full((len(cut), width), self.padding)
        owners = torch.zeros((len(cut), width), dtype=torch.long)
        for row, (pieces, own) in enumerate(cut):
            table[row, : len(pieces)] = torch.tensor(pieces)
            owners[row, : len(own)] = torch.tensor(own)
        return table.to(self.device), owners.to(self.device)


def autocast(device):
    """Return the context in which products are computed: with 16 bits on a GPU."""
    return torch.autocast(device, torch.bfloat16, enabled=device == "cuda")


def batches(lengths, most, rng=None):
    """Return numbers of sentences that are computed together: similar lengths, about so many words."""
    order = sorted(range(len(lengths)), key=lambda n: lengths[n] + (rng.random() * 4 if rng else 0))
    found = [[]]
    for number in order:
        if found[-1] and (len(found[-1]) + 1) * lengths[number] > most:
            found.append([])
        found[-1].append(number)
    if rng:
        rng.shuffle(found)
    return found


class Treebank:
    """Sentences, and everything about them as numbers of classes."""

    def __init__(self, sentences, cutter, classes=None):
        cut = cutter.cut([list(sentence.forms) for sentence in sentences])
        kept = [(sentence, pieces) for sentence, pieces in zip(sentences, cut, strict=True) if pieces is not None]
        self.sentences, self.cut = zip(*kept, strict=True)
        rows = [self._row(sentence) for sentence in self.sentences]
        self.classes = classes or [sorted({name for row in rows for name in row[c]}) for c in range(len(COLUMNS) + 1)]
        numbers = [{name: n for n, name in enumerate(names)} for names in self.classes]
        self.targets = [
            [[-1, *(known.get(name, -1) for name in names)] for known, names in zip(numbers, row, strict=True)]
            for row in rows
        ]

    @staticmethod
    def _row(sentence):
        rules = list(map(lemma_rule, sentence.forms, sentence.lemmas))
        return sentence.upos, sentence.xpos, sentence.feats, rules, sentence.deprels

    def batch(self, places, device):
        """Return targets of some sentences: a table for each column, the last of labels, and one of heads."""
        width = max(len(self.sentences[place]) for place in places) + 1
        tables = torch.full((len(COLUMNS) + 2, len(places), width), -1)
        for row, place in enumerate(places):
            heads = [-1, *self.sentences[place].tree.heads[1:]]
            for column, values in enumerate((*self.targets[place], heads)):
                tables[column, row, : len(values)] = torch.tensor(values)
        return tables.to(device)


def losses(found, targets):
    """Return the sum of all losses, per word."""
    tags, arcs, labels = found
    *columns, label, heads = targets
    loss = sum(
        functional.nll_loss(chances.flatten(0, 1), target.flatten(), ignore_index=-1)
        for chances, target in zip(tags, columns, strict=True)
        if (target >= 0).any()
    )
    loss = loss + functional.nll_loss(arcs.flatten(0, 1), heads.flatten(), ignore_index=-1)
    place = heads.clamp(min=0)[..., None, None].expand(-1, -1, 1, labels.shape[-1])
    chosen = labels.gather(2, place).squeeze(2)
    return loss + functional.nll_loss(chosen.flatten(0, 1), label.flatten(), ignore_index=-1)


def learn(encoder, treebank, cutter, seed, args):
    """Return a teacher of this treebank."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    model = Teacher(encoder, [len(names) for names in treebank.classes]).to(cutter.device)
    old = list(model.encoder.parameters())
    new = [value for name, value in model.named_parameters() if not name.startswith("encoder.")]
    learner = torch.optim.AdamW(
        [{"params": old, "most": args.rate}, {"params": new, "most": 10 * args.rate}], betas=(0.9, 0.98)
    )
    lengths = [len(pieces) for pieces, _ in treebank.cut]
    steps = args.epochs * len(batches(lengths, args.batch, rng))
    step = 0
    model.train()
    for _ in range(args.epochs):
        for places in batches(lengths, args.batch, rng):
            done = step / steps
            for group in learner.param_groups:
                group["lr"] = group["most"] * min(done / 0.1 + 1e-3, max(1 - done, 0) / 0.9)
            pieces, owners = cutter.batch([treebank.cut[place] for place in places])
            targets = treebank.batch(places, cutter.device)
            with autocast(cutter.device):
                found = model(pieces, owners, targets.shape[-1] - 1)
            loss = losses(found, targets)
            learner.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            learner.step()
            step += 1
            if step % max(steps // 10, 1) == 0:
                print(f"  {step / steps:.0%} of the epochs, loss {loss.item():.3f}", flush=True)
    return model.eval()


@torch.no_grad()
def annotated(models, cut, lengths, cutter, classes, *, only_trees, single_root, most):
    """Yield number, tags and tree of each sentence, in any order; without those that are no trees if that is asked."""
    decoder = SpanningTree(single_root=single_root)
    for places in batches(lengths, most):
        pieces, owners = cutter.batch([cut[place] for place in places])
        width = max(lengths[place] for place in places)
        with autocast(cutter.device):
            said = [model(pieces, owners, width) for model in models]
        tags = [sum(part[c].exp() for part, _, _ in said).argmax(-1).tolist() for c in range(len(COLUMNS))]
        arcs = (sum(part.exp() for _, part, _ in said) / len(said) + 1e-9).log()
        labels = sum(part.exp() for _, _, part in said).argmax(-1).cpu().numpy()
        arcs = arcs.transpose(1, 2).cpu().numpy()  # by head, then dependent
        for row, place in enumerate(places):
            n = lengths[place]
            scores = np.ascontiguousarray(arcs[row, : n + 1, : n + 1])
            heads = decoder.best(scores).heads
            if only_trees and scores[:, 1:].argmax(0).tolist() != list(heads[1:]):
                continue
            named = [[classes[c][number] for number in tags[c][row][1 : n + 1]] for c in range(len(COLUMNS))]
            label = [classes[-1][labels[row, word, heads[word]]] for word in range(1, n + 1)]
            yield place, named, heads, label


def block(forms, tags, heads, labels):
    """Return a sentence in CoNLL-U."""
    upos, xpos, feats, rules = tags
    lines = []
    for n, form in enumerate(forms, 1):
        lemma = apply_rule(rules[n - 1], form)
        columns = (n, form, lemma, upos[n - 1], xpos[n - 1], feats[n - 1], heads[n], labels[n - 1], "_", "_")
        lines.append("\t".join(map(str, columns)))
    return "\n".join([*lines, "", ""])


def report(models, dev, cutter, classes, *, single_root, most):
    """Return in words how good teachers are on dev together, with gold words."""
    right = np.zeros(5)
    lengths = [len(sentence) for sentence in dev.sentences]
    found = annotated(models, dev.cut, lengths, cutter, classes, only_trees=False, single_root=single_root, most=most)
    for place, tags, heads, labels in found:
        gold = dev.sentences[place]
        attached = [one == other for one, other in zip(gold.tree.heads[1:], heads[1:], strict=True)]
        labelled = [a and one == other for a, one, other in zip(attached, gold.deprels, labels, strict=True)]
        lemmas = [apply_rule(rule, form) for rule, form in zip(tags[3], gold.forms, strict=True)]
        pairs = ((tags[0], gold.upos), (tags[2], gold.feats), (lemmas, gold.lemmas))
        same = [sum(map(str.__eq__, one, other)) for one, other in pairs]
        right += [sum(attached), sum(labelled), *same]
    return "UAS {:.2f} LAS {:.2f} UPOS {:.2f} FEATS {:.2f} lemmas {:.2f}".format(*(100 * right / sum(lengths)))


def picked(files, words, seed):
    """Return sentences of the text at random: about twice as many words as are wanted, since some are dropped."""
    lines = [line.split() for line in lines_of(files)]
    lines = [forms for forms in lines if SHORTEST <= len(forms) <= LONGEST]
    random.Random(seed).shuffle(lines)
    found, size = [], 0
    for forms in lines:
        if size > 2 * words:
            break
        found.append(forms)
        size += len(forms)
    return found


def main() -> None:
    """Learn, say how good that is, annotate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder", metavar="ENCODER")
    parser.add_argument("treebank", type=Path, metavar="TREEBANK_DIR")
    parser.add_argument("texts", type=Path, nargs="*", metavar="TEXT")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")
    parser.add_argument("--teachers", type=int, default=3, metavar="N", help="default 3")
    parser.add_argument("--words", type=int, default=1_000_000, metavar="N", help="to annotate (default 1,000,000)")
    parser.add_argument("--epochs", type=int, default=12, metavar="N", help="default 12")
    parser.add_argument("--rate", type=float, default=2e-4, help="of the encoder; the rest learns ten times as fast")
    parser.add_argument("--batch", type=int, default=2000, metavar="N", help="pieces in a batch (default 2000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    cutter = Cutter(args.encoder, device)
    train, dev = (list(read(args.treebank / f"{part}.conllu")) for part in ("train", "dev"))
    single_root = all(len(sentence.tree.roots()) == 1 for sentence in train)
    treebank = Treebank(train, cutter)
    judged = Treebank(dev, cutter, treebank.classes)
    models = []
    how = {"cutter": cutter, "classes": treebank.classes, "single_root": single_root, "most": 4 * args.batch}
    for number in range(args.teachers):
        began = time.monotonic()
        models.append(learn(args.encoder, treebank, cutter, args.seed * 1000 + number, args))
        alone = report(models[-1:], judged, **how)
        print(f"teacher {number + 1}, {time.monotonic() - began:.0f} s, dev: {alone}", flush=True)
    print(f"together, dev: {report(models, judged, **how)}", flush=True)
    if not args.texts or args.output is None:
        return
    sentences = picked(args.texts, args.words, args.seed)
    written = seen = 0
    with writing(args.output) as out:
        for start in range(0, len(sentences), 20_000):
            some = sentences[start : start + 20_000]
            cut = cutter.cut(some)
            some, cut = zip(*((s, c) for s, c in zip(some, cut, strict=True) if c is not None), strict=True)
            lengths = list(map(len, some))
            found = sorted(annotated(models, cut, lengths, only_trees=True, **how))
            seen += sum(lengths)
            for place, tags, heads, labels in found:
                out.write(block(some[place], tags, heads, labels).encode())
                written += lengths[place]
            if written >= args.words:
                break
    print(f"{args.output}: {written:,} words, {written / seen:.0%} of those seen", flush=True)


if __name__ == "__main__":
    main()
