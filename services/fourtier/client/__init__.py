"""Public: a typed client for programs that use a flow.

token = Path(".fourtier/bus/token").read_text()
async with connect("pulsar://127.0.0.1:6650", namespace="laptop", token=token) as client:
    reply = await client.answer("What was my budget?", user="ann")
    print(reply.answer)

`Client` asks the agent and has questions researched; `client.facts`, `client.episodes`,
`client.conversations` and `client.archive` read and change memory; `client.forget` deletes from all
of it for good, and `client.memory` says of whom there is any. The messages are those of
`fourtier.schema`. Every error is a `FourtierError`.
"""

from fourtier.client.client import Client, Reply, client_on, connect
from fourtier.client.forgetting import Forget
from fourtier.client.forgotten import Forgotten
from fourtier.client.memory import Conversations, Episodes, Facts
from fourtier.client.opting_out import OptOutState, UserMemory
from fourtier.client.requests import InvalidRequestError
from fourtier.client.why import ConsideredMemory, Why
from fourtier.runtime.errors import CallFailedError, DeadlineExceededError, FourtierError

__all__ = [
    "CallFailedError",
    "Client",
    "ConsideredMemory",
    "Conversations",
    "DeadlineExceededError",
    "Episodes",
    "Facts",
    "Forget",
    "Forgotten",
    "FourtierError",
    "InvalidRequestError",
    "OptOutState",
    "Reply",
    "UserMemory",
    "Why",
    "client_on",
    "connect",
]
