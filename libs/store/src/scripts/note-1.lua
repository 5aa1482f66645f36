--[[
  Writes facts about a job without a state transition (progress, a verdict on its output, one of several decisions), if it
  is in one of the given states and the optional conditions on worker, dispatch and fields hold.

  KEYS  1 job record
  ARGV  1 { states, holder?, dispatch_id?, guard? = { field = value }, set = {field, value, ...},
          event? = report of its worker (JSON), post? = event (JSON) for its run, dead_letter? = as for move_job, entry? = { id, queue, suffix } of a queue entry to remove } (JSON)

  Returns  noted  |  stale  |  missing
]]
local n = cjson.decode(ARGV[1])
if n.entry then bull_unpark(n.entry.queue, entry_id(n.entry.id, n.entry)) end
local state, worker, dispatch, run = unpack(redis.call('HMGET', KEYS[1], 'state', 'worker_id', 'dispatch_id', 'run'))
if not state then return { 'missing' } end
if not is(n.states, state) then return { 'stale' } end
if n.holder and n.holder ~= worker then return { 'stale' } end
if n.dispatch_id and n.dispatch_id ~= dispatch then return { 'stale' } end
for field, value in pairs(n.guard or {}) do
  if (redis.call('HGET', KEYS[1], field) or '') ~= value then return { 'stale' } end
end
if #n.set > 0 then redis.call('HSET', KEYS[1], unpack(n.set)) end
if n.event then report_events(redis.call('HGET', KEYS[1], 'id'), { n.event }) end
if run and n.post then run_post(run, n.post, math.floor(micros() / 1000)) end
if n.dead_letter then
  local id, tenant = unpack(redis.call('HMGET', KEYS[1], 'id', 'tenant'))
  local at = micros()
  write_dead_letter(id, tenant, n.dead_letter, at, math.floor(at / 1000))
end
return { 'noted' }
