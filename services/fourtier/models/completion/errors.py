"""What can go wrong with a model.

ModelError
├── ModelUnreachableError  no connection, or nothing is sent: retried
├── ModelBusyError         429 or 5xx: retried
├── ModelRejectedError     the endpoint rejects the request: wrong key, wrong model, too long
├── ModelMalformedError    what it sent does not follow the API or the dialect
├── ModelCutOffError       the reply began and did not come to its end
└── BudgetError            the flow's tokens of the day are used up
"""

from fourtier.runtime.errors import FourtierError


class ModelError(FourtierError):
    """The model gave no usable step."""

    type = "model"


class ModelUnreachableError(ModelError):
    """The endpoint does not answer, or it sends nothing for too long."""

    type = "model-unreachable"
    temporary = True


class ModelBusyError(ModelError):
    """The endpoint cannot answer now.

    Attributes:
        pauses_all: it cannot answer any request, because there are too many or because it says
            when it will be ready; otherwise the next one may well succeed.
    """

    type = "model-busy"
    temporary = True

    def __init__(
        self, message: str, retry_after: float | None = None, *, pauses_all: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.pauses_all = pauses_all


class ModelRejectedError(ModelError):
    """The endpoint rejects the request; the text has its own message.

    Attributes:
        parameter: what it rejects of the request, where it can do without; see `rejected`.
    """

    type = "model-rejected"

    def __init__(self, message: str, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class ModelMalformedError(ModelError):
    """The endpoint or the model sent something that cannot be read."""

    type = "model-malformed"


class ModelCutOffError(ModelError):
    """The connection broke or a limit was reached in the middle of the reply."""

    type = "model-cut-off"


class BudgetError(ModelError):
    """No tokens are left today; says the cap, what was used and when it begins anew."""

    type = "budget"
