--[[
  Spending, in micros (millionths of a US dollar). The estimated cost of a job is reserved before its dispatch, in its
  accounts, its run and the parent runs; its end commits each of them once. An account is one budget
  in one period: { reserved, spent, limit, alerts (percents, JSON), `told:<percent>`, `center:<name>` }.
]]

-- Bounds the cost centre label, which submitters choose freely.
local MAX_CENTERS = 1000

-- Above the maximum nesting depth of runs.
local RUNS_DEEP = 64

local function number_of(value)
  return tonumber(value or 0) or 0
end

-- Adds an alert for each threshold that an account has newly reached.
local function add_spend_alerts(account, period, at)
  local k = key.spend(account, period)
  local limit, alerts, spent, reserved = unpack(redis.call('HMGET', k, 'limit', 'alerts', 'spent', 'reserved'))
  limit = number_of(limit)
  if limit == 0 or not alerts then return end
  local used = number_of(spent) + number_of(reserved)
  for _, percent in ipairs(cjson.decode(alerts)) do
    if used * 100 >= limit * percent and redis.call('HSETNX', k, 'told:' .. percent, text(at)) == 1 then
      redis.call('RPUSH', key.spendAlerts(), cjson.encode({ account = account, period = period, percent = percent,
        limit = limit, spent = number_of(spent), reserved = number_of(reserved) }))
    end
  end
end

-- Adds one alert when a run with `alert` has reached its limit; with other actions its jobs report it.
local function add_run_alert(k, id, at)
  local limit, action, spent, reserved = unpack(redis.call('HMGET', k, 'cost_limit', 'cost_action', 'cost_spent',
    'cost_reserved'))
  limit, spent, reserved = number_of(limit), number_of(spent), number_of(reserved)
  if limit == 0 or action ~= 'alert' or spent + reserved < limit then return end
  if redis.call('HSETNX', k, 'cost_told', text(at)) == 0 then return end
  redis.call('RPUSH', key.spendAlerts(), cjson.encode({ account = 'run:' .. id, period = '', percent = 100, limit = limit,
    spent = spent, reserved = reserved }))
end

-- Calls visit(record key) for the run and its existing ancestors until one call returns a value.
local function runs_above(run, visit)
  local r = run
  for _ = 1, RUNS_DEEP do
    if not r or r == '' then return end
    local k = key.run(r)
    local parent = redis.call('HMGET', k, 'id', 'parent')
    if not parent[1] then return end
    local answer = visit(k, r)
    if answer then return answer end
    r = parent[2]
  end
end

-- The first cost centres have separate counters; all further ones share one.
local function count_center(k, center, actual)
  local field = 'center:' .. center
  if redis.call('HEXISTS', k, field) == 0 and redis.call('HLEN', k) >= MAX_CENTERS then field = 'center:other' end
  redis.call('HINCRBY', k, field, text(actual))
end

--[[
  Commits the cost of an ended job: releases its reservation and adds its cost to the spending. `cost` is the cost reported
  by its workers; if nil, the reserved amount is charged, provided the job was dispatched. Returns the charged cost.
]]
local function settle_spend(run, held, cost, attempts, at)
  local reserved = held and number_of(held.micros) or 0
  local actual = cost or (attempts > 0 and reserved or 0)
  for _, a in ipairs(held and held.accounts or {}) do
    local k = key.spend(a[1], a[2])
    -- A missing account belongs to a period past its retention.
    if redis.call('EXISTS', k) == 1 then
      if reserved > 0 then redis.call('HINCRBY', k, 'reserved', text(-reserved)) end
      if actual > 0 then redis.call('HINCRBY', k, 'spent', text(actual)) end
      if actual > 0 and a[3] then count_center(k, a[3], actual) end
      redis.call('EXPIRE', k, a[4])
      add_spend_alerts(a[1], a[2], at)
    end
  end
  if actual > 0 or reserved > 0 then
    runs_above(run, function(k)
      if reserved > 0 then redis.call('HINCRBY', k, 'cost_reserved', text(-reserved)) end
      if actual > 0 then redis.call('HINCRBY', k, 'cost_spent', text(actual)) end
    end)
  end
  return actual
end
