--[[
  Reserves the estimated cost of a job before its dispatch, in all its accounts and in its run and parent runs, or in
  none. Idempotent: a job that has reserved keeps its reservation.

  KEYS  1 job record
  ARGV  1 { micros, accounts = { { account, period, center?, ttl_sec, limit, action, alerts } }, run_limit, run_action } (JSON)

  An account is over its limit when spent and reserved amounts reach it, or when this job exceeds the rest. If several
  are over, the first with `deny` decides. `throttle` becomes deny when waiting cannot help: the job exceeds the whole
  limit, or the run has no open reservation that could be released. `alert` allows the job.

  Returns  reserved  |  refused <state>  |  missing
           |  over <deny, throttle> <account, run> <number of the account, id of the run> <limit> <spent> <reserved>
]]
local a = cjson.decode(ARGV[1])
local state, held, run = unpack(redis.call('HMGET', KEYS[1], 'state', 'reserved', 'run'))
if not state then return { 'missing' } end
if is(TERMINAL, state) then return { 'refused', state } end
if held and held ~= '' then return { 'reserved' } end

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

local at, accounts = micros(), {}
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
redis.call('HSET', KEYS[1], 'reserved', cjson.encode({ micros = cost, accounts = accounts }), 'waiting_reason', '',
  'over_budget', '')
return { 'reserved' }
