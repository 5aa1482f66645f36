--[[
  Limits that jobs name by keys of their tenant (field `limits` of the record, JSON: concurrency, rate, debounce, singleton).
  A job needs the permission of each of its limits before it enters a lane or is dispatched; without it, it waits in the list
  of that key (`blocked`), and the script that frees a permission moves the next waiting job to its lane.
  See docs/adr/0026-limits-by-key.md.

  Permissions are sets of members, so that they cannot drift as counters do:
    concurrency   job id, until the job ends or is held for approval
    rate          <job id>:<attempt>, by its start (ms), infinite until then; counted for one period from then
]]

-- Waiting jobs that one call lets through, and jobs that it cancels.
local MAX_RELEASED = 64

-- The longest period that submissions may name.
local MAX_RATE_PERIOD_MS = 86400000

local LISTED_LIMITS = { 'concurrency', 'rate' }

local WAITING_REASONS = { concurrency = 'concurrency_limit', rate = 'rate_limit', debounce = 'debounce' }

local function limit_ref(kind, tenant, name)
  return cjson.encode({ kind, tenant, name })
end

local function limit_member(kind, id, attempts)
  return kind == 'rate' and (id .. ':' .. text(number_of(attempts) + 1)) or id
end

-- Forgets a key without permissions and waiting jobs.
local function limit_forget(kind, tenant, name)
  if redis.call('EXISTS', key.limitHolders(kind, tenant, name), key.limitWaiters(kind, tenant, name)) == 0 then
    redis.call('SREM', key.limitsUsed(), limit_ref(kind, tenant, name))
  end
end

-- Starts are kept for one period; permissions without a start until they are used or returned.
local function limit_expire_starts(limit, tenant)
  local holders = key.limitHolders('rate', tenant, limit.key)
  if redis.call('ZCOUNT', holders, '+inf', '+inf') > 0 then redis.call('PERSIST', holders)
  else redis.call('PEXPIRE', holders, text(limit.per_ms)) end
end

-- Takes a permission, if one is free or the job has it. `j` = { id, tenant, created (µs), attempts }.
local function limit_take(kind, limit, j, now_ms)
  local holders, member = key.limitHolders(kind, j.tenant, limit.key), limit_member(kind, j.id, j.attempts)
  if redis.call('ZSCORE', holders, member) then return true end
  if kind == 'rate' then redis.call('ZREMRANGEBYSCORE', holders, '-inf', text(now_ms - limit.per_ms)) end
  if redis.call('ZCARD', holders) >= limit.limit then return false end
  redis.call('ZADD', holders, kind == 'rate' and '+inf' or text(j.created), member)
  redis.call('SADD', key.limitsUsed(), limit_ref(kind, j.tenant, limit.key))
  if kind == 'rate' then limit_expire_starts(limit, j.tenant) end
  return true
end

-- When the oldest start leaves the window of a rate, the next waiting job may start.
local function limit_schedule_rate(limit, tenant)
  local ref = limit_ref('rate', tenant, limit.key)
  local oldest = redis.call('ZRANGE', key.limitHolders('rate', tenant, limit.key), 0, 0, 'WITHSCORES')[2]
  local is_waiting = redis.call('EXISTS', key.limitWaiters('rate', tenant, limit.key)) == 1
  if is_waiting and oldest and oldest ~= 'inf' then
    redis.call('ZADD', key.limitsDue(), text(tonumber(oldest) + limit.per_ms), ref)
  else
    redis.call('ZREM', key.limitsDue(), ref)
  end
end

local function limit_drop_debounce(tenant, name)
  redis.call('DEL', key.limitDebounce(tenant, name))
  redis.call('ZREM', key.limitsDue(), limit_ref('debounce', tenant, name))
end

