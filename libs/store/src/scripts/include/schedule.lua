--[[
  Schedules of workflows. The record holds an opaque document (JSON). The caller computes the next due time, which is
  compared only with the Redis clock. The queue entry of the next due time is written atomically with the record.
]]

-- Each entry has a unique id, so that an entry in progress cannot absorb the next one.
local function schedule_enqueue(id, due, now_ms, delay_ms)
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

-- `due` is text, ms; '' = paused, or without a further due time.
local function schedule_set_due(id, due, now_ms)
  local record = key.schedule(id)
  schedule_drop(id, 'entry')
  redis.call('HSET', record, 'due', due)
  if due == '' then
    redis.call('ZREM', key.schedulesDue(), id)
    return
  end
  redis.call('ZADD', key.schedulesDue(), due, id)
  redis.call('HSET', record, 'entry', schedule_enqueue(id, due, now_ms, math.max(0, due - now_ms)))
end

-- One entry at a time processes the pending starts of a schedule.
local function schedule_retry_starts(id, now_ms, delay_ms)
  local record = key.schedule(id)
  local entry = redis.call('HGET', record, 'start_entry')
  if entry and delay_ms > 0 and redis.call('ZSCORE', bull.schedules.prefix .. 'delayed', entry) then return end
  schedule_drop(id, 'start_entry')
  local first = redis.call('ZRANGE', key.scheduleStarts(id), 0, 0)[1]
  if first then redis.call('HSET', record, 'start_entry', schedule_enqueue(id, first, now_ms, delay_ms)) end
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
