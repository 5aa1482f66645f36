--[[
  Managed API keys. Each change gets a number, so that replicas read only what changed since their last read; a replica that
  has missed more than these drops all keys that it has in memory. An empty id and digest: any key may have changed.
]]
local function note_key_change(id, digest)
  redis.call('ZADD', key.apiKeyChanges(), redis.call('INCR', key.apiKeysVersion()), id .. ':' .. digest)
  redis.call('ZREMRANGEBYRANK', key.apiKeyChanges(), 0, -1001)
end
