"""Make a small transformer from raw text, for `tanglewood embed`: what contextual vectors give without downloading any.

    python bench/transformer.py TEXT... -o FOLDER [--minutes 8] [--width 384] [--layers 8] [--pieces 12000]

TEXT has one sentence a line, tokens separated by spaces; plain, .gz or .xz. Words are cut into word pieces, which are
learnt first; one piece in five is hidden, and BERT learns to guess it (Devlin et al. 2019, without pairs of sentences).
The rate rises for a twentieth of the time and falls to 0 at its end, so MINUTES decide how much is learnt. An encoder
that is wider or deeper than the default one needs a lower rate: with 512 numbers, ten layers and a rate of 0.001 the
perplexity stays at 1,000. Needs PyTorch, transformers and, unless FOLDER is to be a toy, a GPU.
"""

import argparse
import gzip
import lzma
import math
import time
from pathlib import Path

import torch
from tokenizers import BertWordPieceTokenizer
from torch import nn
from transformers import BertConfig, BertModel, BertTokenizerFast

BLOCK = 128  # pieces that are read together
HIDDEN = 0.2  # share of the pieces that are to be guessed
HELD_OUT = 200  # blocks
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, _, CLS, SEP, MASK = range(len(SPECIAL))


def lines_of(files):
    """Yield the lines of all files."""
    for file in files:
        opened = {".xz": lzma.open, ".gz": gzip.open}.get(file.suffix, open)
        with opened(file, "rt", encoding="utf-8") as lines:
            yield from (line for line in lines if not line.isspace())


def pieces_of(files, size):
    """Return the cutter into pieces, learnt from the text, and the text as one row of numbers."""
    cutter = BertWordPieceTokenizer(lowercase=False, strip_accents=False)
    cutter.train_from_iterator(lines_of(files), vocab_size=size, special_tokens=list(SPECIAL), show_progress=False)
    cut = (numbers for batch in batches(lines_of(files), 10_000) for numbers in cutter.encode_batch(batch))
    return cutter, torch.cat([torch.tensor([*line.ids[1:-1], SEP], dtype=torch.int16) for line in cut])


def batches(lines, size):
    """Yield so many lines at a time."""
    some = []
    for line in lines:
        some.append(line)
        if len(some) == size:
            yield some
            some = []
    yield some


class Guesser(nn.Module):
    """The encoder, and a layer that guesses the pieces that it does not see."""

    def __init__(self, config):
        super().__init__()
        self.encoder = BertModel(config, add_pooling_layer=False)
        self.layer = nn.Sequential(
            nn.Linear(config.hidden_size, config.hidden_size), nn.GELU(), nn.LayerNorm(config.hidden_size)
        )
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, blocks, size):
        """Return the loss of guessing pieces that are hidden here."""
        chosen = (torch.rand(blocks.shape, device=blocks.device) < HIDDEN) & (blocks != CLS)
        how = torch.rand(blocks.shape, device=blocks.device)
        seen = torch.where(chosen & (how < 0.8), MASK, blocks)
        other = torch.randint(len(SPECIAL), size, blocks.shape, device=blocks.device)
        seen = torch.where(chosen & (how > 0.9), other, seen)
        found = self.encoder(seen).last_hidden_state[chosen]
        guessed = self.layer(found) @ self.encoder.embeddings.word_embeddings.weight.T + self.bias
        return nn.functional.cross_entropy(guessed.float(), blocks[chosen])


def blocks_at(row, places):
    """Return the blocks that begin at these places of the text, each with the sign of a beginning."""
    found = row[places[:, None] + torch.arange(BLOCK - 1, device=row.device)].long()
    return nn.functional.pad(found, (1, 0), value=CLS)


def main() -> None:
    """Learn until the time is over, then write the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, nargs="+", metavar="TEXT")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--minutes", type=float, default=8, help="of learning (default 8)")
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--pieces", type=int, default=12_000)
    parser.add_argument("--batch", type=int, default=512, help="blocks of 128 pieces (default 512)")
    parser.add_argument("--rate", type=float, default=7e-4)
    args = parser.parse_args()
    torch.manual_seed(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    cutter, row = pieces_of(args.texts, args.pieces)
    size = cutter.get_vocab_size()
    row = row.to(device)
    end = len(row) - HELD_OUT * BLOCK
    print(f"{len(row):,} pieces of {size:,} kinds", flush=True)
    config = BertConfig(
        vocab_size=size,
        hidden_size=args.width,
        num_hidden_layers=args.layers,
        num_attention_heads=max(args.width // 64, 1),
        intermediate_size=4 * args.width,
        max_position_embeddings=512,
        pad_token_id=PAD,
    )
    model = Guesser(config).to(device)
    learner = torch.optim.AdamW(model.parameters(), lr=args.rate, betas=(0.9, 0.98), weight_decay=0.01)
    begin, shown, seen = time.monotonic(), 0, 0
    while (done := (time.monotonic() - begin) / (60 * args.minutes)) < 1:
        rate = args.rate * min(done / 0.05 + 1e-3, (1 - done) / 0.95)
        for group in learner.param_groups:
            group["lr"] = rate
        places = torch.randint(end - BLOCK, (args.batch,), device=device)
        with torch.autocast(device, torch.bfloat16):
            loss = model(blocks_at(row, places), size)
        learner.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        learner.step()
        seen += places.numel() * BLOCK
        if int(10 * done) > shown or not shown:
            shown = int(10 * done) + 1
            print(f"{done:.0%}  {seen / 1e6:.0f} M pieces seen, perplexity {math.exp(loss.item()):.2f}", flush=True)
    model.eval()
    with torch.no_grad():
        places = end + torch.arange(HELD_OUT - 1, device=device) * BLOCK
        print(f"held-out perplexity {math.exp(model(blocks_at(row, places), size).item()):.2f}")
    args.output.mkdir(parents=True, exist_ok=True)
    model.encoder.half().save_pretrained(args.output)
    (args.output / "vocab.txt").write_text("\n".join(sorted(cutter.get_vocab(), key=cutter.get_vocab().get)))
    tokenizer = BertTokenizerFast(
        tokenizer_object=cutter._tokenizer, do_lower_case=False, strip_accents=False, model_max_length=512
    )
    tokenizer.save_pretrained(args.output)


if __name__ == "__main__":
    main()
