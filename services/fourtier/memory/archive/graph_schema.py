"""What the archive has in the graph."""

from fourtier.memory.retention.opt_outs import opt_outs_of
from fourtier.memory.tombstones.store import tombstones_of
from fourtier.runtime.service.stores.schemas import GraphSchema, Node, Relation

TOMBSTONES, OPT_OUTS = tombstones_of("Archive"), opt_outs_of("Archive")
_ENTRY_TEXTS = (
    "id scope kind source invocation_id part speaker text said_at sent_at".split()  # noqa: SIM905
)
_MEMO_TEXTS = [
    "id",
    "scope",
    "kind",
    "source",
    "page_id",
    "page_hash",
    "text",
    "method",
    "model",
    "made_at",
    "started_at",
    "ended_at",
    "oldest",
]
SCHEMA = GraphSchema(
    nodes=[
        TOMBSTONES,
        OPT_OUTS,
        Node(
            "ArchiveSource",
            {
                **dict.fromkeys(
                    ("id", "scope", "kind", "name", "version", "written_for", "sent_at"), "STRING"
                ),
                **dict.fromkeys(("page", "tokens", "entries"), "INT64"),
                "closed": "BOOL",
            },
        ),
        Node(
            "ArchivePage",
            {
                **dict.fromkeys(
                    ("id", "scope", "kind", "source", "changed_at", "revision"), "STRING"
                ),
                "number": "INT64",
                **dict.fromkeys(("closed", "announced"), "BOOL"),
            },
            indexed=("scope",),
        ),
        Node(
            "ArchiveEntry",
            {**dict.fromkeys(_ENTRY_TEXTS, "STRING"), "page": "INT64", "position": "INT64"},
            indexed=("scope",),
        ),
        Node(
            "ArchiveMemo",
            {**dict.fromkeys(_MEMO_TEXTS, "STRING"), "page": "INT64"},
            indexed=("scope",),
        ),
    ],
    relations=[
        Relation("HOLDS", "ArchivePage", "ArchiveEntry"),
        Relation("HAS_MEMO", "ArchivePage", "ArchiveMemo"),
        Relation("SHOWN", "ArchiveMemo", "ArchiveMemo"),
    ],
    index="archive",
)
