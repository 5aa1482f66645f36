--[[
  Effects of limits by key on other jobs: a job that is replaced or cancelled ends like one that a user cancels, and its
  message to the bus is stored with it. `cancelled` collects their ids for the caller, which publishes these messages.
]]

local function limit_cancel(id, code, message, retain, cancelled)
  local set = { 'error_code', code, 'error_message', message }
  local moved = move_job(id, { event = 'cancel', from = OPEN, to = 'CANCELLED', scope = '*', set = set, unset = { 'waiting_reason' },
    intent = cjson.encode({ result = 'CANCELLED', cancel = message }), retain = retain }, micros())
  if moved[1] == 'moved' then cancelled[#cancelled + 1] = id end
  return moved[1]
end

-- Takes a place at a full key for the newest job: the oldest holders are cancelled.
local function limit_cancel_oldest(j, limit, retain, cancelled)
  local holders = key.limitHolders('concurrency', j.tenant, limit.key)
  local excess = redis.call('ZCARD', holders) + 1 - limit.limit
  if excess > MAX_RELEASED then return end
  local oldest = excess > 0 and redis.call('ZRANGE', holders, 0, excess - 1) or {}
  -- First, so that no waiting job takes the place.
  redis.call('ZADD', holders, text(j.created), j.id)
  for _, id in ipairs(oldest) do
    local outcome = limit_cancel(id, 'concurrency_limit', 'a newer job took its place at the concurrency key', retain, cancelled)
    if outcome ~= 'moved' then redis.call('ZREM', holders, id) end
  end
end

-- Checks the limits of a job that is to enter a lane or to be dispatched. Returns nil when it has all permissions, the limit that
-- it has to wait for, or 'cancel'.
local function limit_enter(j, limits, retain, now_ms, cancelled)
  local kind = limit_check(j, limits, now_ms)
  if kind ~= 'concurrency' then return kind end
  local limit = limits.concurrency
  if limit.strategy == 'cancel_newest' then return 'cancel' end
  if limit.strategy ~= 'cancel_oldest' then return kind end
  limit_cancel_oldest(j, limit, retain, cancelled)
  return limit_check(j, limits, now_ms)
end

local NEWEST_CANCELLED = 'the concurrency key is in use'

-- The open job of a singleton key: its id and trace; nil if there is none.
local function limit_singleton(tenant, singleton)
  local first = redis.call('GET', key.limitSingleton(tenant, singleton.key))
  if not first then return nil end
  local state, trace = unpack(redis.call('HMGET', key.job(first), 'state', 'trace_id'))
  if state and not is(TERMINAL, state) then return first, trace or '' end
end

-- A new submission replaces the job that waits for the end of the period, and prolongs the period up to its maximum.
local function limit_debounce(id, tenant, debounce, retain, now_ms, cancelled)
  local own = key.limitDebounce(tenant, debounce.key)
  local replaced, first = unpack(redis.call('HMGET', own, 'job', 'first'))
  first = tonumber(first or now_ms)
  local due = math.min(now_ms + debounce.period_ms, first + debounce.max_ms)
  redis.call('HSET', own, 'job', id, 'first', text(first), 'due', text(due))
  redis.call('ZADD', key.limitsDue(), text(due), limit_ref('debounce', tenant, debounce.key))
  if replaced then
    limit_cancel(replaced, 'debounced', 'replaced by a newer submission with its debounce key: ' .. id, retain, cancelled)
  end
end
