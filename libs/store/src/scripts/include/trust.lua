--[[
  Credentials and sessions of workers. Each change gets a number, so that replicas read only what changed since their last
  read.
]]
local function note_trust_change(worker)
  redis.call('ZADD', key.workerTrustChanges(), redis.call('INCR', key.workerTrustVersion()), worker)
end

-- Ends the session of a worker. Returns whether it had one.
local function revoke_session(worker)
  local text = redis.call('HGET', key.workerSessions(), worker)
  if not text then return false end
  local session = cjson.decode(text)
  if session.revoked then return false end
  redis.call('HSET', key.workerSessions(), worker,
    cjson.encode({ jti = session.jti, exp_ms = session.exp_ms, issued_ms = session.issued_ms, revoked = true }))
  note_trust_change(worker)
  return true
end
