--[[
  Removes a workflow, with its schedules. Its versions stay readable as long as runs that use them.

  KEYS  1 definition: hash
  ARGV  1 id   2 tenant scope, '*' for any   3 retention of ended runs, seconds, 0 = forever
        4 'always', or 'idle' to keep a workflow with active runs

  Returns  removed  |  missing  |  other_tenant  |  busy <active runs>
]]
local id, scope, keep_sec = ARGV[1], ARGV[2], tonumber(ARGV[3])
local tenant, removed, hash = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'removed_at', 'hash'))
if not tenant or removed then return { 'missing' } end
if scope ~= '*' and scope ~= tenant then return { 'other_tenant' } end
local live = redis.call('SCARD', key.liveRunsOf(tenant, id))
if live > 0 and ARGV[4] == 'idle' then return { 'busy', text(live) } end

content_before = hash or ''
redis.call('ZREM', key.workflows(tenant), id)
for _, schedule in ipairs(redis.call('ZRANGE', key.schedulesOf(id), 0, -1)) do schedule_forget(schedule) end
if redis.call('EXISTS', key.runsCreated(tenant, id)) == 0 then
  redis.call('DEL', KEYS[1])
  return { 'removed' }
end
redis.call('HSET', KEYS[1], 'removed_at', text(micros()))
-- With active runs, the last one to end sets the expiry.
if live == 0 and keep_sec > 0 then expire_record(KEYS[1], tenant, keep_sec) end
return { 'removed' }