-- The limit that a job has to wait for, or nil when it has all permissions. Jobs that wait for the same key and were submitted
-- earlier come first.
local function limit_check(j, limits, now_ms)
  local debounce = limits.debounce
  if debounce then
    local waiting, due = unpack(redis.call('HMGET', key.limitDebounce(j.tenant, debounce.key), 'job', 'due'))
    if waiting == j.id then
      if tonumber(due) > now_ms then return 'debounce' end
      limit_drop_debounce(j.tenant, debounce.key)
    end
  end
  for _, kind in ipairs(LISTED_LIMITS) do
    local limit = limits[kind]
    if limit and not redis.call('ZSCORE', key.limitHolders(kind, j.tenant, limit.key), limit_member(kind, j.id, j.attempts)) then
      local first = redis.call('ZRANGE', key.limitWaiters(kind, j.tenant, limit.key), 0, 0, 'WITHSCORES')
      local is_next = not first[1] or first[1] == j.id or tonumber(first[2]) > tonumber(j.created)
      if not is_next or not limit_take(kind, limit, j, now_ms) then return kind end
    end
  end
end

-- Adds a job to the list of the key that it waits for. Returns the value of its field `blocked`.
local function limit_wait(j, limits, kind, lane)
  local limit = limits[kind]
  if kind ~= 'debounce' then
    redis.call('ZADD', key.limitWaiters(kind, j.tenant, limit.key), text(j.created), j.id)
    redis.call('SADD', key.limitsUsed(), limit_ref(kind, j.tenant, limit.key))
    if kind == 'rate' then limit_schedule_rate(limit, j.tenant) end
  end
  return cjson.encode({ by = kind, lane = lane })
end

-- A job leaves the list that it waits in, other than by a permission. Returns the kind of the list if the job was its first:
-- jobs behind it with a higher limit of their own may be let through then.
local function limit_leave_list(id, tenant, limits, blocked)
  local kind = cjson.decode(blocked).by
  if kind == 'debounce' or not limits[kind] then return nil end
  local waiting = key.limitWaiters(kind, tenant, limits[kind].key)
  local is_first = redis.call('ZRANGE', waiting, 0, 0)[1] == id
  redis.call('ZREM', waiting, id)
  limit_forget(kind, tenant, limits[kind].key)
  return is_first and kind or nil
end

local BLOCKED_FIELDS = { 'state', 'limits', 'blocked', 'attempts', 'created_at' }

-- A job got the permission that it waited for: it waits for its next limit, or moves to its lane.
local function limit_advance(id, tenant, kind, limits, blocked, attempts, created, now_ms)
  local j, lane = { id = id, tenant = tenant, attempts = attempts, created = tonumber(created) }, cjson.decode(blocked).lane
  local next_kind = limit_check(j, limits, now_ms)
  if next_kind then
    redis.call('HSET', key.job(id), 'blocked', limit_wait(j, limits, next_kind, lane), 'waiting_reason', WAITING_REASONS[next_kind])
    return
  end
  redis.call('HSET', key.job(id), 'blocked', '', 'lane', lane.id, 'level', lane.level, 'waiting_reason', 'pool_overloaded')
  if lane_add(lane.id, lane.spec, lane.level, tenant, id, j.created / 1000) then
    redis.call('PUBLISH', key.laneArrivals(), cjson.encode({ id = lane.id, spec = lane.spec }))
  end
end

-- Lets waiting jobs through while permissions of a key are free, oldest first.
local function limit_release_next(kind, tenant, name, now_ms)
  local waiting, limit = key.limitWaiters(kind, tenant, name), nil
  local is_complete = false
  for _ = 1, MAX_RELEASED do
    local id = redis.call('ZRANGE', waiting, 0, 0)[1]
    is_complete = not id
    if is_complete then break end
    local state, limits, blocked, attempts, created = unpack(redis.call('HMGET', key.job(id), unpack(BLOCKED_FIELDS)))
    limits = limits and cjson.decode(limits) or {}
    if not state or not blocked or blocked == '' or cjson.decode(blocked).by ~= kind or not limits[kind] then
      redis.call('ZREM', waiting, id)
    else
      limit = limits[kind]
      is_complete = not limit_take(kind, limit, { id = id, tenant = tenant, attempts = attempts, created = tonumber(created) }, now_ms)
      if is_complete then break end
      redis.call('ZREM', waiting, id)
      limit_advance(id, tenant, kind, limits, blocked, attempts, created, now_ms)
    end
  end
  if kind == 'rate' and limit then limit_schedule_rate(limit, tenant) end
  -- Further starts may be free, and no end of a job lets the next one through.
  if kind == 'rate' and not is_complete then redis.call('ZADD', key.limitsDue(), text(now_ms), limit_ref(kind, tenant, name)) end
  limit_forget(kind, tenant, name)
