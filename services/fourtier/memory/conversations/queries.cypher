// LadybugDB reads a whole table for each MERGE behind an UNWIND, and finds what a MATCH names by its
// id at once. So what is there is read first; then new nodes are created and known ones are set.

// known: Read some conversations.
UNWIND $ids AS wanted
MATCH (c:Conversation {id: wanted})
RETURN c.id AS id, c.user AS user, c.collection AS collection,
    c.conversation_id AS conversation_id, c.recorded_at AS recorded_at, c.active_at AS active_at,
    c.ended_state AS ended_state, c.ended_at AS ended_at, c.ended_reason AS ended_reason

// known_invocations: Read some invocations.
UNWIND $ids AS wanted
MATCH (i:Invocation {id: wanted})
RETURN i.id AS id, i.query AS query, i.summary AS summary, i.result AS result,
    i.speaker AS speaker, i.said_at AS said_at, i.sent_at AS sent_at,
    i.metadata AS metadata,
    i.no_facts AS no_facts, i.no_episode AS no_episode

// create: Write conversations that are new.
UNWIND $conversations AS row
CREATE (c:Conversation {id: row.id, scope: row.scope, user: row.user, collection: row.collection,
    conversation_id: row.conversation_id, recorded_at: row.recorded_at, active_at: row.active_at,
    ended_state: row.ended_state, ended_at: row.ended_at, ended_reason: row.ended_reason})

// touch: Note that something was added to conversations or changed in them.
UNWIND $conversations AS row
MATCH (c:Conversation {id: row.id})
SET c.recorded_at = row.recorded_at
WITH c, row
SET c.active_at = CASE WHEN row.active_at > c.active_at THEN row.active_at ELSE c.active_at END
RETURN c.id AS id

// add_invocations: Write invocations that are new.
UNWIND $invocations AS row
MATCH (c:Conversation {id: row.conversation})
CREATE (c)-[:INVOLVED]->(i:Invocation {id: row.id, scope: row.scope,
    invocation_id: row.invocation_id, query: row.query, summary: row.summary, result: row.result,
    speaker: row.speaker, said_at: row.said_at, sent_at: row.sent_at,
    metadata: row.metadata, considered: row.considered,
    no_facts: row.no_facts, no_episode: row.no_episode})

// replace_invocations: Write invocations over what was there.
UNWIND $invocations AS row
MATCH (i:Invocation {id: row.id})
SET i.query = row.query, i.summary = row.summary, i.result = row.result,
    i.speaker = row.speaker, i.said_at = row.said_at, i.sent_at = row.sent_at,
    i.metadata = row.metadata, i.considered = row.considered,
    i.no_facts = row.no_facts, i.no_episode = row.no_episode
RETURN i.id AS id

// newest: Read invocations of a conversation, newest first.
MATCH (c:Conversation {id: $id})-[:INVOLVED]->(i:Invocation)
WHERE c.scope = $scope AND i.scope = $scope AND c.active_at >= $living_since
RETURN i.invocation_id AS invocation_id, i.query AS query, i.summary AS summary,
    i.result AS result, i.speaker AS speaker, i.said_at AS said_at, i.metadata AS metadata,
    i.no_facts AS no_facts, i.no_episode AS no_episode,
    c.recorded_at AS recorded_at, c.ended_state AS ended_state
ORDER BY said_at DESC, invocation_id DESC
SKIP $offset LIMIT $limit

// oldest: Read invocations of a conversation, oldest first.
MATCH (c:Conversation {id: $id})-[:INVOLVED]->(i:Invocation)
WHERE c.scope = $scope AND i.scope = $scope AND c.active_at >= $living_since
RETURN i.invocation_id AS invocation_id, i.query AS query, i.summary AS summary,
    i.result AS result, i.speaker AS speaker, i.said_at AS said_at, i.metadata AS metadata,
    i.no_facts AS no_facts, i.no_episode AS no_episode,
    c.recorded_at AS recorded_at, c.ended_state AS ended_state
ORDER BY said_at, invocation_id
SKIP $offset LIMIT $limit

// earlier: Read how older invocations of a conversation begin, newest first.
MATCH (c:Conversation {id: $id})-[:INVOLVED]->(i:Invocation)
WHERE c.scope = $scope AND i.scope = $scope AND c.active_at >= $living_since
RETURN i.invocation_id AS invocation_id, i.speaker AS speaker, i.said_at AS said_at,
    left(i.query, $characters) AS query, left(i.summary, $characters) AS summary,
    left(i.result, $characters) AS result
ORDER BY said_at DESC, invocation_id DESC
SKIP $offset LIMIT $limit

// run: Read a run, or the newest one that used memory, with what was considered for it.
MATCH (c:Conversation)-[:INVOLVED]->(i:Invocation)
WHERE c.scope = $scope AND i.scope = $scope AND c.active_at >= $living_since
    AND i.considered <> '' AND ($run_id = '' OR i.invocation_id = $run_id)
RETURN c.conversation_id AS conversation_id, i.invocation_id AS invocation_id, i.query AS query,
    i.said_at AS said_at, i.considered AS considered
ORDER BY said_at DESC, invocation_id DESC
LIMIT 1

// count_invocations: Count the invocations of a conversation.
MATCH (c:Conversation {id: $id})-[:INVOLVED]->(i:Invocation)
WHERE c.scope = $scope AND i.scope = $scope AND c.active_at >= $living_since
RETURN count(i) AS number

// page: Read a page of a scope's conversations, last touched first.
MATCH (c:Conversation)
WHERE c.scope = $scope AND c.active_at >= $living_since
WITH c
ORDER BY c.recorded_at DESC, c.id
SKIP $offset LIMIT $limit
MATCH (c)-[:INVOLVED]->(i:Invocation)
RETURN c.id AS id, c.conversation_id AS conversation_id, c.recorded_at AS recorded_at,
    c.ended_state AS ended_state, count(i) AS invocations, min(i.said_at) AS started_at
ORDER BY recorded_at DESC, id

// count: Count the conversations of a scope.
MATCH (c:Conversation)
WHERE c.scope = $scope AND c.active_at >= $living_since
RETURN count(c) AS number

// due: Read conversations that are idle, and those to which something was added late.
MATCH (c:Conversation)
WHERE c.ended_state <> c.recorded_at
    AND (c.recorded_at <= $idle_since OR c.active_at <= c.ended_at)
RETURN c.id AS id, c.user AS user, c.collection AS collection,
    c.conversation_id AS conversation_id, c.recorded_at AS recorded_at, c.active_at AS active_at,
    c.ended_state AS ended_state, c.ended_at AS ended_at, c.ended_reason AS ended_reason
ORDER BY recorded_at
LIMIT $limit

// mark_ended: Note that conversations were ended, unless something was added to them meanwhile.
UNWIND $ended AS row
MATCH (c:Conversation {id: row.id})
WHERE c.recorded_at = row.recorded_at
SET c.ended_state = row.recorded_at, c.ended_at = row.ended_at, c.ended_reason = row.ended_reason
