-- Legal holds: while a tenant has one, none of its records expires. What would have expired is noted with its time, which the
-- release restores. See docs/reference/audit.md#legal-holds.

-- Tenants to whether they are under a legal hold, as first read in this batch.
local held_tenants = {}

local function on_hold(tenant)
  if held_tenants[tenant] == nil then held_tenants[tenant] = redis.call('SISMEMBER', key.heldTenants(), tenant) == 1 end
  return held_tenants[tenant]
end

-- Lets a record of a tenant expire, under a hold only after its release.
local function expire_record(record, tenant, sec)
  if not on_hold(tenant) then return redis.call('EXPIRE', record, sec) end
  redis.call('PERSIST', record)
  redis.call('ZADD', key.heldExpiries(tenant), text(math.floor(micros() / 1000) + sec * 1000), record)
end

-- Writes a text record of a tenant that expires.
local function set_expiring(record, tenant, body, sec)
  if not on_hold(tenant) then return redis.call('SET', record, body, 'EX', sec) end
  redis.call('SET', record, body)
  expire_record(record, tenant, sec)
end

-- Keeps a record of a tenant under a hold that has an expiry. Returns whether it had one.
local function freeze_record(record, tenant)
  local at = redis.call('PEXPIRETIME', record)
  if at < 0 then return false end
  redis.call('ZADD', key.heldExpiries(tenant), text(at), record)
  redis.call('PERSIST', record)
  return true
end
