// LadybugDB reads whole columns for a condition on anything but an id, and a whole table for a MERGE.
// So a search finds ids first and then reads what it found, and what is known is set, the rest created.

// versions: Read the versions of the facts of some scopes.
UNWIND $scopes AS wanted
MATCH (v:FactVersion {id: wanted})
RETURN v.id AS id, v.version AS version

// begin_versions: Give the facts of scopes their first version. Another writer cannot do so too.
UNWIND $versions AS row
CREATE (v:FactVersion {id: row.id, version: row.next, written_for: row.next})

// next_versions: Give those whose version is still the one that was read the next one. Who writes to
// a node keeps others from it until the end of the transaction, so the version is compared behind that.
UNWIND $versions AS row
MATCH (v:FactVersion {id: row.id})
SET v.written_for = row.next
WITH v, row
WHERE v.version = row.version
SET v.version = row.next
RETURN v.id AS id

// end_version: Delete the version of a scope that has no facts any more.
MATCH (v:FactVersion {id: $scope})
DETACH DELETE v

// create: Write facts of any scopes that are new.
UNWIND $facts AS row
CREATE (f:Fact {id: row.id})
SET f.scope = row.scope, f.content = row.content, f.source = row.source, f.kind = row.kind,
    f.speaker = row.speaker, f.invocation_id = row.invocation_id, f.quote = row.quote,
    f.subject = row.subject, f.attribute = row.attribute, f.slot = row.slot,
    f.first_stated_at = row.first_stated_at, f.stated_at = row.stated_at,
    f.valid_until = row.valid_until, f.superseded_by = row.superseded_by,
    f.metadata = row.metadata, f.uncompared = row.uncompared, f.replaces = row.replaces,
    f.contradicts = row.contradicts, f.doubts = row.doubts,
    f.possible_conflicts = row.possible_conflicts, f.earlier = row.earlier

// set: Write facts of any scopes over what was there.
UNWIND $facts AS row
MATCH (f:Fact {id: row.id})
SET f.scope = row.scope, f.content = row.content, f.source = row.source, f.kind = row.kind,
    f.speaker = row.speaker, f.invocation_id = row.invocation_id, f.quote = row.quote,
    f.subject = row.subject, f.attribute = row.attribute, f.slot = row.slot,
    f.first_stated_at = row.first_stated_at, f.stated_at = row.stated_at,
    f.valid_until = row.valid_until, f.superseded_by = row.superseded_by,
    f.metadata = row.metadata, f.uncompared = row.uncompared, f.replaces = row.replaces,
    f.contradicts = row.contradicts, f.doubts = row.doubts,
    f.possible_conflicts = row.possible_conflicts, f.earlier = row.earlier

// by_ids: Read facts of some scopes by their ids.
UNWIND $ids AS wanted
MATCH (f:Fact {id: wanted})
WHERE f.scope IN $scopes
RETURN f.scope AS scope, f.id AS id, f.content AS content, f.source AS source, f.kind AS kind,
    f.speaker AS speaker, f.invocation_id AS invocation_id, f.quote AS quote,
    f.subject AS subject, f.attribute AS attribute, f.slot AS slot,
    f.first_stated_at AS first_stated_at, f.stated_at AS stated_at,
    f.valid_until AS valid_until, f.superseded_by AS superseded_by, f.metadata AS metadata,
    coalesce(f.uncompared, '') AS uncompared,
    coalesce(f.replaces, '') AS replaces,
    coalesce(f.contradicts, '') AS contradicts, coalesce(f.doubts, '') AS doubts,
    coalesce(f.possible_conflicts, '') AS possible_conflicts, coalesce(f.earlier, '') AS earlier

// by_slots: Read all facts of some slots.
MATCH (f:Fact)
WHERE f.slot IN $slots AND f.scope IN $scopes
WITH f.id AS wanted
MATCH (g:Fact {id: wanted})
RETURN g.id AS id, g.content AS content, g.source AS source, g.kind AS kind,
    g.speaker AS speaker, g.invocation_id AS invocation_id, g.quote AS quote,
    g.subject AS subject, g.attribute AS attribute, g.slot AS slot,
    g.first_stated_at AS first_stated_at, g.stated_at AS stated_at,
    g.valid_until AS valid_until, g.superseded_by AS superseded_by, g.metadata AS metadata,
    coalesce(g.uncompared, '') AS uncompared,
    coalesce(g.replaces, '') AS replaces,
    coalesce(g.contradicts, '') AS contradicts, coalesce(g.doubts, '') AS doubts,
    coalesce(g.possible_conflicts, '') AS possible_conflicts, coalesce(g.earlier, '') AS earlier

