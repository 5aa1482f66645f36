--[[
  Placement of a new job by the call that accepts it: with a worker, or in its lane. `p` is the proposal of the caller
  (see accept-1.lua). See docs/adr/0018-dispatch-at-submission.md.
]]

-- With more waiting lanes than this, a new job joins its lane without a search for jobs that precede it.
local MAX_LANES_SEARCHED = 64

-- Facts that no script changes, read once per batch.
local placement_facts = {}

-- Whether policy may have changed since the decision, or an operator has paused the queue of undecided jobs: then the job
-- goes to that queue.
local function may_place(p)
  local facts = placement_facts
  if facts.policy == nil then
    facts.policy = redis.call('GET', key.policyInEffect())
    facts.is_paused = redis.call('HEXISTS', bull.jobs.prefix .. 'meta', 'paused') == 1
  end
  return facts.policy == p.snapshot and not facts.is_paused
end

-- The queue entries of undecided jobs that are ready or being processed.
local function undecided_jobs()
  local jobs = bull.jobs.prefix
  return jobs .. 'prioritized', jobs .. 'wait', jobs .. 'active'
end

-- Whether an older job may want the slot of the proposed worker: one that is undecided, or waits in a lane that the worker
-- may serve. `p.other_lanes` are lanes that it does not serve.
local function has_predecessor(p, tenant)
  if redis.call('EXISTS', key.lanes(), undecided_jobs()) == 0 then return false end
  if redis.call('EXISTS', undecided_jobs()) > 0 then return true end
  local lanes = redis.call('HKEYS', key.lanes())
  if #lanes > MAX_LANES_SEARCHED then return true end
  local others = {}
  for _, lane in ipairs(p.other_lanes) do others[lane] = true end
  for _, lane in ipairs(lanes) do
    if not others[lane] and lane_has_queue(lane, 3) then return true end
  end
  -- Jobs of a tenant at its limit are out of turn; its own new jobs still stay behind them.
  return redis.call('EXISTS', key.laneJobs(p.lane.id, p.lane.level, tenant)) == 1
end

-- The worker's slot is free for a new job: 'ok', or the reason why it waits.
local function room_for_new(p, tenant)
  if not p.worker then return p.reason end
  if is_tenant_stopped(tenant) then return 'tenant_suspended' end
  if has_predecessor(p, tenant) then return 'pool_overloaded' end
  return room_for(tenant, p.tenant_cap, p.worker, p.license_cap)
end

-- Reserves the cost of a new job. Nil if it does not fit, or if an undecided job may want the same budget: then the scheduler
-- reserves in the order of that queue.
local function reserve_new(budget, run, at)
  if redis.call('EXISTS', undecided_jobs()) > 0 then return nil end
  local over, reservation = reserve_spend(budget, run, at)
  if not over then return reservation end
end

-- Adds a new job to its lane, and notifies the schedulers if it is the first there at its level.
local function wait_in_lane(id, p, tenant, at)
  if lane_add(p.lane.id, p.lane.spec, p.lane.level, tenant, id, at / 1000) then
    redis.call('PUBLISH', key.laneArrivals(), cjson.encode({ id = p.lane.id, spec = p.lane.spec }))
  end
end
