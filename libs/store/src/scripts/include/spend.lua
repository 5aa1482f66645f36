--[[
  What work costs, in micros (millionths of a US dollar). What a job may cost is reserved before it goes to a worker, in every
  account it counts in and in its run and the runs above that; its end settles each of them, once. An account is one budget
  within one period: { reserved, spent, limit, alerts (percents, JSON), `told:<percent>`, `center:<name>` }.
]]

-- Submitters may write anything into the label that names a centre.
local MOST_CENTERS = 1000

-- Runs within runs: as deep as they may be nested, and some more.
local RUNS_DEEP = 64

local function number_of(value)
  return tonumber(value or 0) or 0
end

-- Tells, once each, which parts of its limit an account has reached.
local function tell_spend(account, period, at)
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

-- Tells once that a run with `alert` has reached its limit; with any other action its jobs say so.
local function tell_run(k, id, at)
  local limit, action, spent, reserved = unpack(redis.call('HMGET', k, 'cost_limit', 'cost_action', 'cost_spent',
    'cost_reserved'))
  limit, spent, reserved = number_of(limit), number_of(spent), number_of(reserved)
  if limit == 0 or action ~= 'alert' or spent + reserved < limit then return end
  if redis.call('HSETNX', k, 'cost_told', text(at)) == 0 then return end
  redis.call('RPUSH', key.spendAlerts(), cjson.encode({ account = 'run:' .. id, period = '', percent = 100, limit = limit,
    spent = spent, reserved = reserved }))
end

-- The run and the runs it is part of, those that are kept: calls visit(record key) for each until it answers something.
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

-- Of very many centres the first have counters of their own, and the others one together.
local function count_center(k, center, actual)
  local field = 'center:' .. center
  if redis.call('HEXISTS', k, field) == 0 and redis.call('HLEN', k) >= MOST_CENTERS then field = 'center:other' end
  redis.call('HINCRBY', k, field, text(actual))
end

--[[
  A job is over: what it reserved is given back, and what it cost is spent. `cost` is what its workers said it cost, nil when
  none said: then what was reserved stands, if a worker ever had it. Returns what it cost.
]]
local function settle_spend(run, held, cost, attempts, at)
  local reserved = held and number_of(held.micros) or 0
  local actual = cost or (attempts > 0 and reserved or 0)
  for _, a in ipairs(held and held.accounts or {}) do
    local k = key.spend(a[1], a[2])
    -- Nobody asks any more about a period that is over for so long.
    if redis.call('EXISTS', k) == 1 then
      if reserved > 0 then redis.call('HINCRBY', k, 'reserved', text(-reserved)) end
      if actual > 0 then redis.call('HINCRBY', k, 'spent', text(actual)) end
      if actual > 0 and a[3] then count_center(k, a[3], actual) end
      redis.call('EXPIRE', k, a[4])
      tell_spend(a[1], a[2], at)
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
