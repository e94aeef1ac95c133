"""The memory calls, each tier behind a name of its own."""

from datetime import UTC, datetime

from fourtier.runtime.rpc.caller import Caller
from fourtier.schema.conversations import (
    DELETE_CONVERSATION,
    DIALOGUE_RECORDED,
    END_CONVERSATION,
    GET_CONVERSATION,
    LIST_CONVERSATIONS,
    ConversationMemory,
    DeleteConversationRequest,
    DialogueTurn,
    EndConversationRequest,
    GetConversationMemoryRequest,
    ListConversationsRequest,
    ListConversationsResponse,
)
from fourtier.schema.episodes import (
    DELETE_EPISODE,
    DELETE_EPISODES,
    LIST_EPISODES,
    RETRIEVE_EPISODES,
    DeleteEpisodeRequest,
    DeleteEpisodesRequest,
    Episode,
    ListEpisodesRequest,
    ListEpisodesResponse,
    Result,
    RetrieveEpisodesRequest,
)
from fourtier.schema.facts import (
    FORGET_FACT,
    FORGET_FACTS,
    GET_FACT,
    LIST_FACTS,
    REINDEX_FACTS,
    RETRIEVE_FACTS,
    STORE_FACT,
    Fact,
    ForgetFactRequest,
    ForgetFactsRequest,
    GetFactRequest,
    ListFactsRequest,
    ListFactsResponse,
    ReindexFactsRequest,
    ReindexFactsResponse,
    RetrieveFactsRequest,
    StoreFactRequest,
    StoreFactResponse,
)
from fourtier.schema.message import Scope


class Facts:
    """Long-term facts of a scope."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def store(
        self,
        scope: Scope,
        content: str,
        *,
        source: str = "",
        speaker: str = "",
        timestamp: datetime | None = None,
    ) -> StoreFactResponse:
        """Keep a statement, made now if no time is given; returns when it is on disk."""
        return await self._caller.call(
            STORE_FACT,
            StoreFactRequest(
                user=scope.user,
                collection=scope.collection,
                content=content,
                source=source,
                speaker=speaker,
                timestamp=timestamp or datetime.now(UTC),
            ),
        )

    async def search(
        self, scope: Scope, query: str, *, top_k: int = 5, include_superseded: bool = False
    ) -> tuple[Fact, ...]:
        """Find facts, best first."""
        found = await self._caller.call(
            RETRIEVE_FACTS,
            RetrieveFactsRequest(
                user=scope.user,
                collection=scope.collection,
                query=query,
                top_k=top_k,
                include_superseded=include_superseded,
            ),
        )
        return found.facts

    async def get(self, scope: Scope, fact_id: str) -> Fact | None:
        """Read one fact."""
        request = GetFactRequest(user=scope.user, collection=scope.collection, fact_id=fact_id)
        return (await self._caller.call(GET_FACT, request)).fact

    async def list(
        self,
        scope: Scope,
        *,
        limit: int = 100,
        offset: int = 0,
        include_superseded: bool = False,
    ) -> ListFactsResponse:
        """Read a page, newest first, and the total."""
        return await self._caller.call(
            LIST_FACTS,
            ListFactsRequest(
                user=scope.user,
                collection=scope.collection,
                limit=limit,
                offset=offset,
                include_superseded=include_superseded,
            ),
        )

    async def forget(self, scope: Scope, fact_id: str) -> bool:
        """Delete one fact; whether there was one."""
        request = ForgetFactRequest(user=scope.user, collection=scope.collection, fact_id=fact_id)
        return (await self._caller.call(FORGET_FACT, request)).forgotten

    async def forget_all(self, scope: Scope) -> int:
        """Delete all facts of a scope; how many there were."""
        request = ForgetFactsRequest(user=scope.user, collection=scope.collection)
        return (await self._caller.call(FORGET_FACTS, request)).forgotten

    async def reindex(self, cursor: str = "") -> ReindexFactsResponse:
        """Make the next part of the index from the graph, for all users.

        Begin without a cursor and go on with that of the answer until it is empty. A part that is
        asked for twice changes nothing.
        """
        return await self._caller.call(REINDEX_FACTS, ReindexFactsRequest(cursor=cursor))


class Episodes:
    """Past problem-solving of a scope."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def search(
        self, scope: Scope, query: str, *, top_k: int = 3, result: Result | None = None
    ) -> tuple[Episode, ...]:
        """Find episodes by their goal, best first."""
        found = await self._caller.call(
            RETRIEVE_EPISODES,
            RetrieveEpisodesRequest(
                user=scope.user,
                collection=scope.collection,
                query=query,
                top_k=top_k,
                result=result,
            ),
        )
        return found.episodes

    async def list(
        self, scope: Scope, *, limit: int = 100, offset: int = 0
    ) -> ListEpisodesResponse:
        """Read a page, newest first, and the total."""
        return await self._caller.call(
            LIST_EPISODES,
            ListEpisodesRequest(
                user=scope.user, collection=scope.collection, limit=limit, offset=offset
            ),
        )

    async def delete(self, scope: Scope, episode_id: str) -> bool:
        """Delete one episode; whether there was one."""
        request = DeleteEpisodeRequest(
            user=scope.user, collection=scope.collection, episode_id=episode_id
        )
        return (await self._caller.call(DELETE_EPISODE, request)).deleted

    async def delete_all(self, scope: Scope) -> int:
        """Delete all episodes of a scope; how many there were."""
        request = DeleteEpisodesRequest(user=scope.user, collection=scope.collection)
        return (await self._caller.call(DELETE_EPISODES, request)).deleted


class Conversations:
    """Conversation records of a scope."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def get(self, scope: Scope, conversation_id: str) -> ConversationMemory:
        """Read a record; an unknown conversation has no invocations."""
        found = await self._caller.call(
            GET_CONVERSATION,
            GetConversationMemoryRequest(
                user=scope.user, collection=scope.collection, conversation_id=conversation_id
            ),
        )
        return found.conversation

    async def list(
        self, scope: Scope, *, limit: int = 100, offset: int = 0
    ) -> ListConversationsResponse:
        """Read a page, last touched first, and the total."""
        return await self._caller.call(
            LIST_CONVERSATIONS,
            ListConversationsRequest(
                user=scope.user, collection=scope.collection, limit=limit, offset=offset
            ),
        )

    async def end(self, scope: Scope, conversation_id: str) -> bool:
        """End a conversation, so that it is promoted; whether there was one to end."""
        request = EndConversationRequest(
            user=scope.user, collection=scope.collection, conversation_id=conversation_id
        )
        return (await self._caller.call(END_CONVERSATION, request)).ended

    async def delete(self, scope: Scope, conversation_id: str) -> bool:
        """Delete a record; whether there was one."""
        request = DeleteConversationRequest(
            user=scope.user, collection=scope.collection, conversation_id=conversation_id
        )
        return (await self._caller.call(DELETE_CONVERSATION, request)).deleted

    async def record(self, turn: DialogueTurn) -> None:
        """Hand in a turn of past dialogue; returns once the bus has it."""
        await self._caller.publish(DIALOGUE_RECORDED, turn, message_id=turn.turn_id)
