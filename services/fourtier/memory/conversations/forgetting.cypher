// exchanges: Read what was said in a scope until a time, in the order of the ids, behind one.
MATCH (c:Conversation)-[:INVOLVED]->(i:Invocation)
WHERE c.scope = $scope AND i.scope = $scope AND i.said_at <= $until AND i.id > $after
RETURN i.id AS id, c.id AS conversation, c.conversation_id AS conversation_id,
    i.invocation_id AS invocation_id, i.query AS query, i.summary AS summary, i.result AS result,
    i.metadata AS metadata, i.considered AS considered
ORDER BY id
LIMIT $limit

// hold: Write to conversations, which keeps others from them until the end of the transaction.
UNWIND $conversations AS row
MATCH (c:Conversation {id: row.id})
SET c.ended_reason = c.ended_reason

// delete_exchanges: Delete invocations.
UNWIND $gone AS row
MATCH (i:Invocation {id: row.id})
DETACH DELETE i

// left: Read which of some conversations still have invocations.
UNWIND $conversations AS wanted
MATCH (c:Conversation {id: wanted})-[:INVOLVED]->(i:Invocation)
WHERE c.scope = $scope
RETURN c.id AS id, count(i) AS number

// delete_empty: Delete conversations that have no invocations any more.
UNWIND $conversations AS row
MATCH (c:Conversation {id: row.id})
WHERE NOT EXISTS { MATCH (c)-[:INVOLVED]->(:Invocation) }
DETACH DELETE c

// collections: Read in which collections a user has conversations.
MATCH (c:Conversation)
WHERE c.user = $user
RETURN DISTINCT c.collection AS collection
ORDER BY collection
