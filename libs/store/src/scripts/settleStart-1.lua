--[[
  Notes what became of a start that a schedule had to make. One that waits stays, with an entry that looks at it again.

  KEYS  1 schedule: hash
  ARGV  1 id   2 time it is for, ms   3 'started', 'left_out' or 'waits'
        4 run that was started, else why it was not ('' = nothing to tell)   5 when to look again, ms from now

  Returns  settled  |  dropped (the schedule has been changed since)  |  missing
]]
local record = KEYS[1]
local id, time, outcome, what, delay_ms = unpack(ARGV)
if redis.call('EXISTS', record) == 0 then return { 'missing' } end
local at = micros()
local now_ms, starts = math.floor(at / 1000), key.scheduleStarts(id)
local there = redis.call('ZSCORE', starts, time)
-- A run that was started is told of, whatever happened to the schedule meanwhile.
if outcome == 'started' then
  redis.call('HSET', record, 'last_run_id', what, 'last_time', text(at))
  redis.call('HDEL', record, 'last_error')
end
if not there then return { 'dropped' } end
if outcome ~= 'started' and what ~= '' then redis.call('HSET', record, 'last_error', what) end

if outcome == 'waits' then
  redis.call('ZADD', key.schedulesStarting(), text(now_ms), id)
  schedule_look_again(id, now_ms, tonumber(delay_ms))
  return { 'settled' }
end
redis.call('ZREM', starts, time)
if redis.call('EXISTS', starts) == 0 then schedule_drop_starts(id) end
return { 'settled' }
