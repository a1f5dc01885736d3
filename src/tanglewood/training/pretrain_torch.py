"""Pretraining with PyTorch, for machines with a GPU: the same encoder, all predicted forms compared at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tanglewood.errors import ConfigError
from tanglewood.ml.adam import falling
from tanglewood.ml.encoder import DIRECTIONS, EMBED, Floats, Ints
from tanglewood.ml.knowledge import Knowledge
from tanglewood.ml.language_model import (
    KNOWN,
    ROOT,
    SIZES,
    UNSEEN,
    WIDTHS,
    LanguageOptions,
    Types,
    knowledge_of,
    new_parameters,
)

AVERAGE = 0.995  # of the weights of a step before, as in ml/adam.py
# PyTorch's order of the gates of an LSTM (input, forget, cell, output), by the numbers that they have here.
GATES = (0, 1, 3, 2)


def _torch() -> Any:  # noqa: ANN401 - a module
    try:
        import torch
    except ImportError:
        raise ConfigError("pretraining on a GPU needs PyTorch: pip install torch") from None
    return torch


def _swapped(rows: Floats) -> Floats:
    """Return the blocks of four gates in PyTorch's order, or back: the same exchange."""
    return np.concatenate([np.split(rows, 4)[gate] for gate in GATES])


class TorchLanguageModel:
    """Learns what `LanguageModel` learns; weights begin the same, but are not the same bit for bit."""

    def __init__(self, types: Types, options: LanguageOptions, seed: int, device: str) -> None:
        torch = self._torch = _torch()
        if device.startswith("cuda") and not torch.cuda.is_available():
            raise ConfigError("there is no GPU that PyTorch can use; --device cpu does without")
        self.types = types
        self.options = options
        self.device = torch.device(device)
        torch.manual_seed(seed)
        self._fresh = new_parameters(types, np.random.default_rng(seed))
        self._rng = np.random.default_rng([seed, 1])
        self._net = self._network(torch.nn)
        self._average = {name: value.detach().clone() for name, value in self._net.state_dict().items()}
        self._adam = torch.optim.Adam(self._net.parameters(), lr=options.rate, betas=(0.9, 0.98), eps=1e-8)
        self._numbers = {
            name: torch.from_numpy(types.numbers[name].astype(np.int64)).to(self.device) for name in types.values
        }
        self._targets = torch.from_numpy(types.predicted.astype(np.int64)).to(self.device)

    def _network(self, nn: Any) -> Any:  # noqa: ANN401 - PyTorch's
        torch, fresh = self._torch, self._fresh
        n_word, n_lstm, _ = SIZES
        net = nn.ModuleDict(
            {
                **{name: nn.Embedding(*fresh[f"{EMBED}{name}"].shape) for name in WIDTHS},
                "word": nn.Linear(sum(WIDTHS.values()), n_word),
                "lstm": nn.LSTM(n_word, n_lstm, batch_first=True, bidirectional=True),
                "predict": nn.Linear(n_word, len(self.types.chances)),
            }
        )
        with torch.no_grad():
            for name in WIDTHS:
                net[name].weight.copy_(torch.from_numpy(fresh[f"{EMBED}{name}"]))
            net["word"].weight.copy_(torch.from_numpy(fresh["word.weight"].T.copy()))
            net["word"].bias.zero_()
            net["predict"].weight.copy_(torch.from_numpy(fresh["predict.weight"]))
            net["predict"].bias.zero_()
            for direction, end in zip(DIRECTIONS, ("", "_reverse"), strict=True):
                for own, theirs in (("input", "weight_ih"), ("recurrent", "weight_hh")):
                    rows = _swapped(np.ascontiguousarray(fresh[f"lstm0.{direction}.{own}"].T))
                    getattr(net["lstm"], f"{theirs}_l0{end}").copy_(torch.from_numpy(rows))
                bias = _swapped(fresh[f"lstm0.{direction}.bias"])
                getattr(net["lstm"], f"bias_ih_l0{end}").copy_(torch.from_numpy(bias))
                getattr(net["lstm"], f"bias_hh_l0{end}").zero_()
        return net.to(self.device)

    def _loss(self, sentences: Sequence[Ints], drop_form: float, drop_input: float) -> tuple[Any, int]:
        """Return the sum of losses of a batch, and of how many words."""
        torch = self._torch
        functional = torch.nn.functional
        longest = max(map(len, sentences)) + 1
        padded = np.full((len(sentences), longest), -1, np.int64)
        for row, tokens in zip(padded, sentences, strict=True):
            row[0] = ROOT
            row[1 : len(tokens) + 1] = tokens
        lengths = torch.tensor([len(tokens) + 1 for tokens in sentences])
        nodes = torch.from_numpy(padded).to(self.device)
        inside = nodes >= 0
        nodes = nodes.clamp(min=UNSEEN)
        net = self._net
        known = self._numbers[KNOWN][nodes][..., 0]
        if drop_form:
            hidden = (torch.rand(known.shape, device=self.device) < drop_form) & (nodes != ROOT)
            known = known.masked_fill(hidden, UNSEEN)
        parts = {
            "affixes": net["affixes"](self._numbers["affixes"][nodes]).sum(-2),
            "short_shape": net["short_shape"](self._numbers["short_shape"][nodes][..., 0]),
            KNOWN: net[KNOWN](known),
        }
        embedded = functional.dropout(torch.cat([parts[name] for name in WIDTHS], dim=-1), drop_input)
        words = functional.relu(net["word"](embedded))
        packed = torch.nn.utils.rnn.pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        outputs, _ = torch.nn.utils.rnn.pad_packed_sequence(net["lstm"](packed)[0], batch_first=True)
        contexts = (words + outputs) * inside[..., None]  # after the last word there is nothing
        half = SIZES[0] // 2
        after = functional.pad(contexts[:, 2:, half:], (0, 0, 0, 1))
        seen = torch.cat([contexts[:, :-1, :half], after], dim=-1)
        targets = torch.where(inside[:, 1:], self._targets[nodes[:, 1:]], -1)
        wanted = targets >= 0
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            scores = net["predict"](seen[wanted])
        return functional.cross_entropy(scores.float(), targets[wanted], reduction="sum"), int(wanted.sum())

    def learn(self, sentences: Sequence[Ints], done: float) -> tuple[float, int]:
        """Learn from a batch, when this share of all is done; return the sum of losses, and of how many words."""
        options = self.options
        for group in self._adam.param_groups:
            group["lr"] = falling(options.rate, options.last_rate, done)
        loss, words = self._loss(sentences, options.drop_form, options.drop_input)
        if not words:
            return 0.0, 0
        self._adam.zero_grad()
        (loss / words).backward()
        self._adam.step()
        own = self._net.state_dict()
        self._torch._foreach_lerp_([*self._average.values()], [own[name] for name in self._average], 1 - AVERAGE)
        return loss.item(), words

    def perplexity(self, sentences: Sequence[Ints]) -> float:
        """Return the perplexity of text that was not learnt from."""
        torch = self._torch
        own = {name: value.clone() for name, value in self._net.state_dict().items()}
        self._net.load_state_dict(self._average)
        with torch.no_grad():
            found = [self._loss(sentences[begin : begin + 50], 0, 0) for begin in range(0, len(sentences), 50)]
        self._net.load_state_dict(own)
        return float(np.exp(sum(float(loss) for loss, _ in found) / max(sum(words for _, words in found), 1)))

    def knowledge(self) -> Knowledge:
        """Return the averaged encoder as of now."""
        own = {name: value.cpu().numpy() for name, value in self._average.items()}
        parameters = {f"{EMBED}{name}": own[f"{name}.weight"] for name in WIDTHS}
        parameters["word.weight"] = np.ascontiguousarray(own["word.weight"].T)
        parameters["word.bias"] = own["word.bias"]
        for direction, end in zip(DIRECTIONS, ("", "_reverse"), strict=True):
            for name, theirs in (("input", "weight_ih"), ("recurrent", "weight_hh")):
                rows = _swapped(own[f"lstm.{theirs}_l0{end}"]).T
                parameters[f"lstm0.{direction}.{name}"] = np.ascontiguousarray(rows)
            parameters[f"lstm0.{direction}.bias"] = _swapped(
                own[f"lstm.bias_ih_l0{end}"] + own[f"lstm.bias_hh_l0{end}"]
            )
        return knowledge_of(parameters, self.types, latin=self.options.latin)

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return everything that learning depends on, but for the random numbers of the GPU."""
        arrays = {f"value/{name}": value.cpu().numpy() for name, value in self._net.state_dict().items()}
        arrays |= {f"averaged/{name}": value.cpu().numpy() for name, value in self._average.items()}
        for number, kept in self._adam.state_dict()["state"].items():
            arrays |= {
                f"first/{number}": kept["exp_avg"].cpu().numpy(),
                f"second/{number}": kept["exp_avg_sq"].cpu().numpy(),
            }
        steps = [int(kept["step"]) for kept in self._adam.state_dict()["state"].values()]
        return arrays, {"steps": max(steps, default=0)}

    def restore(self, arrays: Mapping[str, memoryview], data: Mapping[str, Any]) -> None:
        """Go back to what `state` returned."""
        torch = self._torch

        def tensor(name: str) -> Any:  # noqa: ANN401 - PyTorch's
            return torch.from_numpy(np.array(arrays[name])).to(self.device)

        self._net.load_state_dict({name: tensor(f"value/{name}") for name in self._average})
        self._average = {name: tensor(f"averaged/{name}") for name in self._average}
        state = self._adam.state_dict()
        state["state"] = {
            number: {
                "step": torch.tensor(float(data["steps"])),
                "exp_avg": tensor(f"first/{number}"),
                "exp_avg_sq": tensor(f"second/{number}"),
            }
            for number in range(len(list(self._net.parameters())))
        }
        self._adam.load_state_dict(state)
