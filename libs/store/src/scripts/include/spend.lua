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

--[[
  Reserves the estimated cost of a job in all its accounts and in its run and parent runs, or in none.

  a = { micros, accounts = { { account, period, center?, ttl_sec, limit, action, alerts } }, run_limit, run_action }

  An account is over its limit when spent and reserved amounts reach it, or when this job exceeds the rest. If several
  are over, the first with `deny` decides. `throttle` becomes deny when waiting cannot help: the job exceeds the whole
  limit, or the run has no open reservation that could be released. `alert` allows the job.

  Returns  nil and the reservation (JSON) for the field `reserved` of the job's record
           |  { 'over', deny or throttle, account or run, number of the account or id of the run, limit, spent, reserved }
]]
local function reserve_spend(a, run, at)
  local cost, over = a.micros, nil
  local function check(kind, who, limit, action, spent, reserved, can_wait)
    limit, spent, reserved = number_of(limit), number_of(spent), number_of(reserved)
    if limit == 0 or action == 'alert' then return end
    if spent + reserved < limit and spent + reserved + cost <= limit then return end
    if action == 'throttle' and (cost > limit or not can_wait(reserved)) then action = 'deny' end
    if not over or (over[2] == 'throttle' and action == 'deny') then
      over = { 'over', action, kind, who, text(limit), text(spent), text(reserved) }
    end
  end

  for i, one in ipairs(a.accounts) do
    local spent, reserved = unpack(redis.call('HMGET', key.spend(one.account, one.period), 'spent', 'reserved'))
    check('account', tostring(i), one.limit, one.action, spent, reserved, function() return true end)
  end
  local own = true
  runs_above(run, function(k, id)
    local limit, action, spent, reserved = unpack(redis.call('HMGET', k, 'cost_limit', 'cost_action', 'cost_spent',
      'cost_reserved'))
    -- The limit may have changed after the start of the run.
    if own then limit, action = a.run_limit, a.run_action end
    own = false
    check('run', id, limit, action, spent, reserved, function(waiting) return waiting > 0 end)
  end)
  if over then return over end

  local accounts = {}
  for i, one in ipairs(a.accounts) do
    local k = key.spend(one.account, one.period)
    redis.call('HSET', k, 'limit', text(one.limit), 'alerts', cjson.encode(one.alerts))
    if cost > 0 then redis.call('HINCRBY', k, 'reserved', text(cost)) end
    redis.call('EXPIRE', k, one.ttl_sec)
    accounts[i] = { one.account, one.period, one.center or false, one.ttl_sec }
    add_spend_alerts(one.account, one.period, at)
  end
  own = true
  runs_above(run, function(k, id)
    if own then redis.call('HSET', k, 'cost_limit', text(a.run_limit), 'cost_action', a.run_action) end
    own = false
    if cost > 0 then redis.call('HINCRBY', k, 'cost_reserved', text(cost)) end
    add_run_alert(k, id, at)
  end)
  return nil, cjson.encode({ micros = cost, accounts = accounts })
end
