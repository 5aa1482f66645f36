--[[
  Creates the legal hold of a tenant that has no active one, and records it in the audit chain of the tenant, and in that of the
  actor's tenant. From now on no record of the tenant gets an expiry; a sweep takes it from those that have one.

  KEYS  1 active legal holds: hash
  ARGV  1 tenant   2 id   3 hold (JSON)   4 created at (µs)   5 tenant of the actor   6 act (JSON)

  Returns  created  |  exists
]]
local tenant, id, hold, created, actor_tenant, act = unpack(ARGV)

if redis.call('HSETNX', KEYS[1], tenant, id) == 0 then return { 'exists' } end
redis.call('SADD', key.heldTenants(), tenant)
redis.call('HSET', key.holdSweeps(), tenant, 'freeze ' .. id)
held_tenants[tenant] = true
redis.call('HSET', key.legalHolds(), id, hold)
redis.call('ZADD', key.legalHoldsOf(tenant), created, id)
redis.call('ZADD', key.legalHoldsOfAll(), created, id)
audit('act', tenant, text(micros()), act)
if actor_tenant ~= tenant then audit('act', actor_tenant, text(micros()), act) end
return { 'created' }
