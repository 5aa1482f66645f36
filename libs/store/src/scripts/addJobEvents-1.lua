--[[
  Logs and announces reports of the worker that holds a job, such as log lines and partial output. The last report of a
  dispatch may arrive after its result.

  KEYS  1 job record
  ARGV  1 worker   2 dispatch id, '' = not named   3 ... reports (JSON objects)

  Returns  added  |  stale  |  missing
]]
local holder, named = ARGV[1], ARGV[2]
local LATE_US = 5000000
local id, state, worker, dispatch, ended = unpack(redis.call('HMGET', KEYS[1], 'id', 'state', 'worker_id', 'dispatch_id',
  'completed_at'))
if not state then return { 'missing' } end
if worker ~= holder or (named ~= '' and named ~= dispatch) then return { 'stale' } end
local is_late = named ~= '' and is({ 'SUCCEEDED', 'FAILED' }, state) and micros() - tonumber(ended or 0) < LATE_US
if not is(IN_FLIGHT, state) and not is_late then return { 'stale' } end
report_events(id, { unpack(ARGV, 3) })
return { 'added' }
