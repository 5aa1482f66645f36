--[[
  Removes a workflow, with its schedules. Its versions stay readable while runs that use them do.

  KEYS  1 definition: hash
  ARGV  1 id   2 tenant scope, '*' for any   3 how long runs are kept after their end, seconds, 0 = for ever
        4 'always', or 'idle' to leave one that runs still work through

  Returns  removed  |  missing  |  other_tenant  |  busy <how many runs have not ended>
]]
local id, scope, keep_sec = ARGV[1], ARGV[2], tonumber(ARGV[3])
local tenant, removed = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'removed_at'))
if not tenant or removed then return { 'missing' } end
if scope ~= '*' and scope ~= tenant then return { 'other_tenant' } end
local live = redis.call('SCARD', key.liveRunsOf(tenant, id))
if live > 0 and ARGV[4] == 'idle' then return { 'busy', text(live) } end

redis.call('ZREM', key.workflows(tenant), id)
for _, schedule in ipairs(redis.call('ZRANGE', key.schedulesOf(id), 0, -1)) do schedule_forget(schedule) end
if redis.call('EXISTS', key.runsCreated(tenant, id)) == 0 then
  redis.call('DEL', KEYS[1])
  return { 'removed' }
end
redis.call('HSET', KEYS[1], 'removed_at', text(micros()))
-- With runs that have not ended, the last of them sets the time.
if live == 0 and keep_sec > 0 then redis.call('EXPIRE', KEYS[1], keep_sec) end
return { 'removed' }
