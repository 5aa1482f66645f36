--[[
  Removes an ended run and its index entries, but keeps its idempotency key. A run whose last pass has not yet cancelled
  its jobs or notified its parent counts as active, because that work needs the record.

  KEYS  1 run record
  ARGV  1 id   2 tenant scope, '*' for any

  Returns  removed  |  missing  |  other_tenant  |  active <status>  |  held: under a legal hold
]]
local id, scope = ARGV[1], ARGV[2]
local tenant, workflow, status, acting = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'workflow', 'status', 'acting'))
if not tenant then return { 'missing' } end
if scope ~= '*' and scope ~= tenant then return { 'other_tenant' } end
if on_hold(tenant) then return { 'held' } end
if acting == '1' or redis.call('ZSCORE', key.liveRuns(), id) then return { 'active', status } end
run_forget(id, tenant, workflow, status)
return { 'removed' }
