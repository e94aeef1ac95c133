// LadybugDB finds what a MATCH names by its id at once, and reads whole columns for any other
// condition. So the ids of sources and pages are made from names, and what is there is read first. It
// follows a relation from nodes that are named by `id IN $ids`, and finds only ids there; behind an
// UNWIND, and for two nodes in one MATCH, it reads both tables.

// sources: Read how far some sources are.
UNWIND $ids AS wanted
MATCH (s:ArchiveSource {id: wanted})
RETURN s.id AS id, s.version AS version, s.page AS page, s.tokens AS tokens,
    s.entries AS entries, s.closed AS closed, coalesce(s.sent_at, '') AS sent_at

// create_sources: Begin sources. Another writer cannot do so too.
UNWIND $sources AS row
CREATE (s:ArchiveSource {id: row.id, scope: row.scope, kind: row.kind, name: row.name,
    version: row.next, written_for: row.next, page: row.page, tokens: row.tokens,
    entries: row.entries, closed: row.closed, sent_at: row.sent_at})

// set_sources: Note how far sources are, if nobody else has changed them since they were read. Who
// writes to a node keeps others from it until the end of the transaction, so the version is compared
// behind that.
UNWIND $sources AS row
MATCH (s:ArchiveSource {id: row.id})
SET s.written_for = row.next
WITH s, row
WHERE s.version = row.version
SET s.version = row.next, s.page = row.page, s.tokens = row.tokens, s.entries = row.entries,
    s.closed = row.closed, s.sent_at = row.sent_at
RETURN s.id AS id

// create_pages: Begin pages.
UNWIND $pages AS row
CREATE (p:ArchivePage {id: row.id, scope: row.scope, kind: row.kind, source: row.source,
    number: row.number, closed: false, changed_at: row.changed_at, announced: false,
    revision: ''})

// close_pages: Note that pages get no more entries.
UNWIND $pages AS row
MATCH (p:ArchivePage {id: row.id})
SET p.closed = true

// touch_pages: Note when something was added to pages.
UNWIND $pages AS row
MATCH (p:ArchivePage {id: row.id})
SET p.changed_at = row.changed_at

// add_entries: Write entries that are new on their pages.
UNWIND $entries AS row
MATCH (p:ArchivePage {id: row.page_id})
CREATE (p)-[:HOLDS]->(e:ArchiveEntry {id: row.id, scope: row.scope, kind: row.kind,
    source: row.source, page: row.page, position: row.position, invocation_id: row.invocation_id,
    part: row.part, speaker: row.speaker, text: row.text, said_at: row.said_at,
    sent_at: row.sent_at})

// set_entries: Write later texts of entries over what was there.
UNWIND $entries AS row
MATCH (e:ArchiveEntry {id: row.id})
SET e.speaker = row.speaker, e.text = row.text, e.said_at = row.said_at, e.sent_at = row.sent_at
RETURN e.id AS id

// leave_pages: Take entries off their pages.
MATCH (:ArchivePage)-[h:HOLDS]->(e:ArchiveEntry)
WHERE e.id IN $ids
DELETE h

// come_on_pages: Put entries on pages that exist.
UNWIND $entries AS row
MATCH (p:ArchivePage {id: row.page_id})
WITH p, row
MATCH (e:ArchiveEntry {id: row.id})
SET e.page = row.page
CREATE (p)-[:HOLDS]->(e)

// entries: Read entries of some scopes by their ids.
UNWIND $ids AS wanted
MATCH (e:ArchiveEntry {id: wanted})
WHERE e.scope IN $scopes
RETURN e.id AS id, e.scope AS scope, e.kind AS kind, e.source AS source, e.page AS page,
    e.position AS position, e.invocation_id AS invocation_id, e.part AS part,
    e.speaker AS speaker, e.text AS text, e.said_at AS said_at, e.sent_at AS sent_at

// entries_of: Read the entries of some pages of a scope, in their order.
MATCH (p:ArchivePage)-[:HOLDS]->(held:ArchiveEntry)
WHERE p.id IN $pages AND p.scope = $scope
WITH held.id AS wanted
MATCH (e:ArchiveEntry {id: wanted})
WHERE e.scope = $scope
RETURN e.id AS id, e.scope AS scope, e.kind AS kind, e.source AS source, e.page AS page,
    e.position AS position, e.invocation_id AS invocation_id, e.part AS part,
    e.speaker AS speaker, e.text AS text, e.said_at AS said_at, e.sent_at AS sent_at
ORDER BY position

// pages: Read some pages of a scope.
UNWIND $ids AS wanted
MATCH (p:ArchivePage {id: wanted})
WHERE p.scope = $scope
RETURN p.id AS id, p.kind AS kind, p.source AS source, p.number AS number, p.closed AS closed

// documents: Read the names of the documents of a scope.
MATCH (s:ArchiveSource)
WHERE s.scope = $scope AND s.kind = 'document'
RETURN s.name AS name
ORDER BY name
SKIP $offset LIMIT $limit

// count_documents: Count them.
MATCH (s:ArchiveSource)
WHERE s.scope = $scope AND s.kind = 'document'
RETURN count(s) AS number

// list_pages: Read pages of a scope, those that were last added to first; of one source, or of all
// with "".
MATCH (p:ArchivePage)
WHERE p.scope = $scope AND ($source = '' OR p.source = $source)
RETURN p.id AS id, p.kind AS kind, p.source AS source, p.number AS number, p.closed AS closed,
    p.changed_at AS changed_at
ORDER BY changed_at DESC, source, number, id
SKIP $offset LIMIT $limit

// count_pages: Count the pages that `list_pages` reads.
MATCH (p:ArchivePage)
WHERE p.scope = $scope AND ($source = '' OR p.source = $source)
RETURN count(p) AS number

// said: Read entries of a scope that were said until a time, in the order of their ids.
MATCH (e:ArchiveEntry)
WHERE e.scope = $scope AND e.said_at <= $until AND e.id > $after
RETURN e.id AS id, e.scope AS scope, e.kind AS kind, e.source AS source, e.page AS page,
    e.position AS position, e.invocation_id AS invocation_id, e.part AS part,
    e.speaker AS speaker, e.text AS text, e.said_at AS said_at, e.sent_at AS sent_at
ORDER BY id
LIMIT $limit

// delete_entries: Delete entries.
UNWIND $ids AS wanted
MATCH (e:ArchiveEntry {id: wanted})
DETACH DELETE e

// delete_pages: Delete pages.
UNWIND $ids AS wanted
MATCH (p:ArchivePage {id: wanted})
DETACH DELETE p

// delete_sources: Delete sources, if nobody else has changed them since they were read.
UNWIND $sources AS row
MATCH (s:ArchiveSource {id: row.id})
SET s.written_for = row.next
WITH s, row
WHERE s.version = row.version
DETACH DELETE s

// everything: Read entries of all scopes in the order of their ids, beginning behind one.
MATCH (e:ArchiveEntry)
WHERE e.id > $after
RETURN e.id AS id, e.scope AS scope, e.kind AS kind, e.source AS source, e.page AS page,
    e.position AS position, e.invocation_id AS invocation_id, e.part AS part,
    e.speaker AS speaker, e.text AS text, e.said_at AS said_at, e.sent_at AS sent_at
ORDER BY id
LIMIT $limit

// number: Count the entries of all scopes.
MATCH (e:ArchiveEntry)
RETURN count(e) AS number

// scopes_of: Read which scopes whose keys begin so have an archive.
MATCH (s:ArchiveSource)
WHERE s.scope STARTS WITH $prefix
RETURN DISTINCT s.scope AS scope
ORDER BY scope
