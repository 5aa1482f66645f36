--[[
  Dispatches waiting jobs to a worker with free slots: from the lanes it can serve, most urgent first, tenants in turn.
  A job decided under another policy snapshot is requeued for a new decision.

  KEYS  1 lanes
  ARGV  1 { worker = { id, pool, max }, lanes = {ids}, dispatch_ids = {...}, from, license_cap, snapshot } (JSON)

  Returns  a list of dispatched { job id, dispatch id }
]]
local c = cjson.decode(ARGV[1])
local taken = {}
local at = micros()

-- Cached head of each lane and level, read again after a change.
local heads = {}
local function head_of(lane, level)
  local place = lane .. '|' .. level
  if heads[place] == nil then
    local tenant, id, arrived = lane_head(lane, level)
    if id then
      local rank = arrived
      if level == 1 then rank = arrived - 1e15 end
      if level == 3 then rank = arrived + BATCH_HEAD_START_MS end
      heads[place] = { rank = rank, lane = lane, level = level, tenant = tenant, id = id, place = place }
    else
      heads[place] = false
    end
  end
  return heads[place]
end

local function best_waiting()
  local best
  for _, lane in ipairs(c.lanes) do
    for level = 1, 3 do
      local head = head_of(lane, level)
      if head and (not best or head.rank < best.rank) then best = head end
    end
  end
  return best
end

local function decide_again(job)
  local topic, run, path = unpack(redis.call('HMGET', key.job(job.id), 'topic', 'run', 'run_path'))
  local q = { queue = 'jobs', suffix = 'policy-' .. text(at), priority = 1 }
  redis.call('HSET', key.job(job.id), 'lane', '', 'parked', '', 'entry', entry_id(job.id, q))
  lane_remove(job.lane, job.level, job.tenant, job.id)
  bull_unpark('jobWaiting', bull_id(job.id))
  enqueue(job.id, topic, q, math.floor(at / 1000), path and run, path)
end

-- Bounds the running time, independent of the content of the lanes.
local tries = #c.dispatch_ids * 2 + 256
while #taken < #c.dispatch_ids and tries > 0 do
  tries = tries - 1
  local job = best_waiting()
  if not job then break end
  heads[job.place] = nil
  local state, attempts, run_ms, deadline_ms, cap, snapshot, cost = unpack(redis.call('HMGET', key.job(job.id), 'state',
    'attempts', 'run_ms', 'deadline_ms', 'tenant_cap', 'safety_snapshot', 'turn_cost'))
  if not state or not is(c.from, state) then
    lane_remove(job.lane, job.level, job.tenant, job.id)
  -- A job allowed while policy was unavailable has no snapshot.
  elseif c.snapshot ~= '' and (snapshot or '') ~= '' and snapshot ~= c.snapshot then
    decide_again(job)
  else
    local room = room_for(job.tenant, tonumber(cap or 0), c.worker, c.license_cap)
    if room == 'tenant_limit' then
      lane_out_of_turn(job.lane, job.level, job.tenant)
      redis.call('HSET', key.job(job.id), 'waiting_reason', room)
    elseif room ~= 'ok' then
      break
    else
      lane_took_turn(job.lane, job.level, job.tenant, tonumber(cost or 1))
      local dispatch_id = c.dispatch_ids[#taken + 1]
      dispatch_job(job.id, c, c.worker, dispatch_id,
        { attempts = tonumber(attempts), run_ms = tonumber(run_ms), deadline_ms = tonumber(deadline_ms or 0) }, at + #taken)
      taken[#taken + 1] = { job.id, dispatch_id }
    end
  end
end
return taken
