--[[
  Removes a run that has ended, with all that points at it but its idempotency key.

  KEYS  1 run record
  ARGV  1 id   2 tenant scope, '*' for any

  Returns  removed  |  missing  |  other_tenant  |  active <status>
]]
local id, scope = ARGV[1], ARGV[2]
local tenant, workflow, status = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'workflow', 'status'))
if not tenant then return { 'missing' } end
if scope ~= '*' and scope ~= tenant then return { 'other_tenant' } end
if redis.call('ZSCORE', key.liveRuns(), id) then return { 'active', status } end
run_forget(id, tenant, workflow, status)
return { 'removed' }
