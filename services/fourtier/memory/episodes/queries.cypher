// usage: Read how often some episodes were retrieved.
UNWIND $ids AS wanted
MATCH (u:EpisodeUsage {id: wanted})
WHERE u.scope = $scope
RETURN u.episode_id AS episode_id, u.times AS times, u.last AS last

// create_usage: Write the counts of episodes that were retrieved for the first time.
UNWIND $usage AS row
CREATE (u:EpisodeUsage {id: row.id, scope: row.scope, episode_id: row.episode_id,
    times: row.times, last: row.last})

// set_usage: Write counts over what was there.
UNWIND $usage AS row
MATCH (u:EpisodeUsage {id: row.id})
SET u.times = row.times, u.last = row.last
RETURN u.id AS id

// delete_usage: Delete the counts of episodes.
UNWIND $ids AS gone
MATCH (u:EpisodeUsage {id: gone})
WHERE u.scope = $scope
DETACH DELETE u

// delete_usage_of_scope: Delete all counts of a scope.
MATCH (u:EpisodeUsage)
WHERE u.scope = $scope
DETACH DELETE u

// scope: Read whether a scope is known.
MATCH (s:EpisodeScope {id: $scope})
RETURN s.id AS id

// create_scope: Write a scope that has episodes.
CREATE (s:EpisodeScope {id: $scope, user: $user, collection: $collection})

// delete_scope: Delete a scope that has none any more.
MATCH (s:EpisodeScope {id: $scope})
DETACH DELETE s

// scopes: Read all scopes.
MATCH (s:EpisodeScope)
RETURN s.user AS user, s.collection AS collection
ORDER BY user, collection
