--[[
  Logs and announces reports of the worker that holds a job, such as log lines and partial output.

  KEYS  1 job record
  ARGV  1 worker   2 dispatch id, '' = not named   3 ... reports (JSON objects)

  Returns  added  |  stale  |  missing
]]
local holder, named = ARGV[1], ARGV[2]
local id, state, worker, dispatch = unpack(redis.call('HMGET', KEYS[1], 'id', 'state', 'worker_id', 'dispatch_id'))
if not state then return { 'missing' } end
if not is(IN_FLIGHT, state) or worker ~= holder or (named ~= '' and named ~= dispatch) then return { 'stale' } end
report_events(id, { unpack(ARGV, 3) })
return { 'added' }