// by_source: Read the facts of a scope that were stated in one conversation, and maybe some others.
MATCH (f:Fact)
WHERE f.scope = $scope AND (f.source = $source OR f.earlier CONTAINS $in_text)
WITH f.id AS wanted
MATCH (g:Fact {id: wanted})
RETURN g.id AS id, g.content AS content, g.source AS source, g.kind AS kind,
    g.speaker AS speaker, g.invocation_id AS invocation_id, g.quote AS quote,
    g.subject AS subject, g.attribute AS attribute, g.slot AS slot,
    g.first_stated_at AS first_stated_at, g.stated_at AS stated_at,
    g.valid_until AS valid_until, g.superseded_by AS superseded_by, g.metadata AS metadata,
    coalesce(g.uncompared, '') AS uncompared,
    coalesce(g.replaces, '') AS replaces,
    coalesce(g.contradicts, '') AS contradicts, coalesce(g.doubts, '') AS doubts,
    coalesce(g.possible_conflicts, '') AS possible_conflicts, coalesce(g.earlier, '') AS earlier

// page: Read facts of a scope, the last stated first; superseded ones too where they are asked for.
MATCH (f:Fact)
WHERE f.scope = $scope AND (f.valid_until = '' OR $superseded)
WITH f.id AS wanted, f.stated_at AS at
ORDER BY at DESC, wanted
SKIP $offset LIMIT $limit
MATCH (g:Fact {id: wanted})
RETURN g.id AS id, g.content AS content, g.source AS source, g.kind AS kind,
    g.speaker AS speaker, g.invocation_id AS invocation_id, g.quote AS quote,
    g.subject AS subject, g.attribute AS attribute, g.slot AS slot,
    g.first_stated_at AS first_stated_at, g.stated_at AS stated_at,
    g.valid_until AS valid_until, g.superseded_by AS superseded_by, g.metadata AS metadata,
    coalesce(g.uncompared, '') AS uncompared,
    coalesce(g.replaces, '') AS replaces,
    coalesce(g.contradicts, '') AS contradicts, coalesce(g.doubts, '') AS doubts,
    coalesce(g.possible_conflicts, '') AS possible_conflicts, coalesce(g.earlier, '') AS earlier
ORDER BY stated_at DESC, id

// everything: Read facts of all scopes in the order of their ids, beginning behind one.
MATCH (f:Fact)
WHERE f.id > $after
WITH f.id AS wanted
ORDER BY wanted
LIMIT $limit
MATCH (g:Fact {id: wanted})
RETURN g.scope AS scope, g.id AS id, g.content AS content, g.source AS source, g.kind AS kind,
    g.speaker AS speaker, g.invocation_id AS invocation_id, g.quote AS quote,
    g.subject AS subject, g.attribute AS attribute, g.slot AS slot,
    g.first_stated_at AS first_stated_at, g.stated_at AS stated_at,
    g.valid_until AS valid_until, g.superseded_by AS superseded_by, g.metadata AS metadata,
    coalesce(g.uncompared, '') AS uncompared,
    coalesce(g.replaces, '') AS replaces,
    coalesce(g.contradicts, '') AS contradicts, coalesce(g.doubts, '') AS doubts,
    coalesce(g.possible_conflicts, '') AS possible_conflicts, coalesce(g.earlier, '') AS earlier
ORDER BY id

// count: Count the facts of a scope.
MATCH (f:Fact)
WHERE f.scope = $scope AND (f.valid_until = '' OR $superseded)
RETURN count(f) AS number

// count_until: Count the facts of a scope that were stated last until a time.
MATCH (f:Fact)
WHERE f.scope = $scope AND f.stated_at <= $until
RETURN count(f) AS number

// some: Read ids of a scope's facts.
MATCH (f:Fact)
WHERE f.scope = $scope
RETURN f.id AS id
LIMIT $limit

// number: Count the facts of all scopes.
MATCH (f:Fact)
RETURN count(f) AS number

// scopes: Count the facts of each scope, in the order of the scopes, beginning behind one.
MATCH (f:Fact)
WHERE f.scope > $after
RETURN f.scope AS scope, count(f) AS number
ORDER BY scope
LIMIT $limit

// replacements: Read which facts say that they supersede some others, by the ids of the rows.
UNWIND $ids AS wanted
MATCH (r:FactReplacement {id: wanted})
RETURN r.id AS id, r.by AS by

// create_replacements: Note that facts are superseded by others as those say.
UNWIND $replacements AS row
CREATE (r:FactReplacement {id: row.id})
SET r.scope = row.scope, r.by = row.by

// set_replacements: Note it over what was noted.
UNWIND $replacements AS row
MATCH (r:FactReplacement {id: row.id})
SET r.by = row.by

// forget_replacements: Delete the notes of a scope.
MATCH (r:FactReplacement)
WHERE r.scope = $scope
DETACH DELETE r

// forget: Delete one fact of a scope.
MATCH (f:Fact {id: $id})
WHERE f.scope = $scope
DETACH DELETE f

// forget_scope: Delete the facts of a scope that were stated last until a time.
MATCH (f:Fact)
WHERE f.scope = $scope AND f.stated_at <= $until
DETACH DELETE f

// uncompared: Read facts that no model has compared yet.
MATCH (f:Fact)
WHERE f.uncompared <> ''
RETURN f.id AS id, f.scope AS scope
LIMIT $limit
