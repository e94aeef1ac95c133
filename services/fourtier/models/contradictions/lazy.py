"""The cross-encoder, loaded when it is first asked: a flow that does not use it has no cost."""

import threading
from typing import TYPE_CHECKING

from fourtier.models.contradictions.client import Pair

if TYPE_CHECKING:
    from fourtier.models.contradictions.cross_encoder import CrossEncoder

#: Its name in metrics and traces.
CROSS_ENCODER = "all-minilm-l6-v2-contradictions"


class LazyCrossEncoder:
    """As `CrossEncoder`; several threads that ask first load it once."""

    def __init__(self) -> None:
        self._model: CrossEncoder | None = None
        self._loading = threading.Lock()

    def __call__(self, pairs: list[Pair]) -> list[float]:
        """The probability of each pair, 0 to 1.

        Raises:
            StartupError: the packages that it needs are not installed.
        """
        with self._loading:
            if self._model is None:
                # Its libraries take long to import.
                from fourtier.models.contradictions.cross_encoder import (  # noqa: PLC0415
                    CrossEncoder,
                )

                self._model = CrossEncoder.load()
        return self._model(pairs)
