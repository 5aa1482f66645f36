--[[
  Repairs a schedule that is due or has pending starts but no queue entry: adds a new entry. An entry that waits for a
  processor or is being processed is kept.

  KEYS  1 schedule: hash
  ARGV  1 id   2 pending starts last checked before this count as lost, ms

  Returns  requeued  |  unchanged  |  missing
]]
local record, id = KEYS[1], ARGV[1]
if redis.call('EXISTS', record) == 0 then
  redis.call('ZREM', key.schedulesDue(), id)
  schedule_drop_starts(id)
  return { 'missing' }
end
local now_ms = math.floor(micros() / 1000)
local repaired = false

local checked_at = redis.call('ZSCORE', key.schedulesStarting(), id)
if checked_at and tonumber(checked_at) < tonumber(ARGV[2]) then
  redis.call('ZADD', key.schedulesStarting(), text(now_ms), id)
  schedule_retry_starts(id, now_ms, 0)
  repaired = true
end

local due, entry = unpack(redis.call('HMGET', record, 'due', 'entry'))
if due and due ~= '' and tonumber(due) <= now_ms then
  local prefix = bull.schedules.prefix
  if entry and redis.call('ZSCORE', prefix .. 'failed', entry) then bull_remove_failed('schedules', entry) end
  -- A delayed entry of a due schedule was delayed by a service whose clock is wrong.
  if entry and redis.call('ZSCORE', prefix .. 'delayed', entry) then bull_unpark('schedules', entry) end
  if not entry or redis.call('EXISTS', prefix .. entry) == 0 then
    schedule_set_due(id, due, now_ms)
    repaired = true
  end
end
return { repaired and 'requeued' or 'unchanged' }
