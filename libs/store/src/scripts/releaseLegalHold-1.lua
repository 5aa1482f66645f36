--[[
  Releases a legal hold, and records it in the audit chain of its tenant, and in that of the actor's tenant. A sweep
  restores the expiries.

  KEYS  1 legal holds: hash
  ARGV  1 id   2 tenant scope, '*' for any   3 released at   4 released by   5 tenant of the actor   6 act (JSON)

  Returns  released <tenant>  |  repeated  |  missing (also when it is another tenant's)
]]
local id, scope, released_at, released_by, actor_tenant, act = unpack(ARGV)

local stored = redis.call('HGET', KEYS[1], id)
local hold = stored and cjson.decode(stored)
if not hold or (scope ~= '*' and scope ~= hold.tenant_id) then return { 'missing' } end
if hold.released_at then return { 'repeated' } end

hold.released_at, hold.released_by = released_at, released_by
redis.call('HSET', KEYS[1], id, cjson.encode(hold))
redis.call('HDEL', key.legalHoldsActive(), hold.tenant_id)
redis.call('SREM', key.heldTenants(), hold.tenant_id)
redis.call('HSET', key.holdSweeps(), hold.tenant_id, 'thaw')
held_tenants[hold.tenant_id] = false
audit('act', hold.tenant_id, text(micros()), act)
if actor_tenant ~= hold.tenant_id then audit('act', actor_tenant, text(micros()), act) end
return { 'released', hold.tenant_id }
