// LadybugDB reads a whole table for each MERGE behind an UNWIND, and finds what a MATCH names by its
// id at once. So what is there is read first; then new nodes are created and known ones are set.

// runs: Read some runs without their items.
UNWIND $ids AS wanted
MATCH (r:Run {id: wanted})
RETURN r.id AS id, r.condensed AS condensed, r.condensed_through AS condensed_through,
    r.ended AS ended, r.answer AS answer, r.question_id AS question_id,
    r.discarded AS discarded, r.touched_at AS touched_at

// items: Read the items of some runs. (Behind an UNWIND LadybugDB would read all items there are.)
MATCH (r:Run)-[:TOOK]->(i:RunItem)
WHERE r.id IN $ids
RETURN r.id AS run, i.item_id AS item_id, i.step AS step, i.type AS type, i.content AS content,
    i.written_at AS written_at, i.metadata AS metadata

// create: Write runs that are new.
UNWIND $runs AS row
CREATE (r:Run {id: row.id, scope: row.scope, run_id: row.run_id, condensed: row.condensed,
    condensed_through: row.condensed_through, ended: row.ended, answer: row.answer,
    question_id: row.question_id, discarded: row.discarded, touched_at: row.touched_at})

// begin: Write a run that is new with its first items, in one statement: a round trip to a server.
UNWIND $runs AS row
CREATE (r:Run {id: row.id, scope: row.scope, run_id: row.run_id, condensed: row.condensed,
    condensed_through: row.condensed_through, ended: row.ended, answer: row.answer,
    question_id: row.question_id, discarded: row.discarded, touched_at: row.touched_at})
WITH r
UNWIND $items AS item
CREATE (r)-[:TOOK]->(i:RunItem {id: item.id, scope: item.scope, item_id: item.item_id,
    step: item.step, type: item.type, content: item.content, written_at: item.written_at,
    metadata: item.metadata})

// set: Write runs over what was there, those that are still as they were read. Who writes to a node
// keeps others from it until the end of the transaction, so they are compared behind a first write.
UNWIND $runs AS row
MATCH (r:Run {id: row.id})
SET r.run_id = row.run_id
WITH r, row
WHERE r.touched_at = row.read_at
SET r.condensed = row.condensed, r.condensed_through = row.condensed_through, r.ended = row.ended,
    r.answer = row.answer, r.question_id = row.question_id, r.discarded = row.discarded,
    r.touched_at = row.touched_at
RETURN r.id AS id

// add_items: Write items that are new.
UNWIND $items AS row
MATCH (r:Run {id: row.run})
CREATE (r)-[:TOOK]->(i:RunItem {id: row.id, scope: row.scope, item_id: row.item_id,
    step: row.step, type: row.type, content: row.content, written_at: row.written_at,
    metadata: row.metadata})

// replace_items: Write items over what was there.
UNWIND $items AS row
MATCH (i:RunItem {id: row.id})
SET i.step = row.step, i.type = row.type, i.content = row.content, i.written_at = row.written_at,
    i.metadata = row.metadata

// improve: Replace a condensed text by a better one, if it still stands for those steps.
MATCH (r:Run {id: $id})
WHERE r.scope = $scope
SET r.run_id = $run_id
WITH r
WHERE r.condensed_through = $condensed_through AND NOT r.discarded
SET r.condensed = $condensed, r.touched_at = $touched_at

// expired: Read runs whose answer or whose trace nobody will ask for any more. What a research has
// found is in its items.
MATCH (r:Run)
WHERE (r.discarded AND r.touched_at < $answers_before) OR r.touched_at < $traces_before
    OR (r.ended AND r.run_id STARTS WITH $research AND r.touched_at < $answers_before)
RETURN r.id AS id, r.run_id AS run_id, r.touched_at AS touched_at
LIMIT $limit

// number: Count the runs; researches are none.
MATCH (r:Run)
WHERE NOT r.run_id STARTS WITH $research
RETURN count(r) AS number

// hold: Write to runs, which keeps others from them until the end of the transaction.
UNWIND $runs AS row
MATCH (r:Run {id: row.id})
SET r.run_id = row.run_id

// delete_items: Delete the items of runs that were not touched meanwhile.
UNWIND $runs AS row
MATCH (r:Run {id: row.id})-[:TOOK]->(i:RunItem)
WHERE r.touched_at = row.touched_at
DETACH DELETE i

// delete: Delete runs that were not touched meanwhile.
UNWIND $runs AS row
MATCH (r:Run {id: row.id})
WHERE r.touched_at = row.touched_at
DETACH DELETE r
