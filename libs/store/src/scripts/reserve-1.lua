--[[
  Reserves the estimated cost of a job before its dispatch, in all its accounts and in its run and parent runs, or in
  none. Idempotent: a job that has reserved keeps its reservation.

  KEYS  1 job record
  ARGV  1 the reservation (JSON), as for reserve_spend

  Returns  reserved  |  refused <state>  |  missing
           |  over <deny, throttle> <account, run> <number of the account, id of the run> <limit> <spent> <reserved>
]]
local a = cjson.decode(ARGV[1])
local state, held, run = unpack(redis.call('HMGET', KEYS[1], 'state', 'reserved', 'run'))
if not state then return { 'missing' } end
if is(TERMINAL, state) then return { 'refused', state } end
if held and held ~= '' then return { 'reserved' } end

local over, reservation = reserve_spend(a, run, micros())
if over then return over end
redis.call('HSET', KEYS[1], 'reserved', reservation, 'waiting_reason', '', 'over_budget', '')
return { 'reserved' }
