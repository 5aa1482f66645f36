--[[
  Admits an allowed job: remembers the decision, then gives it to the proposed worker if nobody waits before it and there
  is room, else puts it into its lane.

  KEYS  1 job record
  ARGV  1 job id     2 { from, lane = { id, spec, level }, worker? = { id, pool, max }, dispatch_id, repeated (1: this
          dispatch was counted before), reason, run_ms, deadline_ms, tenant_cap, turn_cost, license_cap, wait_ms,
          set = {field, value, ...} } (JSON)     3 decision (JSON) or ''

  Returns  dispatched <attempt>  |  waiting <reason>  |  refused <state>  |  missing
]]
local id, a = ARGV[1], cjson.decode(ARGV[2])
local tenant, state, attempts = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'state', 'attempts'))
if not state then return { 'missing' } end
if not is(a.from, state) then return { 'refused', state } end

local at = micros()
if ARGV[3] ~= '' then record_decision(id, ARGV[3]) end
local reason = a.reason
if a.worker then
  reason = lane_has_queue(a.lane.id, a.lane.level) and 'pool_overloaded'
    or room_for(tenant, a.tenant_cap, a.worker, a.license_cap)
  if reason == 'ok' then
    local job = { attempts = tonumber(attempts) - a.repeated, run_ms = a.run_ms, deadline_ms = a.deadline_ms }
    dispatch_job(id, a, a.worker, a.dispatch_id, job, at, a.set)
    return { 'dispatched', tostring(job.attempts + 1) }
  end
end

-- Waiting is not a state of its own (engine contract A6: the job stays PENDING, or RETRYING), so this is no move of the
-- table; the record changes place and says why.
local stamp, now_ms = text(at), math.floor(at / 1000)
local set = a.set
for _, v in ipairs({ 'waiting_reason', reason, 'waiting_since', stamp, 'lane', a.lane.id, 'level', a.lane.level, 'parked',
  'jobWaiting', 'run_ms', tostring(a.run_ms), 'tenant_cap', tostring(a.tenant_cap), 'turn_cost', tostring(a.turn_cost) }) do
  set[#set + 1] = v
end
local topic, old_lane, old_level = unpack(redis.call('HMGET', KEYS[1], 'topic', 'lane', 'level'))
if old_lane and old_lane ~= '' then
  lane_remove(old_lane, old_level, tenant, id)
  bull_unpark('jobWaiting', bull_id(id))
end
redis.call('HSET', KEYS[1], unpack(set))
lane_add(a.lane.id, a.lane.spec, a.lane.level, tenant, id, now_ms)
carry(id, topic, { queue = 'jobWaiting', delay_ms = a.wait_ms }, now_ms)
return { 'waiting', reason }
