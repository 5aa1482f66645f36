--[[
  Stores a delegation token, and records it in the audit. Refused when an agent of its chain, or its audience, is no longer as it
  was checked, when a token above it was revoked, and beyond the limits.

  KEYS  1 delegation: hash
  ARGV  1 { jti, tenant, subject, parent?, root, chain = {jtis above it}, agents (as in the record of a job), expires_ms,
          keep_sec, max_keep_sec, document, per_minute, max_tree } (JSON)     2 act (JSON)

  Returns  issued  |  agent_changed  |  parent_revoked  |  limited
]]
local d = cjson.decode(ARGV[1])
if agents_changed(d.agents) then return { 'agent_changed' } end
for _, jti in ipairs(d.chain) do
  if not delegation_holds(jti) then return { 'parent_revoked' } end
end

local at = micros()
local rate = key.delegationRate(d.subject, text(math.floor(at / 60000000)))
if redis.call('INCR', rate) > d.per_minute then return { 'limited' } end
redis.call('EXPIRE', rate, 120)
if d.parent and redis.call('HINCRBY', key.delegation(d.root), 'descendants', 1) > d.max_tree then return { 'limited' } end

redis.call('HSET', KEYS[1], 'document', d.document, 'tenant', d.tenant)
redis.call('EXPIRE', KEYS[1], d.keep_sec)
if d.parent then
  redis.call('SADD', key.delegationChildren(d.parent), d.jti)
  redis.call('EXPIRE', key.delegationChildren(d.parent), d.keep_sec)
end
for _, list in ipairs({ key.delegationsOf(d.tenant), key.delegationsBy(d.subject) }) do
  redis.call('ZADD', list, text(at), d.jti)
  -- No token is kept for longer than the longest one.
  redis.call('ZREMRANGEBYSCORE', list, '-inf', text(at - d.max_keep_sec * 1000000))
end
audit('act', d.tenant, text(at), ARGV[2])
return { 'issued' }
