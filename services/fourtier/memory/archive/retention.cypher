// count: Count the entries of a scope, expired ones included.
MATCH (e:ArchiveEntry)
WHERE e.scope = $scope
RETURN count(e) AS number

// scopes_until: Read which scopes have entries that were said until a time, behind one.
MATCH (e:ArchiveEntry)
WHERE e.said_at <= $until AND e.scope > $after
RETURN DISTINCT e.scope AS scope
ORDER BY scope
LIMIT $limit

// until: Read entries of a scope that were said until a time.
MATCH (e:ArchiveEntry)
WHERE e.scope = $scope AND e.said_at <= $until
RETURN e.id AS id
LIMIT $limit

// numbers: Count the entries of each scope, in the order of the scopes, behind one.
MATCH (e:ArchiveEntry)
WHERE e.scope > $after
RETURN e.scope AS scope, count(e) AS number
ORDER BY scope
LIMIT $limit

// oldest: Read the entries of a scope that were said longest ago.
MATCH (e:ArchiveEntry)
WHERE e.scope = $scope
RETURN e.id AS id, e.said_at AS said_at
ORDER BY said_at, id
LIMIT $limit
