"""Loads a model by its name."""

from fastembed import TextEmbedding

from fourtier.models.embeddings import bundled
from fourtier.runtime.errors import StartupError

#: Threads of one run of a model. Those of ONNX Runtime's pool wait for work by spinning: with two,
#: a question that takes 6 ms of processor time took 22. Several concurrent runs use the cores as
#: well (see `encoder.py`).
THREADS = 1


def load_model(name: str) -> TextEmbedding:
    """Load the bundled model or one of fastembed's from its cache on disk.

    Raises:
        StartupError: fastembed does not know the model, or its files are not here.
    """
    if name == bundled.NAME:
        return bundled.load(THREADS)
    try:
        return TextEmbedding(name, threads=THREADS, local_files_only=True)
    except ValueError as error:
        raise StartupError(
            f"the embedding model {name!r} cannot be loaded: {error}. Put its files into "
            f"fastembed's cache directory (FASTEMBED_CACHE_PATH), or name {bundled.NAME!r}"
        ) from error
