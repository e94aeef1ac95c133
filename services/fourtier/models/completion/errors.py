"""What can go wrong with a model.

ModelError
├── ModelUnreachableError  no connection, or silence: tried again
├── ModelBusyError         429 or 5xx: tried again
├── ModelRefusedError      the endpoint does not take the request: wrong key, wrong model, too long
├── ModelMalformedError    what it sent is not what the API or the dialect says
├── ModelCutOffError       it began and did not come to its end
└── BudgetError            the flow's tokens of the day are used up
"""

from fourtier.runtime.errors import FourtierError


class ModelError(FourtierError):
    """The model gave no usable step."""

    type = "model"


class ModelUnreachableError(ModelError):
    """Nothing answers at the endpoint, or it stays silent."""

    type = "model-unreachable"
    temporary = True


class ModelBusyError(ModelError):
    """The endpoint cannot answer now.

    Attributes:
        after: seconds after which it wants to be asked again, where it says so.
    """

    type = "model-busy"
    temporary = True

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class ModelRefusedError(ModelError):
    """The endpoint refuses the request; the text has its own words."""

    type = "model-refused"


class ModelMalformedError(ModelError):
    """The endpoint or the model sent something that cannot be read."""

    type = "model-malformed"


class ModelCutOffError(ModelError):
    """The connection broke, or the limit of tokens was reached, in the middle of the reply."""

    type = "model-cut-off"


class BudgetError(ModelError):
    """No tokens are left today; says the cap, what was used and when it begins anew."""

    type = "budget"