end

-- A job leaves its list and does not wait in it again.
local function limit_stop_waiting(id, tenant, limits, blocked, now_ms)
  local kind = limit_leave_list(id, tenant, limits, blocked)
  if kind then limit_release_next(kind, tenant, limits[kind].key, now_ms) end
end

-- The job that waits for the end of its debounce period, if that is over.
local function limit_end_debounce(tenant, name, now_ms)
  local id, due = unpack(redis.call('HMGET', key.limitDebounce(tenant, name), 'job', 'due'))
  if not id or tonumber(due) > now_ms then return end
  local state, limits, blocked, attempts, created = unpack(redis.call('HMGET', key.job(id), unpack(BLOCKED_FIELDS)))
  limit_drop_debounce(tenant, name)
  if not state or not blocked or blocked == '' or cjson.decode(blocked).by ~= 'debounce' then return end
  limit_advance(id, tenant, 'debounce', cjson.decode(limits), blocked, attempts, created, now_ms)
end

-- Returns the permissions of a job that ended (`is_over`) or is held for approval.
local function limit_return(id, tenant, limits, attempts, is_over, now_ms)
  local debounce, singleton = limits.debounce, limits.singleton
  if debounce and redis.call('HGET', key.limitDebounce(tenant, debounce.key), 'job') == id then
    limit_drop_debounce(tenant, debounce.key)
  end
  if singleton and is_over and redis.call('GET', key.limitSingleton(tenant, singleton.key)) == id then
    redis.call('DEL', key.limitSingleton(tenant, singleton.key))
  end
  for _, kind in ipairs(LISTED_LIMITS) do
    local limit = limits[kind]
    if limit then
      -- Starts stay in the window of a rate.
      if redis.call('ZREM', key.limitHolders(kind, tenant, limit.key), limit_member(kind, id, attempts)) == 1 then
        limit_release_next(kind, tenant, limit.key, now_ms)
        if kind == 'rate' then limit_expire_starts(limit, tenant) end
      else
        limit_forget(kind, tenant, limit.key)
      end
    end
  end
end

-- A dispatch is a start: it counts for one period from now.
local function limit_start(id, tenant, limit, attempt, now_ms)
  local holders = key.limitHolders('rate', tenant, limit.key)
  redis.call('ZADD', holders, text(now_ms), id .. ':' .. attempt)
  limit_expire_starts(limit, tenant)
  limit_schedule_rate(limit, tenant)
end

-- Effects of a transition on the limits of a job. `attempt`: of the dispatch, if it is one; `attempts`: before it.
local function limit_follow_move(id, tenant, limits, blocked, from, to, attempts, attempt, now_ms)
  limits = cjson.decode(limits)
  if blocked and blocked ~= '' then
    limit_stop_waiting(id, tenant, limits, blocked, now_ms)
    redis.call('HSET', key.job(id), 'blocked', '')
  end
  if to == 'DISPATCHED' and limits.rate then limit_start(id, tenant, limits.rate, attempt, now_ms) end
  local is_over = is(TERMINAL, to)
  if is_over and is(TERMINAL, from) then return end
  if is_over or to == 'APPROVAL_REQUIRED' then limit_return(id, tenant, limits, attempts, is_over, now_ms) end
end
