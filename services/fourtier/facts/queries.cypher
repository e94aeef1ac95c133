// store: Write facts of any scopes, each over what was there under its id.
UNWIND $facts AS row
MERGE (f:Fact {id: row.id})
SET f.scope = row.scope, f.content = row.content, f.source = row.source, f.kind = row.kind,
    f.speaker = row.speaker, f.invocation_id = row.invocation_id, f.quote = row.quote,
    f.subject = row.subject, f.attribute = row.attribute, f.slot = row.slot,
    f.first_stated_at = row.first_stated_at, f.stated_at = row.stated_at,
    f.valid_until = row.valid_until, f.superseded_by = row.superseded_by,
    f.metadata = row.metadata

// by_ids: Read facts of some scopes by their ids.
UNWIND $ids AS wanted
MATCH (f:Fact {id: wanted})
WHERE f.scope IN $scopes
RETURN f.id AS id, f.content AS content, f.source AS source, f.kind AS kind,
    f.speaker AS speaker, f.invocation_id AS invocation_id, f.quote AS quote,
    f.subject AS subject, f.attribute AS attribute, f.slot AS slot,
    f.first_stated_at AS first_stated_at, f.stated_at AS stated_at,
    f.valid_until AS valid_until, f.superseded_by AS superseded_by, f.metadata AS metadata

// by_slots: Read all facts of some slots.
MATCH (f:Fact)
WHERE f.slot IN $slots AND f.scope IN $scopes
RETURN f.id AS id, f.content AS content, f.source AS source, f.kind AS kind,
    f.speaker AS speaker, f.invocation_id AS invocation_id, f.quote AS quote,
    f.subject AS subject, f.attribute AS attribute, f.slot AS slot,
    f.first_stated_at AS first_stated_at, f.stated_at AS stated_at,
    f.valid_until AS valid_until, f.superseded_by AS superseded_by, f.metadata AS metadata

// page: Read facts of a scope, the last stated first; superseded ones too where they are asked for.
MATCH (f:Fact)
WHERE f.scope = $scope AND (f.valid_until = '' OR $superseded)
RETURN f.id AS id, f.content AS content, f.source AS source, f.kind AS kind,
    f.speaker AS speaker, f.invocation_id AS invocation_id, f.quote AS quote,
    f.subject AS subject, f.attribute AS attribute, f.slot AS slot,
    f.first_stated_at AS first_stated_at, f.stated_at AS stated_at,
    f.valid_until AS valid_until, f.superseded_by AS superseded_by, f.metadata AS metadata
ORDER BY stated_at DESC, id
SKIP $offset LIMIT $limit

// everything: Read facts of all scopes in the order of their ids, beginning behind one.
MATCH (f:Fact)
WHERE f.id > $after
RETURN f.scope AS scope, f.id AS id, f.content AS content, f.source AS source, f.kind AS kind,
    f.speaker AS speaker, f.invocation_id AS invocation_id, f.quote AS quote,
    f.subject AS subject, f.attribute AS attribute, f.slot AS slot,
    f.first_stated_at AS first_stated_at, f.stated_at AS stated_at,
    f.valid_until AS valid_until, f.superseded_by AS superseded_by, f.metadata AS metadata
ORDER BY id
LIMIT $limit

// count: Count the facts of a scope.
MATCH (f:Fact)
WHERE f.scope = $scope AND (f.valid_until = '' OR $superseded)
RETURN count(f) AS number

// forget: Delete one fact of a scope.
MATCH (f:Fact {id: $id})
WHERE f.scope = $of
DETACH DELETE f

// forget_scope: Delete all facts of a scope.
MATCH (f:Fact)
WHERE f.scope = $scope
DETACH DELETE f
