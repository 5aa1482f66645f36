--[[
  Admits an allowed job: records the decision, then dispatches it to the proposed worker if no job waits ahead of it and
  the limits allow it; otherwise adds it to its lane.

  KEYS  1 job record
  ARGV  1 job id     2 { from, lane = { id, spec, level }, worker? = { id, pool, max }, dispatch_id, repeated (1: this
          dispatch was already counted), reason, run_ms, deadline_ms, tenant_cap, turn_cost, license_cap, wait_ms,
          set = {field, value, ...}, agents?, agent_pools? (as in the record), retain } (JSON)     3 decision (JSON) or ''

  Returns  dispatched <attempt>  |  waiting <reason>, both with the ids of jobs that it cancelled  |  refused <state>  |  missing  |  agent_changed
]]
local id, a = ARGV[1], cjson.decode(ARGV[2])
local tenant, state, attempts, topic, old_lane, old_level, decisions, created, run, path, limits, blocked = unpack(redis.call('HMGET', KEYS[1],
  'tenant', 'state', 'attempts', 'topic', 'lane', 'level', 'decisions', 'created_at', 'run', 'run_path', 'limits', 'blocked'))
if not state then return { 'missing' } end
if not is(a.from, state) then return { 'refused', state } end
if a.agents and agent_forbids(a, a.worker and a.worker.pool) then return { 'agent_changed' } end

local at = micros()
local decision = ARGV[3] ~= '' and ARGV[3] or nil
local reason = a.reason
local cancelled, blocker, j = {}, nil, nil
if limits then
  limits = cjson.decode(limits)
  local left = blocked and blocked ~= '' and limit_leave_list(id, tenant, limits, blocked)
  j = { id = id, tenant = tenant, created = tonumber(created), attempts = tonumber(attempts) - a.repeated }
  blocker = limit_enter(j, limits, a.retain, math.floor(at / 1000), cancelled)
  -- After its own turn, which was before those of the jobs behind it.
  if left and left ~= blocker then limit_release_next(left, tenant, limits[left].key, math.floor(at / 1000)) end
  if blocker == 'cancel' then
    limit_cancel(id, 'concurrency_limit', NEWEST_CANCELLED, a.retain, cancelled)
    return { 'refused', 'CANCELLED', unpack(cancelled) }
  end
  if blocker then reason = WAITING_REASONS[blocker] end
end
if a.worker and not blocker then
  -- First, since a claim names this reason only in the first waiting job of the tenant.
  reason = is_tenant_stopped(tenant) and 'tenant_suspended'
    or lane_has_queue(a.lane.id, a.lane.level) and 'pool_overloaded'
    or room_for(tenant, a.tenant_cap, a.worker, a.license_cap, nil, a.repeated == 1)
  if reason == 'ok' then
    local job = { attempts = tonumber(attempts) - a.repeated, run_ms = a.run_ms, deadline_ms = a.deadline_ms }
    dispatch_job(id, a, a.worker, a.dispatch_id, job, at, a.set, decision)
    return { 'dispatched', tostring(job.attempts + 1), unpack(cancelled) }
  end
end

-- Waiting is not a state (the job stays PENDING or RETRYING), so this is no state transition; only the queue position
-- and the waiting reason change.
local stamp, now_ms = text(at), math.floor(at / 1000)
local set = a.set
for _, v in ipairs({ 'waiting_reason', reason, 'waiting_since', stamp, 'lane', blocker and '' or a.lane.id, 'level', a.lane.level, 'parked',
  'jobWaiting', 'run_ms', tostring(a.run_ms), 'tenant_cap', tostring(a.tenant_cap), 'turn_cost', tostring(a.turn_cost) }) do
  set[#set + 1] = v
end
if old_lane and old_lane ~= '' then
  lane_remove(old_lane, old_level, tenant, id)
  bull_unpark('jobWaiting', bull_id(id))
end
if decision then
  set[#set + 1] = 'decisions'
  set[#set + 1] = with_decision(decisions or '', decision)
end
if limits then
  set[#set + 1] = 'blocked'
  set[#set + 1] = blocker and limit_wait(j, limits, blocker, a.lane) or ''
end
redis.call('HSET', KEYS[1], unpack(set))
-- Ordered by submission, because concurrent decisions complete in any order.
if not blocker then lane_add(a.lane.id, a.lane.spec, a.lane.level, tenant, id, created / 1000) end
enqueue(id, topic, { queue = 'jobWaiting', delay_ms = a.wait_ms }, now_ms, path and run, path)
return { 'waiting', reason, unpack(cancelled) }
