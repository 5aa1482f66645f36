--[[
  Writes the same data as BullMQ's scripts for a job without parent, repetition or deduplication, so that one script
  can update a record and its queue entry together. `bull` (from the prelude) holds each queue's prefix and
  default options. A test compares the result with that of Queue.add.
]]

-- BullMQ rejects ':' in custom ids, and keys such as `failed` share the namespace of entries: the prefix prevents
-- collisions with them.
local function bull_id(id)
  return 'job-' .. string.gsub(id, ':', '~')
end

-- Cached due time of the first delayed entry of each queue in this batch.
local bull_first_due = {}
local bull_marked = {}

-- BullMQ's workers sleep ten seconds at most and then read when the first delayed entry is due. The rest is for slow calls.
local BULL_LONGEST_SLEEP_MS = 15000

-- A worker sleeps until the first delayed entry is due, so only a new first entry has to wake it, and only one that is due
-- before the worker wakes anyway: most entries are time limits of jobs, which end long before.
local function bull_wake_for_delayed(prefix, id, due, delay_ms)
  if delay_ms > BULL_LONGEST_SLEEP_MS then return end
  if bull_first_due[prefix] and due >= bull_first_due[prefix] then return end
  local first = redis.call('ZRANGE', prefix .. 'delayed', 0, 0, 'WITHSCORES')
  if first[1] == id then redis.call('ZADD', prefix .. 'marker', tonumber(first[2]) / 0x1000, '1') end
  bull_first_due[prefix] = tonumber(first[2])
end

-- Positions of the entries of one priority: BullMQ counts them from 0 to 2^32 - 1.
local BULL_POSITIONS = 0x100000000

-- Position of an entry of a tenant among those of its priority: tenants take turns, and one that had no entries starts after
-- the head of the queue. A turn costs `cost`, at most 1. BullMQ's own counter follows the head, since entries that it adds after a
-- delay are ordered by it. See docs/adr/0026-limits-by-key.md#fairness.
local function bull_turn(spec, priority, tenant, cost)
  local entries, turns, counter = spec.prefix .. 'prioritized', key.queueTurns(text(priority), spec.prefix), spec.prefix .. 'pc'
  local first = priority * BULL_POSITIONS
  local head = redis.call('ZRANGE', entries, text(first), '(' .. text(first + BULL_POSITIONS), 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')[2]
  local position = 0
  if head then
    local now = tonumber(head) - first
    position = math.max(now, tonumber(redis.call('HGET', turns, tenant) or now)) + cost
    local next_position = math.ceil(now) + 1
    if tonumber(redis.call('GET', counter) or 0) < next_position then redis.call('SET', counter, text(next_position)) end
  else
    redis.call('DEL', turns)
  end
  position = math.min(position, BULL_POSITIONS - 1)
  redis.call('HSET', turns, tenant, string.format('%.4f', position))
  return string.format('%.4f', first + position)
end

-- Adds an entry; an existing id is not changed. `delay_ms` 0 = now; `priority` 0 = first in, first out;
-- `options` (JSON) replaces the queue's own. `share` = { tenant, cost } of a queue in which tenants take turns.
local function bull_add(queue, id, name, data, now_ms, delay_ms, priority, options, share)
  local spec = bull[queue]
  local entry = spec.prefix .. id
  -- The entry existed: the write above set the same values, except for display fields.
  if redis.call('HSET', entry, 'name', name, 'data', data, 'opts', options or spec.opts, 'timestamp', now_ms, 'delay', delay_ms,
    'priority', priority) == 0 then return false end
  if delay_ms > 0 then
    local due = (now_ms + delay_ms) * 0x1000
    redis.call('ZADD', spec.prefix .. 'delayed', string.format('%.0f', due), id)
    bull_wake_for_delayed(spec.prefix, id, due, delay_ms)
    return true
  end
  if priority > 0 and share then
    redis.call('ZADD', spec.prefix .. 'prioritized', bull_turn(spec, priority, share.tenant, share.cost), id)
  elseif priority > 0 then
    local turn = redis.call('INCR', spec.prefix .. 'pc')
    redis.call('ZADD', spec.prefix .. 'prioritized', string.format('%.0f', priority * 0x100000000 + turn % 0x100000000), id)
  else
    redis.call('LPUSH', spec.prefix .. 'wait', id)
  end
  -- The marker this batch set cannot have been consumed yet.
  if not bull_marked[queue] then redis.call('ZADD', spec.prefix .. 'marker', 0, '0') end
  bull_marked[queue] = true
  return true
end

-- Removes a delayed entry. An entry that BullMQ is already delivering stays: its processor finds the record changed
-- and does nothing.
local function bull_unpark(queue, id)
  local prefix = bull[queue].prefix
  if redis.call('ZREM', prefix .. 'delayed', id) == 1 then redis.call('DEL', prefix .. id) end
end

-- Adds an entry directly to the failed set, where Bull Board shows it with its reason; it is never processed.
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
