// LadybugDB reads whole tables for a relation behind an UNWIND, and for two nodes in one MATCH: see
// queries.cypher.

// of_pages: Read the memos of some pages.
MATCH (p:ArchivePage)-[:HAS_MEMO]->(found:ArchiveMemo)
WHERE p.id IN $pages
WITH found.id AS wanted
MATCH (m:ArchiveMemo {id: wanted})
RETURN m.id AS id, m.scope AS scope, m.kind AS kind, m.source AS source, m.page AS page,
    m.page_hash AS page_hash, m.text AS text, m.method AS method, m.model AS model,
    m.made_at AS made_at, m.started_at AS started_at, m.ended_at AS ended_at, m.oldest AS oldest

// by_ids: Read memos of a scope by their ids.
UNWIND $ids AS wanted
MATCH (m:ArchiveMemo {id: wanted})
WHERE m.scope = $scope
RETURN m.id AS id, m.scope AS scope, m.kind AS kind, m.source AS source, m.page AS page,
    m.page_hash AS page_hash, m.text AS text, m.method AS method, m.model AS model,
    m.made_at AS made_at, m.started_at AS started_at, m.ended_at AS ended_at, m.oldest AS oldest

// made_with: Read the memos whose maker was shown one of some memos.
MATCH (maker:ArchiveMemo)-[:SHOWN]->(s:ArchiveMemo)
WHERE s.id IN $ids
WITH DISTINCT maker.id AS wanted
MATCH (m:ArchiveMemo {id: wanted})
RETURN m.id AS id, m.scope AS scope, m.kind AS kind, m.source AS source, m.page AS page,
    m.page_hash AS page_hash, m.text AS text, m.method AS method, m.model AS model,
    m.made_at AS made_at, m.started_at AS started_at, m.ended_at AS ended_at, m.oldest AS oldest

// shown: Read which memos were shown to the makers of some memos.
MATCH (m:ArchiveMemo)-[:SHOWN]->(s:ArchiveMemo)
WHERE m.id IN $ids
RETURN m.id AS memo, s.id AS shown
ORDER BY memo, shown

// list: Read memos of a scope, those of what was said last first; of one source, or of all with "";
// of pages before a number, or of all with 0; none that tells of what was said until a time.
MATCH (m:ArchiveMemo)
WHERE m.scope = $scope AND ($source = '' OR m.source = $source)
    AND ($before = 0 OR m.page < $before) AND m.oldest > $until
RETURN m.id AS id, m.scope AS scope, m.kind AS kind, m.source AS source, m.page AS page,
    m.page_hash AS page_hash, m.text AS text, m.method AS method, m.model AS model,
    m.made_at AS made_at, m.started_at AS started_at, m.ended_at AS ended_at, m.oldest AS oldest
ORDER BY ended_at DESC, source, page DESC, id
SKIP $offset LIMIT $limit

// count: Count the memos that `list` reads.
MATCH (m:ArchiveMemo)
WHERE m.scope = $scope AND ($source = '' OR m.source = $source)
    AND ($before = 0 OR m.page < $before) AND m.oldest > $until
RETURN count(m) AS number

// number: Count the memos of all scopes.
MATCH (m:ArchiveMemo)
RETURN count(m) AS number

// everything: Read memos of all scopes in the order of their ids, beginning behind one.
MATCH (m:ArchiveMemo)
WHERE m.id > $after
RETURN m.id AS id, m.scope AS scope, m.kind AS kind, m.source AS source, m.page AS page,
    m.page_hash AS page_hash, m.text AS text, m.method AS method, m.model AS model,
    m.made_at AS made_at, m.started_at AS started_at, m.ended_at AS ended_at, m.oldest AS oldest
ORDER BY id
LIMIT $limit

// create: Write a memo of its page, if that is there.
UNWIND $memos AS row
MATCH (p:ArchivePage {id: row.page_id})
WHERE p.closed = true
CREATE (p)-[:HAS_MEMO]->(m:ArchiveMemo {id: row.id, scope: row.scope, kind: row.kind,
    source: row.source, page: row.page, page_hash: row.page_hash, text: row.text,
    method: row.method, model: row.model, made_at: row.made_at, started_at: row.started_at,
    ended_at: row.ended_at, oldest: row.oldest})
RETURN m.id AS id

// show: Note which memos were shown to the maker of one, if all of them are there.
UNWIND $shown AS row
MATCH (m:ArchiveMemo {id: row.memo})
WITH m, row
MATCH (s:ArchiveMemo {id: row.shown})
CREATE (m)-[:SHOWN]->(s)
RETURN s.id AS id

// delete: Delete memos.
UNWIND $ids AS wanted
MATCH (m:ArchiveMemo {id: wanted})
DETACH DELETE m

// revise_pages: Note that closed pages are to be announced once more, and why.
UNWIND $pages AS row
MATCH (p:ArchivePage {id: row.id})
WHERE p.closed = true
SET p.announced = false, p.revision = row.revision

// unannounced: Read closed pages of all scopes that are to be announced. Pages that are older than
// memos are among them.
MATCH (p:ArchivePage)
WHERE p.closed = true AND coalesce(p.announced, false) = false
RETURN p.id AS id, p.scope AS scope, p.number AS number, coalesce(p.revision, '') AS revision
ORDER BY number, id
LIMIT $limit

// unannounced_of: Read those of some pages that are closed and to be announced.
UNWIND $ids AS wanted
MATCH (p:ArchivePage {id: wanted})
WHERE p.closed = true AND coalesce(p.announced, false) = false
RETURN p.id AS id, p.scope AS scope, p.number AS number, coalesce(p.revision, '') AS revision
ORDER BY number, id

// set_announced: Note that pages were announced, if they are as they were then.
UNWIND $pages AS row
MATCH (p:ArchivePage {id: row.id})
WHERE coalesce(p.revision, '') = row.revision
SET p.announced = true
