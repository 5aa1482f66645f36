--[[
  Dispatches a job to a worker. Admission has stored the parameters in its record: run_ms (time limit),
  tenant_cap (limit on in-flight jobs of its tenant, 0 = none), deadline_ms.
]]

-- 'ok', or the reason why this job cannot be dispatched to this worker now. See docs/reference/routing.md#concurrency-limits.
-- `used` caches the numbers of used slots of the worker and of all, for a script that adds its own dispatches to them.
-- `is_repeat`: the worker may have received this dispatch already, so a pool that gets no jobs does not lose it.
local function room_for(tenant, tenant_cap, worker, license_cap, used, is_repeat)
  used = used or {}
  if is_tenant_stopped(tenant) then return 'tenant_suspended' end
  if not is_repeat and is_pool_closed(worker.pool) then return 'no_pool_mapping' end
  if worker.max > 0 then
    used.worker = used.worker or redis.call('SCARD', key.workerInFlight(worker.id))
    if used.worker >= worker.max then return 'pool_overloaded' end
  end
  if tenant_cap > 0 then
    local running = 0
    for _, state in ipairs(IN_FLIGHT) do running = running + redis.call('ZCARD', key.jobsInState(tenant, state)) end
    if running >= tenant_cap then return 'tenant_limit' end
  end
  if license_cap > 0 then
    used.all = used.all or redis.call('SCARD', key.allInFlight())
    if used.all >= license_cap then return 'tier_limit' end
  end
  return 'ok'
end

-- Moves a job to DISPATCHED. `job` = { attempts, run_ms, deadline_ms } from its record and more_wait; `extra` = additional fields;
-- `known` as for move_job. Returns the fields that it wrote, as a list of field and value.
local function dispatch_job(id, m, worker, dispatch_id, job, at, extra, decision, known)
  local attempt = job.attempts + 1
  local until_ms = job.run_ms
  if job.deadline_ms > 0 then until_ms = math.min(until_ms, job.deadline_ms - math.floor(at / 1000)) end
  local set = extra or {}
  for _, v in ipairs({ 'attempts', tostring(attempt), 'worker_id', worker.id, 'pool', worker.pool, 'dispatch_id', dispatch_id,
    'dispatched_at', text(at) }) do
    set[#set + 1] = v
  end
  if m.license_cap > 0 then
    set[#set + 1] = 'counted'
    set[#set + 1] = '1'
  end
  local move = { event = 'dispatch', from = m.from, to = 'DISPATCHED', scope = '*', set = set, worker = worker.id,
    counted = m.license_cap > 0,
    decision = decision, unset = { 'waiting_reason' }, park = 'jobRunning', park_ms = until_ms, retain = m.retain,
    more_wait = job.more_wait, recent = m.recent }
  move_job(id, move, at, known)
  return move.set
end
