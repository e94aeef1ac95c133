"""Trains the detection of contradictions: the adapter of the bundled embedding model.

    uv run --with torch --with transformers python -m training.contradictions [--epochs 6]

Needs half an hour on two cores. Only the adapter (LoRA of rank 16, Hu et al. 2021), the layers'
normalisation and the head are trained, with cross entropy on pairs of statements: those in
tests/data/contradictions, and those of the dialogues that the rules were made with. Prints how the
pairs that are held out are told apart, and writes the adapter into the package.
"""

import argparse
import asyncio
import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import BertConfig, BertModel

import fourtier.models.contradictions.adapter as adapting
from fourtier.models.contradictions.adapter import Adapter, digest, linear_maps, norm_parameters
from fourtier.models.contradictions.base_model import BaseModel
from fourtier.models.contradictions.cross_encoder import pair_tokenizer
from fourtier.models.embeddings.bundled import model_file
from training.data import Labelled, dialogue_pairs, written_pairs

RANK = 16
BATCH = 32
RATE, HEAD_RATE = 1e-3, 1e-3
WARM_UP = 0.1
#: Labels are not trusted wholly (label smoothing).
SMOOTHING = 0.02
#: Pairs are batched with those of their length among so many batches.
_SORTED_BATCHES = 8


class LowRank(nn.Module):
    """A linear map that stays as it is, plus a trained difference of low rank."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.linear = linear
        self.a = nn.Parameter(torch.randn(RANK, linear.in_features) / math.sqrt(linear.in_features))
        self.b = nn.Parameter(torch.zeros(linear.out_features, RANK))

    def forward(self, inputs: Tensor) -> Tensor:
        """The map's outputs."""
        difference: Tensor = inputs @ self.a.T @ self.b.T
        outputs: Tensor = self.linear(inputs)
        return outputs + adapting.SCALE * difference


class Trained(nn.Module):
    """The bundled model with the parts that are trained."""

    def __init__(self, base: BaseModel) -> None:
        super().__init__()
        self.bert = _bert(base)
        for parameter in self.bert.parameters():
            parameter.requires_grad = False
        for name in norm_parameters():
            self.bert.get_parameter(name).requires_grad = True
        for name in linear_maps():
            parent, _, last = name.rpartition(".")
            linear = self.bert.get_submodule(name)
            assert isinstance(linear, nn.Linear)
            setattr(self.bert.get_submodule(parent), last, LowRank(linear))
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(2 * 384, 1)

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """The logit of each pair."""
        read = self.bert(input_ids=ids, token_type_ids=types, attention_mask=mask)
        hidden = read.last_hidden_state
        weights = mask.unsqueeze(-1).float()
        mean = (hidden * weights).sum(1) / weights.sum(1)
        logits: Tensor = self.head(self.drop(torch.cat([hidden[:, 0], mean], 1)))
        return logits.squeeze(-1)

    def adapter(self, base: str) -> Adapter:
        """What was trained, as arrays."""
        arrays = {"head.weight": self.head.weight[0], "head.bias": self.head.bias[0]}
        for name in linear_maps():
            part = self.bert.get_submodule(name)
            assert isinstance(part, LowRank)
            arrays |= {f"{name}.a": part.a, f"{name}.b": part.b}
        arrays |= {name: self.bert.get_parameter(name) for name in norm_parameters()}
        return Adapter(base, {name: each.detach().numpy() for name, each in arrays.items()})


def _bert(base: BaseModel) -> BertModel:
    config = BertConfig(
        hidden_size=384,
        num_hidden_layers=adapting.LAYERS,
        num_attention_heads=12,
        intermediate_size=1536,
    )
    bert = BertModel(config, add_pooling_layer=False)
    linear = {f"{name}.weight": base.weight(name) for name in linear_maps()}
    with torch.no_grad():
        for name, parameter in bert.named_parameters():
            array = linear[name] if name in linear else base.parameter(name)
            parameter.copy_(torch.tensor(np.ascontiguousarray(array)))
    return bert


