"""A typed client for those who use a flow.

token = Path(".fourtier/bus/token").read_text()
async with connect("pulsar://127.0.0.1:6650", namespace="laptop", token=token) as client:
    reply = await client.answer("What was my budget?", user="ann")
    print(reply.answer)
"""

from fourtier.client.client import Client, Reply, client_on, connect
from fourtier.runtime.errors import CallFailedError, DeadlineExceededError, FourtierError

__all__ = [
    "CallFailedError",
    "Client",
    "DeadlineExceededError",
    "FourtierError",
    "Reply",
    "client_on",
    "connect",
]
