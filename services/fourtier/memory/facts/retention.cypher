// scopes_of: Read which scopes whose keys begin so have facts.
MATCH (f:Fact)
WHERE f.scope STARTS WITH $prefix
RETURN DISTINCT f.scope AS scope
ORDER BY scope

// scopes_until: Read which scopes have facts that were stated last until a time, behind one.
MATCH (f:Fact)
WHERE f.stated_at <= $until AND f.scope > $after
RETURN DISTINCT f.scope AS scope
ORDER BY scope
LIMIT $limit

// until: Read facts of a scope that were stated last until a time.
MATCH (f:Fact)
WHERE f.scope = $scope AND f.stated_at <= $until
RETURN f.id AS id, f.stated_at AS stated_at
LIMIT $limit

// count_after: Count the facts of a scope that were stated after a time.
MATCH (f:Fact)
WHERE f.scope = $scope AND f.stated_at > $until AND (f.valid_until = '' OR $superseded)
RETURN count(f) AS number

// superseded_first: Read the facts of a scope that are worth least: superseded ones, then the oldest.
MATCH (f:Fact)
WHERE f.scope = $scope
RETURN f.id AS id, f.stated_at AS stated_at,
    CASE WHEN f.valid_until = '' THEN 1 ELSE 0 END AS valid
ORDER BY valid, stated_at, id
LIMIT $limit

// oldest_first: Read the facts of a scope that were stated longest ago, superseded ones first.
MATCH (f:Fact)
WHERE f.scope = $scope
RETURN f.id AS id, f.stated_at AS stated_at,
    CASE WHEN f.valid_until = '' THEN 1 ELSE 0 END AS valid
ORDER BY stated_at, valid, id
LIMIT $limit
