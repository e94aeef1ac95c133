"""The adapter (LoRA, Hu et al. 2021) that makes a cross-encoder of the bundled embedding model.

An embedding model reads one text. With the adapter the same model reads two at once, the older and
the newer statement, and a linear layer on what it makes of them gives the logit of "the older one
is not true any more". So what is shipped is one megabyte, and not a second model of 23.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float32]

FILE = "adapter.npz"
LAYERS = 6
#: The linear maps of a layer of BERT, in the order in which the model's graph has them.
LINEAR = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
NORMS = ("attention.output.LayerNorm", "output.LayerNorm")
#: The difference of a linear map is scaled by this, as in training.
SCALE = 2.0


def linear_maps() -> Iterator[str]:
    """Names of all adapted linear maps, in the order of the graph."""
    for layer in range(LAYERS):
        yield from (f"encoder.layer.{layer}.{name}" for name in LINEAR)


def norm_parameters() -> Iterator[str]:
    """Names of all parameters that are trained whole: those of the layers' normalisation."""
    for layer in range(LAYERS):
        for name in NORMS:
            yield from (f"encoder.layer.{layer}.{name}.{part}" for part in ("weight", "bias"))


@dataclass(frozen=True)
class Adapter:
    """What was trained.

    Attributes:
        base: SHA-256 of the file of the model that it belongs to.
        arrays: by name, `{linear map}.a` (rank, inputs) and `{linear map}.b` (outputs, rank), the
            parameters of the normalisation, `head.weight` (768,) and `head.bias` ().
    """

    base: str
    arrays: dict[str, Array]

    @classmethod
    def load(cls) -> Self:
        """The adapter in this package."""
        with (
            files("fourtier.models.contradictions").joinpath(FILE).open("rb") as file,
            np.load(file) as stored,
        ):
            arrays = {name: stored[name] for name in stored.files}
        base = bytes(arrays.pop("base")).decode()
        return cls(base, {name: array.astype(np.float32) for name, array in arrays.items()})

    def save(self, path: Path) -> None:
        """Write it, in half precision."""
        halves = {name: array.astype(np.float16) for name, array in self.arrays.items()}
        base = np.frombuffer(self.base.encode(), np.uint8)
        np.savez_compressed(path, allow_pickle=False, base=base, **halves)

    def difference(self, linear_map: str) -> Array:
        """What is added to the weight of a linear map: (outputs, inputs)."""
        a, b = self.arrays[f"{linear_map}.a"], self.arrays[f"{linear_map}.b"]
        return SCALE * (b @ a)

    def logits(self, hidden: Array, mask: Sequence[Sequence[int]]) -> Array:
        """The logit of each pair, from the first token and the mean of all (pairs, tokens, 384)."""
        weights = np.asarray(mask, np.float32)[:, :, None]
        mean = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        features = np.concatenate([hidden[:, 0], mean], axis=1)
        logits: Array = features @ self.arrays["head.weight"] + self.arrays["head.bias"]
        return logits


def digest(model: Path) -> str:
    """By which an adapter knows the model that it belongs to."""
    return hashlib.sha256(model.read_bytes()).hexdigest()
