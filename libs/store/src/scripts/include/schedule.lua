--[[
  Schedules of workflows. The record holds a document (JSON) that nothing here looks into; when it fires next is worked out
  by the caller, and judged by the clock of Redis alone. The queue entry of the next time is written with the record, so
  that the one is never there without the other.
]]

-- Each entry has an id of its own, so that one which is being worked on cannot swallow the next.
local function schedule_carry(id, due, now_ms, delay_ms)
  local record = key.schedule(id)
  local entry = 'schedule-' .. string.gsub(id, ':', '~') .. '-' .. text(redis.call('HINCRBY', record, 'entries', 1))
  local payload = '{"schedule_id":' .. cjson.encode(id) .. ',"due_ms":' .. text(due) .. '}'
  bull_add('schedules', entry, redis.call('HGET', record, 'workflow'), payload, now_ms, delay_ms, 0)
  return entry
end

local function schedule_drop(id, field)
  local entry = redis.call('HGET', key.schedule(id), field)
  if entry then bull_unpark('schedules', entry) end
  redis.call('HDEL', key.schedule(id), field)
end

-- `due` is text, ms; '' = it does not fire any more, or is paused.
local function schedule_set_due(id, due, now_ms)
  local record = key.schedule(id)
  schedule_drop(id, 'entry')
  redis.call('HSET', record, 'due', due)
  if due == '' then
    redis.call('ZREM', key.schedulesDue(), id)
    return
  end
  redis.call('ZADD', key.schedulesDue(), due, id)
  redis.call('HSET', record, 'entry', schedule_carry(id, due, now_ms, math.max(0, due - now_ms)))
end

-- Starts that wait are looked at by one entry at a time, however many wait.
local function schedule_look_again(id, now_ms, delay_ms)
  local record = key.schedule(id)
  local entry = redis.call('HGET', record, 'start_entry')
  if entry and delay_ms > 0 and redis.call('ZSCORE', bull.schedules.prefix .. 'delayed', entry) then return end
  schedule_drop(id, 'start_entry')
  local first = redis.call('ZRANGE', key.scheduleStarts(id), 0, 0)[1]
  if first then redis.call('HSET', record, 'start_entry', schedule_carry(id, first, now_ms, delay_ms)) end
end

local function schedule_drop_starts(id)
  schedule_drop(id, 'start_entry')
  redis.call('DEL', key.scheduleStarts(id))
  redis.call('ZREM', key.schedulesStarting(), id)
end

local function schedule_forget(id)
  local workflow = redis.call('HGET', key.schedule(id), 'workflow')
  if workflow then redis.call('ZREM', key.schedulesOf(workflow), id) end
  schedule_drop(id, 'entry')
  schedule_drop_starts(id)
  redis.call('ZREM', key.schedulesDue(), id)
  redis.call('DEL', key.schedule(id))
end
