--[[
  Changes the status of a tenant, if its status allows that, and records the change in the audit chains of the tenant and of the
  actor's tenant. A tenant without a record is active if it has submitted jobs or has audit events.

  KEYS  1 tenant: hash
  ARGV  1 tenant   2 change: create, suspend, resume, delete or finish   3 maximum number of tenants, 0 or less = unlimited
        4 tenant of the actor   5 act (JSON)   6... fields and values to write

  Returns  changed <status>  |  unchanged <status>  |  refused <status>  |  missing  |  held  |  full <count>
]]
local tenant, change, limit, actor_tenant, act = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local moves = {
  create = { to = 'active', missing = true, deleted = true },
  suspend = { to = 'suspended', active = true },
  resume = { to = 'active', suspended = true },
  delete = { to = 'deleting', suspended = true },
  finish = { to = 'deleted', deleting = true },
}
local move = moves[change]

local status = redis.call('HGET', KEYS[1], 'status')
if not status then
  local is_known = redis.call('SISMEMBER', key.tenants(), tenant) == 1 or redis.call('SISMEMBER', key.auditTenants(), tenant) == 1
  status = is_known and 'active' or 'missing'
end
local is_gone = status == 'missing' or status == 'deleted'
if is_gone and change ~= 'create' then return { 'missing' } end
if status == move.to and change ~= 'create' then return { 'unchanged', status } end
if not move[status] then return { 'refused', status } end
-- A process that was slow may not end a deletion that another one has begun since.
if change == 'finish' and redis.call('HGET', KEYS[1], 'erase_phase') ~= 'done' then return { 'refused', status } end
if change == 'delete' and redis.call('HEXISTS', key.legalHoldsActive(), tenant) == 1 then return { 'held' } end
if change == 'create' and limit > 0 then
  local count = #redis.call('SUNION', key.tenants(), key.knownTenants())
  if count >= limit then return { 'full', tostring(count) } end
end

local at = micros()
if change == 'create' then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'created_at', text(at))
end
redis.call('HSET', KEYS[1], 'status', move.to, 'updated_at', text(at))
if ARGV[6] then redis.call('HSET', KEYS[1], unpack(ARGV, 6)) end
redis.call('SADD', key.knownTenants(), tenant)

stopped_tenants[tenant] = move.to ~= 'active' and move.to ~= 'deleted'
if move.to == 'active' then
  redis.call('SREM', key.stoppedTenants(), tenant)
  redis.call('ZREM', key.tenantsChanged(), tenant)
  -- The next claims of workers find its jobs again.
  tenants_in_turn[tenant] = nil
  lane_in_turn(tenant)
elseif move.to == 'deleted' then
  redis.call('SREM', key.stoppedTenants(), tenant)
  redis.call('ZREM', key.tenantsChanged(), tenant)
  redis.call('SREM', key.knownTenants(), tenant)
  redis.call('SREM', key.tenants(), tenant)
else
  redis.call('SADD', key.stoppedTenants(), tenant)
  redis.call('ZADD', key.tenantsChanged(), text(at), tenant)
end
-- A time, since the count of a store that was emptied or restored reaches values that processes have read before.
redis.call('SET', key.tenantsVersion(), text(at))
audit('act', tenant, text(at), act)
if actor_tenant ~= tenant then audit('act', actor_tenant, text(at), act) end
return { 'changed', move.to }
