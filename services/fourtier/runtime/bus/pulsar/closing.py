"""Letting go of Pulsar's C++ client without aborting the process."""

import asyncio
import logging
import weakref
from typing import Any

import pulsar
import pulsar.asyncio as pulsar_asyncio

log = logging.getLogger(__name__)

#: How long closing may take when the broker does not answer any more, in seconds.
CLOSES_WITHIN = 5.0
_LOOKS_EVERY = 0.001


class _Closed:
    """Called by the client library when it has closed, in a thread of its own."""

    def __call__(self, result: pulsar.Result) -> None:
        """Nothing is left to be done; a connection that is gone already is closed too."""


async def let_go(client: Any) -> None:
    """Close a client and wait until its last thread is done with the interpreter.

    If the program ends while a thread of the library is still in Python, that thread is stopped in
    the middle of C++ code, which aborts the process. So the thread must not be the one to wake us,
    as the library's own `close` lets it: we look whether it has let go of its callback instead.
    """
    callback = _Closed()
    held = weakref.ref(callback)
    client._client.close_async(callback)  # noqa: SLF001 - see above
    del callback
    try:
        async with asyncio.timeout(CLOSES_WITHIN):
            while held() is not None:  # noqa: ASYNC110 - nobody may wake us, see above
                await asyncio.sleep(_LOOKS_EVERY)
    except TimeoutError:
        log.warning("Closing the connection to the bus was not confirmed in time.")


async def closed(closable: Any, name: str) -> None:
    """Close; what cannot be closed any more is gone already."""
    try:
        async with asyncio.timeout(CLOSES_WITHIN):
            await closable.close()
    except TimeoutError:
        log.warning("Closing %s was not confirmed in time.", name)
    except pulsar_asyncio.PulsarException as error:
        log.debug("Closing %s: %s", name, error)
