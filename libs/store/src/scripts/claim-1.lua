--[[
  Dispatches waiting jobs to a worker with free slots: from the lanes it can serve, most urgent first, tenants in turn.
  A job decided under another policy snapshot is requeued for a new decision, and so is one whose agent has changed.

  KEYS  1 lanes
  ARGV  1 { worker = { id, pool, max }, lanes = {ids}, dispatch_ids = {...}, from, license_cap, snapshot,
          tenant? = the only tenant whose jobs the worker may run, input_bytes? = size up to which inputs are returned } (JSON)

  Returns  'full' if the worker has no free slot for the next job, else ''; then for each dispatched job { fields of the
           record before, fields written, each as field, value, ..., input document if it was wanted and is small }
]]
local c = cjson.decode(ARGV[1])
local taken = {}
local at = micros()

-- Cached head of each lane and level, read again after a change.
local heads, read = {}, {}
local function head_of(lane, level)
  local place = lane .. '|' .. level
  if heads[place] == nil then
    local tenant, id, arrived, list = lane_head(lane, level, read, c.tenant)
    if id then
      local rank = arrived
      if level == 1 then rank = arrived - 1e15 end
      if level == 3 then rank = arrived + BATCH_HEAD_START_MS end
      heads[place] = { rank = rank, lane = lane, level = level, tenant = tenant, id = id, place = place, list = list }
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

-- The input document of a job at its default key, if it is small.
local function small_input(id, max_bytes)
  local input = redis.call('GETRANGE', key.context(id), 0, max_bytes)
  if #input > 0 and #input <= max_bytes then return input end
end

-- Whether the lane has another job of the same tenant and level, as far as known. Call this when the job leaves its lane.
local function take_from_list(job)
  table.remove(job.list, 1)
  table.remove(job.list, 1)
  return job.list[1] ~= nil
end

local function decide_again(job, record)
  local q = { queue = 'jobs', suffix = 'policy-' .. text(at), priority = 1 }
  redis.call('HSET', key.job(job.id), 'lane', '', 'parked', '', 'entry', entry_id(job.id, q))
  lane_remove(job.lane, job.level, job.tenant, job.id, take_from_list(job))
  bull_unpark('jobWaiting', bull_id(job.id))
  enqueue(job.id, record.topic, q, math.floor(at / 1000), record.run_path and record.run, record.run_path, job.tenant,
    record.turn_cost)
end

-- Bounds the running time, independent of the content of the lanes.
local used, stopped = {}, ''
c.recent = {}
local tries = #c.dispatch_ids * 2 + 256
while #taken < #c.dispatch_ids and tries > 0 do
  tries = tries - 1
  local job = best_waiting()
  if not job then break end
  heads[job.place] = nil
  local record, list = read_record(job.id)
  local snapshot = record.safety_snapshot or ''
  if not record.state or not is(c.from, record.state) then
    lane_remove(job.lane, job.level, job.tenant, job.id, take_from_list(job))
  -- A job allowed while policy was unavailable has no snapshot.
  elseif c.snapshot ~= '' and snapshot ~= '' and snapshot ~= c.snapshot then
    decide_again(job, record)
  elseif record.agents and agent_forbids(record, c.worker.pool) then
    decide_again(job, record)
  else
    local room = room_for(job.tenant, tonumber(record.tenant_cap or 0), c.worker, c.license_cap, used)
    if room == 'tenant_limit' or room == 'tenant_suspended' then
      lane_out_of_turn(job.lane, job.level, job.tenant)
      redis.call('HSET', key.job(job.id), 'waiting_reason', room)
    elseif room ~= 'ok' then
      if room == 'pool_overloaded' then stopped = 'full' end
      break
    else
      lane_took_turn(job.lane, job.level, job.tenant, tonumber(record.turn_cost or 1))
      local written = dispatch_job(job.id, c, c.worker, c.dispatch_ids[#taken + 1], { attempts = tonumber(record.attempts),
        run_ms = tonumber(record.run_ms), deadline_ms = tonumber(record.deadline_ms or 0), more_wait = take_from_list(job) }, at + #taken, nil, nil, record)
      taken[#taken + 1] = { list, written, c.input_bytes and small_input(job.id, c.input_bytes) }
      for slots, count in pairs(used) do used[slots] = count + 1 end
    end
  end
end
if c.recent[1] then add_recent_jobs(c.worker.id, c.recent) end
return { stopped, taken }
