"""The statements that write what the graph has of the archive."""

from collections.abc import Iterable, Mapping, Sequence

from fourtier.engines.graph.queries import over
from fourtier.memory.archive.entries import Entry, Source
from fourtier.memory.archive.paging import Paged, SourceState
from fourtier.runtime.rpc.envelope import new_id
from fourtier.runtime.service.stores.graph import Row, Statement


class Writing:
    """Makes the statements of one transaction each.

    Args:
        queries: of the archive, by their names.
    """

    def __init__(self, queries: Mapping[str, str]) -> None:
        self._queries = queries

    def append(
        self, paged: Sequence[Paged], changed: Sequence[Entry], changed_at: str
    ) -> list[Statement]:
        """What writes entries in their places, and later texts over what was there.

        The versions of their sources are not among it, see `version_writes`.
        """
        opened: list[Row] = []
        closed: list[Row] = []
        touched: dict[str, Row] = {}
        for each in paged:
            source = each.state.source
            opened += [_page_row(source, number, changed_at) for number in each.opened]
            closed += [{"id": source.page_id(number)} for number in each.closed]
            touched |= {
                entry.page_id: {"id": entry.page_id, "changed_at": changed_at}
                for entry in each.entries
            }
        added = [entry.to_row() for each in paged for entry in each.entries]
        queries = self._queries
        return [
            *over(queries["create_pages"], "pages", opened),
            *over(queries["touch_pages"], "pages", [touched[each] for each in sorted(touched)]),
            *over(queries["close_pages"], "pages", closed),
            *over(queries["add_entries"], "entries", added),
            *self._move(paged),
            *over(
                queries["set_entries"],
                "entries",
                [{"id": each.id, **_text_row(each)} for each in changed],
                all_there=True,
            ),
        ]

    def _move(self, paged: Sequence[Paged]) -> list[Statement]:
        """What puts entries on other pages, and deletes those that have none any more."""
        moved: list[Row] = [
            {"id": entry.id, "page": entry.page, "page_id": entry.page_id}
            for each in paged
            for entry in each.moved
        ]
        left = [each.state.source.page_id(number) for each in paged for number in each.left]
        return [
            *of_ids(self._queries["leave_pages"], [str(row["id"]) for row in moved]),
            *over(self._queries["come_on_pages"], "entries", moved),
            *of_ids(self._queries["delete_pages"], left),
        ]

    def close(self, state: SourceState) -> list[Statement]:
        """What notes how far a source is, and closes its last page."""
        rows: list[Row] = [{"id": state.source.page_id(state.page)}]
        return [*self.version_writes([state]), *over(self._queries["close_pages"], "pages", rows)]

    def version_writes(self, states: Iterable[SourceState], following: str = "") -> list[Statement]:
        """What notes how far sources are, in the same order whoever writes.

        Args:
            states: of the sources.
            following: the version that they have from then on; a new one if it is left out.
        """
        version = following or new_id()
        rows = [each.to_row(version) for each in sorted(states, key=lambda s: s.source.id)]
        return [
            *over(
                self._queries["set_sources"],
                "sources",
                [row for row in rows if row["version"]],
                all_there=True,
            ),
            *over(
                self._queries["create_sources"],
                "sources",
                [row for row in rows if not row["version"]],
            ),
        ]


def of_ids(text: str, ids: Sequence[str]) -> list[Statement]:
    """One statement over some ids, or nothing."""
    return [Statement(text, {"ids": ids})] if ids else []


def _page_row(source: Source, number: int, changed_at: str) -> Row:
    return {
        "id": source.page_id(number),
        "scope": source.scope.key,
        "kind": source.kind,
        "source": source.name,
        "number": number,
        "changed_at": changed_at,
    }


def _text_row(entry: Entry) -> Row:
    return {
        "speaker": entry.speaker,
        "text": entry.text,
        "said_at": entry.said_at,
        "sent_at": entry.sent_at,
    }
