"""Storing only what was not forgotten, and deleting episodes for good."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from fourtier.engines.timestamps import as_text
from fourtier.memory.episodes.records import (
    episode_id,
    from_hit,
    said_at,
    searchable_text,
    was_said_at,
)
from fourtier.memory.episodes.store import EpisodeStore, Sent
from fourtier.memory.episodes.usage_counts import UsageCounts
from fourtier.memory.tombstones.selection import Selection
from fourtier.memory.tombstones.store import Tombstones, store_unless_forgotten
from fourtier.memory.tombstones.subject import Said, Subject, said
from fourtier.runtime.service.stores.vectors import Hit
from fourtier.schema.episodes import Episode, StoreEpisodeResponse
from fourtier.schema.message import Scope


class Episodes:
    """The episodes of all scopes, their usage and their tombstones, kept in step."""

    def __init__(self, store: EpisodeStore, usage: UsageCounts, tombstones: Tombstones) -> None:
        self._episodes = store
        self._usage = usage
        self._tombstones = tombstones

    async def store(self, sent: Sequence[Sent]) -> list[StoreEpisodeResponse]:
        """Write the episodes that were not forgotten, one write for each scope."""
        created: dict[int, bool] = {}

        async def store(indices: Sequence[int]) -> list[int]:
            for scope, of_scope in _by_scope(sent, indices).items():
                stored = await self._episodes.store(scope, [sent[index] for index in of_scope])
                await self._usage.add_scope(scope)
                created.update(
                    (index, is_new) for index, (_, is_new) in zip(of_scope, stored, strict=True)
                )
            return [index for index in indices if created[index]]

        async def take_out(indices: Sequence[int]) -> None:
            for scope, of_scope in _by_scope(sent, indices).items():
                ids = [episode_id(sent[index].request) for index in of_scope]
                await self._delete(scope, ids)

        when = [_said(each) for each in sent]
        reasons = await store_unless_forgotten(
            self._tombstones, when, store=store, take_out=take_out
        )
        return [
            StoreEpisodeResponse(
                episode_id=episode_id(each.request),
                created=reason is None and created[index],
                not_stored=reason,
            )
            for index, (each, reason) in enumerate(zip(sent, reasons, strict=True))
        ]

    async def selected(self, scope: Scope, selection: Selection, until: datetime) -> list[Episode]:
        """The episodes that a selection names or fits, of what was said until then."""
        hits = [
            hit for hit in await self._episodes.all(scope) if was_said_at(hit) <= as_text(until)
        ]
        return [from_hit(hit) for hit in hits if _is_selected(hit, selection)]

    async def erase(self, scope: Scope, selection: Selection, at: datetime) -> list[Episode]:
        """Forget what is selected and what may still come of it; returns what there was."""
        await self._tombstones.add(selection.subjects(scope, "episode"), at)
        episodes = await self.selected(scope, selection, at)
        ids = [episode.id for episode in episodes]
        await self._tombstones.add([Subject(scope, "episode", (each,)) for each in ids], at)
        await self._delete(scope, ids)
        if selection.everything and not await self._episodes.count(scope):
            await self._usage.forget_scope(scope)
        return episodes

    async def _delete(self, scope: Scope, ids: Sequence[str]) -> None:
        await self._episodes.delete(scope, ids)
        await self._usage.forget(scope, ids)


def _said(sent: Sent) -> Said:
    request = sent.request
    return said(
        request.scope,
        said_at(request, sent.at),
        request.source,
        request.invocation_id,
        Subject(request.scope, "episode", (episode_id(request),)),
        learned_at=as_text(request.learned_at) if request.learned_at else "",
    )


def _by_scope(sent: Sequence[Sent], indices: Sequence[int]) -> dict[Scope, list[int]]:
    """The indices, each scope's by themselves and in order."""
    grouped: defaultdict[Scope, list[int]] = defaultdict(list)
    for index in indices:
        grouped[sent[index].request.scope].append(index)
    return grouped


def _is_selected(hit: Hit, selection: Selection) -> bool:
    if selection.everything or hit.id in selection.ids:
        return True
    episode = from_hit(hit)
    if selection.conversation_id and episode.source == selection.conversation_id:
        # One of the whole conversation tells of each exchange in it, in whatever words.
        wanted = selection.invocation_ids
        if not wanted or not episode.invocation_id or episode.invocation_id in wanted:
            return True
    return selection.fits(searchable_text(episode))