class Training:
    """One training run."""

    def __init__(self, base: BaseModel, pairs: Sequence[Labelled], epochs: int) -> None:
        self.model = Trained(base)
        self._pairs = pairs
        self._tokenizer = pair_tokenizer()
        self._random = np.random.default_rng(0)
        trained = [each for each in self.model.bert.parameters() if each.requires_grad]
        self._parameters = [*trained, *self.model.head.parameters()]
        self._optimizer = torch.optim.AdamW(
            [
                {"params": trained, "lr": RATE},
                {"params": self.model.head.parameters(), "lr": HEAD_RATE},
            ],
            weight_decay=0.01,
        )
        steps = epochs * math.ceil(len(pairs) / BATCH)

        def rate(step: int) -> float:
            return min(1.0, step / (WARM_UP * steps)) * max(0.0, 1 - step / steps)

        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, rate)

    def epoch(self) -> float:
        """Train on each pair once; the mean loss."""
        self.model.train()
        losses = [
            self._step([self._pairs[number] for number in batch]) for batch in self._batches()
        ]
        return sum(losses) / len(losses)

    def probabilities(self, pairs: Sequence[Labelled]) -> np.ndarray:
        """What the model says of pairs."""
        self.model.eval()
        with torch.no_grad():
            parts = [
                torch.sigmoid(self.model(*self._read(pairs[start : start + BATCH])))
                for start in range(0, len(pairs), BATCH)
            ]
        return torch.cat(parts).numpy()

    def _batches(self) -> list[list[int]]:
        order = self._random.permutation(len(self._pairs)).tolist()
        some = BATCH * _SORTED_BATCHES
        batches: list[list[int]] = []
        for start in range(0, len(order), some):
            alike = sorted(order[start : start + some], key=self._length)
            batches += [alike[at : at + BATCH] for at in range(0, len(alike), BATCH)]
        return batches

    def _length(self, number: int) -> int:
        return len(self._pairs[number].old) + len(self._pairs[number].new)

    def _step(self, pairs: Sequence[Labelled]) -> float:
        labels = torch.tensor([float(each.replaces) for each in pairs])
        smooth = labels * (1 - 2 * SMOOTHING) + SMOOTHING
        loss = binary_cross_entropy_with_logits(self.model(*self._read(pairs)), smooth)
        self._optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self._parameters, 1.0)
        self._optimizer.step()
        self._schedule.step()
        return loss.item()

    def _read(self, pairs: Sequence[Labelled]) -> tuple[Tensor, Tensor, Tensor]:
        read = self._tokenizer.encode_batch([(each.old, each.new) for each in pairs])
        rows = (
            [each.ids for each in read],
            [each.type_ids for each in read],
            [each.attention_mask for each in read],
        )
        ids, types, mask = (torch.tensor(each) for each in rows)
        return ids, types, mask


def report(pairs: Sequence[Labelled], probabilities: np.ndarray) -> str:
    """Precision and recall at some thresholds, and how many are told right at one half."""
    labels = np.array([each.replaces for each in pairs])
    rows = [f"right {np.mean((probabilities > 0.5) == labels):.1%}"]
    for threshold in (0.5, 0.8, 0.9, 0.95, 0.98):
        said = probabilities >= threshold
        precision = (said & labels).sum() / max(1, said.sum())
        recall = (said & labels).sum() / labels.sum()
        rows.append(f"from {threshold}: precision {precision:.1%} recall {recall:.1%}")
    return "; ".join(rows)


def main() -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    trained, held_out = written_pairs()
    trained += asyncio.run(dialogue_pairs())
    path = model_file()
    training = Training(BaseModel.load(path), trained, arguments.epochs)
    print(f"{len(trained)} pairs to train on, {len(held_out)} held out")
    for number in range(arguments.epochs):
        begun = time.monotonic()
        loss = training.epoch()
        said = report(held_out, training.probabilities(held_out))
        print(
            f"epoch {number + 1}, {time.monotonic() - begun:.0f} s: loss {loss:.3f}; {said}",
            flush=True,
        )
    file = model_file_of_adapter()
    training.model.adapter(digest(path)).save(file)
    print(f"wrote {file}, {file.stat().st_size / 1e6:.1f} MB")


def model_file_of_adapter() -> Path:
    """Where the package keeps the adapter."""
    return Path(adapting.__file__).with_name(adapting.FILE)


if __name__ == "__main__":
    main()
