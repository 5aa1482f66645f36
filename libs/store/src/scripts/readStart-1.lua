--[[
  Reads what the start of a run needs: the newest version of its workflow, the time, and the numbers of active runs.

  KEYS  1 workflow
  ARGV  1... statuses of runs that have not ended

  Returns  found <tenant> <version> <written at> <author> <µs> <active runs of the tenant> <active runs of all>  |  missing
]]
local tenant, version, at, author, removed = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'version', 'at', 'author', 'removed_at'))
if not tenant or removed then return { 'missing' } end
local active = 0
for _, status in ipairs(ARGV) do active = active + redis.call('ZCARD', key.runsInStatus(tenant, status)) end
return { 'found', tenant, version, at, author or '', text(micros()), text(active), text(redis.call('ZCARD', key.liveRuns())) }
