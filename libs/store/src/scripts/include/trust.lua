--[[
  Credentials and sessions of workers. Each change gets a number, so that replicas read only what changed since their last
  read.
]]
local function note_trust_change(worker)
  redis.call('ZADD', key.workerTrustChanges(), redis.call('INCR', key.workerTrustVersion()), worker)
end
