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
from fourtier.runtime.service.stores.graph import ConflictError, GraphStore, Row, Statement, Value
from fourtier.runtime.service.stores.query import (
    AnyOf,
    DenseLeg,
    Equals,
    Group,
    MinMax,
    Range,
    Rrf,
    SparseLeg,
)
from fourtier.runtime.service.stores.schemas import (
    Collection,
    Fields,
    GraphSchema,
    Node,
    Relation,
    SparseField,
    Stores,
)
from fourtier.runtime.service.stores.vectors import Facet, Hit, Point, VectorStore

__all__ = [
    "AnyOf",
    "CallFailedError",
    "Caller",
    "Collection",
    "ConflictError",
    "DeadlineExceededError",
    "DenseLeg",
    "DeploymentProfile",
    "Equals",
    "Facet",
    "Fields",
    "FourtierError",
    "GraphSchema",
    "GraphStore",
    "Group",
    "Handler",
    "Hit",
    "MinMax",
    "Node",
    "OverloadedError",
    "Parameters",
    "PermanentError",
    "Point",
    "Range",
    "Relation",
    "Retry",
    "Row",
    "Rrf",
    "Service",
    "ServiceContext",
    "SparseField",
    "SparseLeg",
    "StartupError",
    "Statement",
    "Stores",
    "UnavailableError",
    "Value",
    "VectorStore",
    "answer",
    "answer_batch",
    "current_envelope",
    "current_envelopes",
    "on",
    "on_batch",
    "periodic",
    "stream",
]
