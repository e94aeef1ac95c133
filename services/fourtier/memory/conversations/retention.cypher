// count: Count the conversations of a scope, expired ones included.
MATCH (c:Conversation)
WHERE c.scope = $scope
RETURN count(c) AS number

// known: Read which of some conversations are stored.
UNWIND $ids AS wanted
MATCH (c:Conversation {id: wanted})
RETURN c.id AS id, c.active_at AS active_at

// scopes_until: Read which scopes have conversations that were last active until a time, behind one.
MATCH (c:Conversation)
WHERE c.active_at <= $until AND c.scope > $after
RETURN DISTINCT c.scope AS scope, c.user AS user, c.collection AS collection
ORDER BY scope
LIMIT $limit

// until: Read conversations of a scope that were last active until a time.
MATCH (c:Conversation)
WHERE c.scope = $scope AND c.active_at <= $until
RETURN c.id AS id
LIMIT $limit

// numbers: Count the conversations of each scope, in the order of the scopes, behind one.
MATCH (c:Conversation)
WHERE c.scope > $after
RETURN c.scope AS scope, c.user AS user, c.collection AS collection, count(c) AS number
ORDER BY scope
LIMIT $limit

// oldest: Read the conversations of a scope that were last active longest ago.
MATCH (c:Conversation)
WHERE c.scope = $scope
RETURN c.id AS id, c.active_at AS active_at
ORDER BY active_at, id
LIMIT $limit

// exchanges: Read what was said in some conversations of a scope.
MATCH (c:Conversation)-[:INVOLVED]->(i:Invocation)
WHERE c.id IN $ids AND c.scope = $scope
RETURN i.id AS id, c.id AS conversation

// lengths: Count the exchanges of some conversations, and read since when they are stored.
MATCH (c:Conversation)-[:INVOLVED]->(i:Invocation)
WHERE c.id IN $ids
RETURN c.id AS id, count(i) AS number, min(i.said_at) AS oldest

// first: Read the oldest exchanges of a conversation.
MATCH (c:Conversation {id: $id})-[:INVOLVED]->(i:Invocation)
WHERE c.scope = $scope
RETURN i.id AS id, i.said_at AS said_at, i.invocation_id AS invocation_id
ORDER BY said_at, invocation_id
LIMIT $limit

// known_exchanges: Read which of some exchanges are stored.
UNWIND $ids AS wanted
MATCH (i:Invocation {id: wanted})
RETURN i.id AS id
