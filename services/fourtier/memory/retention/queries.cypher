// read: Read whether some users have opted out.
UNWIND $ids AS wanted
MATCH (o:OptOut {id: wanted})
RETURN o.id AS id, o.first AS first, o.since AS since, o.until AS until

// create: Write users who were never opted out before. Another writer cannot do so too.
UNWIND $users AS row
CREATE (o:OptOut {id: row.id, first: row.first, since: row.since, until: row.until})

// set: Note a change, whatever the order in which changes come.
UNWIND $users AS row
MATCH (o:OptOut {id: row.id})
SET o.first = CASE WHEN row.first < o.first THEN row.first ELSE o.first END,
    o.since = CASE WHEN row.since > o.since THEN row.since ELSE o.since END,
    o.until = CASE WHEN row.until > o.until THEN row.until ELSE o.until END
RETURN o.id AS id
