// runs: Read the runs of a scope in the order of their ids, beginning behind one; no researches.
MATCH (r:Run)
WHERE r.scope = $scope AND r.id > $after AND r.answer <> $forgotten
    AND NOT r.run_id STARTS WITH $research
RETURN r.id AS id, r.run_id AS run_id, r.answer AS answer, r.condensed AS condensed,
    r.ended AS ended
ORDER BY id
LIMIT $limit

// researches: Read the ids of the checkpoints of researches in a scope.
MATCH (r:Run)
WHERE r.scope = $scope AND r.run_id STARTS WITH $research AND r.answer <> $forgotten
RETURN r.id AS id

// texts: Read what runs consist of.
UNWIND $runs AS wanted
MATCH (r:Run {id: wanted})-[:TOOK]->(i:RunItem)
WHERE r.scope = $scope
RETURN r.id AS run, i.content AS content, i.metadata AS metadata

// delete_items: Delete the items of runs.
UNWIND $runs AS row
MATCH (r:Run {id: row.id})-[:TOOK]->(i:RunItem)
DETACH DELETE i

// delete: Delete runs.
UNWIND $runs AS row
MATCH (r:Run {id: row.id})
DETACH DELETE r

// blank: Leave of runs that have ended their ids alone, and that they have ended.
UNWIND $runs AS row
MATCH (r:Run {id: row.id})
SET r.answer = row.answer, r.question_id = '', r.condensed = '', r.discarded = true,
    r.touched_at = row.touched_at

// mark: Let the answers of runs that are under way not be stored.
UNWIND $runs AS row
MATCH (r:Run {id: row.id})
SET r.answer = row.answer, r.question_id = '', r.touched_at = row.touched_at

// scopes: Read in which scopes there are runs, by how their keys begin.
MATCH (r:Run)
WHERE r.scope STARTS WITH $prefix
RETURN DISTINCT r.scope AS scope
ORDER BY scope
