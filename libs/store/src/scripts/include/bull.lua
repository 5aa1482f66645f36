--[[
  What BullMQ's own scripts write for a job without parent, repetition or de-duplication, so that one script of ours can
  move a record and the queue entry that carries it together. `bull` (from the prelude) holds each queue's prefix and
  default options. The test beside the loader compares what this leaves with what Queue.add leaves.
]]

-- BullMQ refuses ':' in ids of our own, and keeps keys such as `failed` beside the entries: the prefix keeps a job whose
-- id is such a word apart from them.
local function bull_id(id)
  return 'job-' .. string.gsub(id, ':', '~')
end

-- When the first delayed entry of each queue is due, as this batch last saw it: a later one is not the first.
local bull_first_due = {}
local bull_marked = {}

-- A worker sleeps until the first delayed entry is due; only a new first one has to wake it.
local function bull_wake_for_delayed(prefix, id, due)
  if bull_first_due[prefix] and due >= bull_first_due[prefix] then return end
  local first = redis.call('ZRANGE', prefix .. 'delayed', 0, 0, 'WITHSCORES')
  if first[1] == id then redis.call('ZADD', prefix .. 'marker', tonumber(first[2]) / 0x1000, '1') end
  bull_first_due[prefix] = tonumber(first[2])
end

-- Adds a job; an id that is already there is left as it is. `delay_ms` 0 = now; `priority` 0 = first in, first out;
-- `options` (JSON) in place of the queue's own.
local function bull_add(queue, id, name, data, now_ms, delay_ms, priority, options)
  local spec = bull[queue]
  local entry = spec.prefix .. id
  -- No new field: it was there, and what was written is what stood there, but for display.
  if redis.call('HSET', entry, 'name', name, 'data', data, 'opts', options or spec.opts, 'timestamp', now_ms, 'delay', delay_ms,
    'priority', priority) == 0 then return false end
  if delay_ms > 0 then
    local due = (now_ms + delay_ms) * 0x1000
    redis.call('ZADD', spec.prefix .. 'delayed', string.format('%.0f', due), id)
    bull_wake_for_delayed(spec.prefix, id, due)
    return true
  end
  if priority > 0 then
    local turn = redis.call('INCR', spec.prefix .. 'pc')
    redis.call('ZADD', spec.prefix .. 'prioritized', string.format('%.0f', priority * 0x100000000 + turn % 0x100000000), id)
  else
    redis.call('LPUSH', spec.prefix .. 'wait', id)
  end
  -- Nobody can have taken the marker since this batch set it.
  if not bull_marked[queue] then redis.call('ZADD', spec.prefix .. 'marker', 0, '0') end
  bull_marked[queue] = true
  return true
end

-- Takes a parked (delayed) job away. One that BullMQ is already handing to a worker stays: its processor finds the
-- record moved on and does nothing.
local function bull_unpark(queue, id)
  local prefix = bull[queue].prefix
  if redis.call('ZREM', prefix .. 'delayed', id) == 1 then redis.call('DEL', prefix .. id) end
end

-- Adds an entry straight to the failed set, where Bull Board shows it with its reason; nothing processes it.
local function bull_add_failed(queue, id, name, data, now_ms, reason)
  local spec = bull[queue]
  redis.call('HSET', spec.prefix .. id, 'name', name, 'data', data, 'opts', spec.opts, 'timestamp', now_ms, 'delay', 0,
    'priority', 0, 'failedReason', reason, 'processedOn', now_ms, 'finishedOn', now_ms, 'atm', 1, 'stacktrace', '[]')
  redis.call('ZADD', spec.prefix .. 'failed', now_ms, id)
end

local function bull_remove_failed(queue, id)
  local prefix = bull[queue].prefix
  redis.call('ZREM', prefix .. 'failed', id)
  redis.call('DEL', prefix .. id)
end
