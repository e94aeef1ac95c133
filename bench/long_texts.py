"""How many characters of long texts the embedded graph takes: `python -m bench.long_texts`.

It writes texts of 20,000 characters until the graph cannot move its log into its file any more.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from fourtier.engines.graph.ladybug import open_ladybug
from fourtier.engines.graph.ladybug.files import log_bytes
from fourtier.runtime.service.stores.graph import Statement
from fourtier.runtime.service.stores.schemas import GraphSchema, Node

_SCHEMA = GraphSchema([Node("Text", {"id": "STRING", "text": "STRING"})])
_CREATE = "UNWIND $rows AS row CREATE (t:Text {id: row.id, text: row.text})"
_CHARACTERS = 20_000
_BATCH = 50
#: A log of this length was not moved into the file.
_LEFT = 3 * 1024 * 1024


async def _main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        file, number = Path(directory) / "graph.lbug", 0
        async with open_ladybug(file, _SCHEMA) as store:
            while log_bytes(file) < _LEFT:
                names = range(number, number + _BATCH)
                rows = [{"id": str(n), "text": f"{n} " + "x" * _CHARACTERS} for n in names]
                await store.write(None, Statement(_CREATE, {"rows": rows}))
                number += _BATCH
        millions = number * _CHARACTERS / 1e6
        sys.stdout.write(f"{number:,} texts, {millions:.0f} million characters\n")


if __name__ == "__main__":
    asyncio.run(_main())
