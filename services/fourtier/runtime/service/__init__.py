"""Public: what the author of a service imports.

A service is a subclass of `Service` that declares its name, parameters, stores and handlers on its
class. CONTRIBUTING.md builds one from nothing.
"""

from fourtier.runtime.errors import (
    CallFailedError,
    DeadlineExceededError,
    FourtierError,
    OverloadedError,
    PermanentError,
    StartupError,
    UnavailableError,
)
from fourtier.runtime.rpc.caller import Caller
from fourtier.runtime.rpc.envelope import current_envelope, current_envelopes
from fourtier.runtime.rpc.retry import Retry
from fourtier.runtime.service.context import Parameters, ServiceContext
from fourtier.runtime.service.declaration import (
    Handler,
    Service,
    answer,
    answer_batch,
    on,
    on_batch,
    stream,
)
from fourtier.runtime.service.deployment import DeploymentProfile
from fourtier.runtime.service.periodic import periodic
from fourtier.runtime.service.stores import (
    Collection,
    Fields,
    GraphSchema,
    Node,
    Relation,
    SparseField,
    Stores,
)

__all__ = [
    "CallFailedError",
    "Caller",
    "Collection",
    "DeadlineExceededError",
    "DeploymentProfile",
    "Fields",
    "FourtierError",
    "GraphSchema",
    "Handler",
    "Node",
    "OverloadedError",
    "Parameters",
    "PermanentError",
    "Relation",
    "Retry",
    "Service",
    "ServiceContext",
    "SparseField",
    "StartupError",
    "Stores",
    "UnavailableError",
    "answer",
    "answer_batch",
    "current_envelope",
    "current_envelopes",
    "on",
    "on_batch",
    "periodic",
    "stream",
]
