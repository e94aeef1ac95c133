// read: Read some tombstones.
UNWIND $ids AS wanted
MATCH (t:Tombstone {id: wanted})
RETURN t.id AS id, t.at AS at

// create: Write tombstones that are new. Another writer cannot do so too.
UNWIND $tombstones AS row
CREATE (t:Tombstone {id: row.id, kind: row.kind, at: row.at})

// raise: Set the time of tombstones, unless it is a later one by now.
UNWIND $tombstones AS row
MATCH (t:Tombstone {id: row.id})
SET t.at = CASE WHEN row.at > t.at THEN row.at ELSE t.at END
RETURN t.id AS id
