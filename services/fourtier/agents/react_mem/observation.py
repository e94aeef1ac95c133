"""What came of an action: the text that the model reads, and whether the tool did its work."""

from dataclasses import dataclass

from fourtier.schema.agent import StepStatus


@dataclass(frozen=True, slots=True)
class Observation:
    """The result of an action.

    Attributes:
        for_user: stands under the answer of the run, word for word, whatever the model writes.
        forgot: the tool has forgotten something: of the rest of the run no words are stored.
    """

    text: str
    status: StepStatus = "ok"
    for_user: str = ""
    forgot: bool = False
