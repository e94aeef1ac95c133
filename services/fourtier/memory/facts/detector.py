"""By what contradictions are detected, and from which figures on."""

from dataclasses import dataclass

from fourtier.models.contradictions.client import Contradict

#: Cosine of two statements by the bundled model from which they are compared. Of the pairs in
#: tests/data/supersession that contradict each other 95 % are more similar.
MIN_SIMILARITY = 0.4
#: Between this and the next both are valid, the newer one ranks first, and each names the other.
MIN_DOUBT = 0.7
#: Chosen on the dialogues of `third`; see docs/accuracy.md.
MIN_PROBABILITY = 0.97


@dataclass(frozen=True, slots=True)
class Detector:
    """How contradictions are detected.

    Attributes:
        contradict: the model.
        min_similarity: cosine from which two statements are compared.
        min_probability: from which the newer of two supersedes the older one.
        min_doubt: from which the two are linked as a possible conflict.
    """

    contradict: Contradict
    min_similarity: float = MIN_SIMILARITY
    min_probability: float = MIN_PROBABILITY
    min_doubt: float = MIN_DOUBT
