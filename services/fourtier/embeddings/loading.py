"""Which model a name means."""

from fastembed import TextEmbedding

from fourtier.embeddings import bundled
from fourtier.runtime.errors import StartupError


def load_model(name: str, threads: int | None) -> TextEmbedding:
    """Load the bundled model or one of fastembed's from its cache on disk.

    Raises:
        StartupError: fastembed does not know the model, or its files are not here.
    """
    if name == bundled.NAME:
        return bundled.load(threads)
    try:
        return TextEmbedding(name, threads=threads, local_files_only=True)
    except ValueError as error:
        raise StartupError(
            f"the embedding model {name!r} cannot be loaded: {error}. Put its files into "
            f"fastembed's cache directory (FASTEMBED_CACHE_PATH), or name {bundled.NAME!r}"
        ) from error
