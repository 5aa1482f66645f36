--[[
  Mends a schedule whose time has come, or whose starts nobody looks at, and which no queue entry carries: makes a fresh
  one. An entry that waits for a processor, or is with one, is left to it.

  KEYS  1 schedule: hash
  ARGV  1 id   2 starts that were looked at before this are forgotten, ms

  Returns  carried  |  there  |  gone
]]
local record, id = KEYS[1], ARGV[1]
if redis.call('EXISTS', record) == 0 then
  redis.call('ZREM', key.schedulesDue(), id)
  schedule_drop_starts(id)
  return { 'gone' }
end
local now_ms = math.floor(micros() / 1000)
local mended = false

local looked = redis.call('ZSCORE', key.schedulesStarting(), id)
if looked and tonumber(looked) < tonumber(ARGV[2]) then
  redis.call('ZADD', key.schedulesStarting(), text(now_ms), id)
  schedule_look_again(id, now_ms, 0)
  mended = true
end

local due, entry = unpack(redis.call('HMGET', record, 'due', 'entry'))
if due and due ~= '' and tonumber(due) <= now_ms then
  local prefix = bull.schedules.prefix
  if entry and redis.call('ZSCORE', prefix .. 'failed', entry) then bull_remove_failed('schedules', entry) end
  -- One that is delayed although its time has come was put off by a service whose clock is wrong.
  if entry and redis.call('ZSCORE', prefix .. 'delayed', entry) then bull_unpark('schedules', entry) end
  if not entry or redis.call('EXISTS', prefix .. entry) == 0 then
    schedule_set_due(id, due, now_ms)
    mended = true
  end
end
return { mended and 'carried' or 'there' }
