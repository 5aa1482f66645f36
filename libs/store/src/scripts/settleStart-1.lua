--[[
  Records the outcome of a pending start of a schedule. A waiting start stays pending, with a queue entry to retry it.

  KEYS  1 schedule: hash
  ARGV  1 id   2 its due time, ms   3 'started', 'left_out' or 'waits'
        4 started run, or the reason for skipping ('' = none)   5 retry delay, ms

  Returns  settled  |  dropped (the schedule has changed)  |  missing
]]
local record = KEYS[1]
local id, time, outcome, what, delay_ms = unpack(ARGV)
if redis.call('EXISTS', record) == 0 then return { 'missing' } end
local at = micros()
local now_ms, starts = math.floor(at / 1000), key.scheduleStarts(id)
local there = redis.call('ZSCORE', starts, time)
-- A started run is recorded even if the schedule has changed.
if outcome == 'started' then
  redis.call('HSET', record, 'last_run_id', what, 'last_time', text(at))
  redis.call('HDEL', record, 'last_error')
end
if not there then return { 'dropped' } end
if outcome ~= 'started' and what ~= '' then redis.call('HSET', record, 'last_error', what) end

if outcome == 'waits' then
  redis.call('ZADD', key.schedulesStarting(), text(now_ms), id)
  schedule_retry_starts(id, now_ms, tonumber(delay_ms))
  return { 'settled' }
end
redis.call('ZREM', starts, time)
if redis.call('EXISTS', starts) == 0 then schedule_drop_starts(id) end
return { 'settled' }
