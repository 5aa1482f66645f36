--[[
  State transitions of jobs. Every change of a job's state goes through move_job, which atomically compares and writes the
  state and the given fields, appends to the history, updates the indexes, and moves the job from its previous position
  (queue entry, lane, in-flight set) to the next.
]]

-- Adds a queue entry of a job: { queue, delay_ms, priority, suffix, payload }. Entries with a suffix are tasks, of which
-- a job may have several in succession; the record keeps the last one. An entry without a suffix is the parked position
-- of the job, of which it has one at a time.
local function entry_id(id, q)
  return q.suffix and (bull_id(id) .. '-' .. q.suffix) or bull_id(id)
end

-- One line per transition, oldest first: event, from, to, at.
local function history_line(event, from, to, stamp)
  return event .. ' ' .. (from or '') .. ' ' .. to .. ' ' .. stamp .. '\n'
end

-- Time of the newest line of a history. Times of other clocks are kept in order by it.
local function last_stamp(history)
  return tonumber(string.match(string.sub(history, -24), '(%d+)\n$') or 0)
end

-- Policy decisions, one line of JSON each, newest last; the last 50 are kept. See docs/reference/jobs.md#states.
local function with_decision(decisions, decision)
  local _, count = string.gsub(decisions, '\n', '\n')
  if count >= 50 then decisions = string.sub(decisions, string.find(decisions, '\n', 1, true) + 1) end
  return decisions .. decision .. '\n'
end

-- `run`, `path`: the step that owns the job. `tenant`, `cost`: of its turns among the undecided jobs.
local function enqueue(id, topic, q, now_ms, run, path, tenant, cost)
  local entry, options = entry_id(id, q), run and tree_options(q.queue, run, path)
  bull_add(q.queue, entry, topic, q.payload or cjson.encode({ job_id = id }), now_ms, tonumber(q.delay_ms or 0),
    tonumber(q.priority or 0), options, tenant and q.queue == 'jobs' and { tenant = tenant, cost = tonumber(cost or 1) })
  if run then tree_set_job_entry(run, path, bull_id(id), bull[q.queue].prefix .. entry) end
end

local function write_dead_letter(id, tenant, letter, at, now_ms)
  set_expiring(key.deadLetter(id), tenant, letter.body, letter.ttl_sec)
  redis.call('ZADD', key.deadLetters(tenant), text(at), id)
  bull_add_failed('deadLetters', bull_id(id), letter.topic, cjson.encode({ job_id = id }), now_ms, letter.reason)
end

-- All fields of a record by name, and the list that Redis returned. No fields if there is no record.
local function read_record(id)
  local list, fields = redis.call('HGETALL', key.job(id)), {}
  for i = 1, #list, 2 do fields[list[i]] = list[i + 1] end
  return fields, list
end

local function expire_job(id, tenant, retain)
  expire_record(key.job(id), tenant, retain.meta_sec)
  expire_record(key.context(id), tenant, retain.data_sec)
  -- Workers write results themselves, with an expiry.
  if on_hold(tenant) then freeze_record(key.result(id), tenant) end
end

-- The total of in-flight jobs is kept only while the license limits it.
local function enter_flight(id, worker, counted)
  if counted then redis.call('SADD', key.allInFlight(), id) end
  redis.call('SADD', key.workerInFlight(worker), id)
end

-- Ids of jobs dispatched to a worker, newest last.
local function add_recent_jobs(worker, ids)
  if redis.call('LPUSH', key.workerJobs(worker), unpack(ids)) > 1100 then redis.call('LTRIM', key.workerJobs(worker), 0, 999) end
end

local function leave_flight(id, tenant, worker, counted)
  if counted == '1' then redis.call('SREM', key.allInFlight(), id) end
  redis.call('SREM', key.workerInFlight(worker), id)
  lane_in_turn(tenant)
end

-- Results up to this size are included in events about the end of a job, which saves a read.
local MAX_EVENT_BODY_BYTES = 8192

-- The body of a result at the default key of its job, if it is small. `body`: if this script has stored it.
local function small_result(id, pointer, body)
  if pointer ~= 'redis://' .. key.result(id) then return nil end
  body = body or redis.call('GETRANGE', key.result(id), 0, MAX_EVENT_BODY_BYTES)
  if #body > 0 and #body <= MAX_EVENT_BODY_BYTES then return body end
end

-- The completion event of a job for the inbox of its run.
local function job_end(id, record, state, body)
  local reported, code, message, pointer = unpack(redis.call('HMGET', record, 'reported', 'error_code', 'error_message',
    'result_ptr'))
  local event = { kind = 'jobEnded', jobId = id, state = state, reported = reported or nil, error_code = code or nil,
    error_message = message or nil, result_ptr = pointer or nil }
  if state == 'SUCCEEDED' then event.body = small_result(id, pointer, body) end
  return cjson.encode(event)
end

-- The line that announces the end of a job: its id, its state and, while clients wait for ends, what they read of it, unless
-- it is a job of a run, whose clients wait for the run. The body only of a result that is released: one that still has to be
-- scanned, or was withheld or redacted, is read by those who may.
local function ending_line(id, record, m, run)
  local line = id .. '\t' .. m.to
  if not run and ends_awaited == nil then ends_awaited = redis.call('EXISTS', key.endsAwaited()) == 1 end
  if run or not ends_awaited then return line end
  local ending, values = { fields = {} }, redis.call('HMGET', record, unpack(ENDING_FIELDS))
  for i, field in ipairs(ENDING_FIELDS) do
    if values[i] and values[i] ~= '' then ending.fields[field] = values[i] end
  end
  local is_scanned = true
  for _, q in ipairs(m.queue_entries or {}) do is_scanned = is_scanned and q.queue ~= 'outputScan' end
  if m.to == 'SUCCEEDED' and is_scanned then ending.body = small_result(id, ending.fields.result_ptr, m.result_body) end
  return line .. '\t' .. cjson.encode(ending)
end

-- Announces the entry of a job into a state, with the fields that stream clients see. `request` only on submission.
local function announce_job(id, event, state, at)
  if not follows_changes() then return end
  local values, fields = redis.call('HMGET', key.job(id), unpack(CHANGE_FIELDS)), {}
  for i, field in ipairs(CHANGE_FIELDS) do
    if values[i] and values[i] ~= '' then fields[field] = values[i] end
  end
  if event == 'submit' then fields.request = redis.call('HGET', key.job(id), 'request') or nil end
  announce_change({ kind = 'job', id = id, event = event, state = state, at = text(at), fields = fields })
end

local MAX_LOGGED_EVENTS, MAX_LOGGED_BYTES, LOG_KEPT_SEC = 1000, 1048576, 3600

-- Appends to a bounded log. Ids count from 0-1, so that a reader detects dropped entries. `total`: size of all entries so far.
local function append_event(log, tenant, event)
  local last = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
  local total = #event + (last and tonumber(last[2][4]) or 0)
  redis.call('XADD', log, 'MAXLEN', '~', MAX_LOGGED_EVENTS, '0-*', 'event', event, 'total', text(total))
  local first = redis.call('XRANGE', log, '-', '+', 'COUNT', 1)[1]
  if total - tonumber(first[2][4]) > MAX_LOGGED_BYTES then
    redis.call('XTRIM', log, 'MAXLEN', math.ceil(redis.call('XLEN', log) / 2))
  end
  expire_record(log, tenant, LOG_KEPT_SEC)
end

-- Logs reports of the worker that holds a job (JSON objects with at least one field), and announces them.
local function report_events(id, events)
  local tenant, run, path, attempts, trace, worker = unpack(redis.call('HMGET', key.job(id), 'tenant', 'run', 'run_path',
    'attempts', 'trace_id', 'worker_id'))
  for _, event in ipairs(events) do
    local logged = '{"job_id":' .. cjson.encode(id) .. ',"attempt":' .. (attempts or '0') .. ',' .. string.sub(event, 2)
    append_event(key.jobEvents(id), tenant, logged)
    if run then append_event(key.runEvents(run), tenant, logged) end
    if follows_changes() then
      announce_change({ kind = 'report', id = id, tenant = tenant, run = run or nil, run_path = path or nil,
        trace_id = trace or nil, worker_id = worker or nil, event = logged })
    end
  end
end

-- Releases the reservation of a job. Called once per job, by its first transition to a terminal state. `held`, `cost` and
-- `attempts` from its record after that transition.
local function settle_job(record, run, at, held, cost, attempts)
  local has = held and held ~= ''
  local reported = cost and cost ~= '' and tonumber(cost) or nil
  if not has and not (reported and run) then return end
  local actual = settle_spend(run, has and cjson.decode(held), reported, number_of(attempts), at)
  redis.call('HSET', record, 'reserved', '', 'cost', text(actual))
end

--[[
  move_job(id, m): m = {
    event, from = {states}, to, scope,
    dispatch_id?   required current dispatch                      holder?  required assigned worker
    started_at?    start of the current dispatch (µs, text), for the history of a job for which RUNNING was not written
    guard?         { field = value }: further fields that must be unchanged
    set?           { field, value, ... }                          unset?   { field, ... }: '' means absent
    decision?      policy decision to record (JSON)
    park?          queue in which the job is parked, with park_ms until it is checked
    queue_entries? { entries of enqueue() }                        dead_letter?  { body, ttl_sec, topic, reason }
    intent?        pending publish (JSON)                         retain?  { meta_sec, data_sec } for a terminal state
    more_wait?     whether its lane has another job of its tenant and level
    recent?        list to which its id is added instead of the recent jobs of the worker
    worker?        assigned worker                                counted? toward the license limit
    post?          event (JSON) for the run of the job
    audit?         { entry (JSON), keep } for the policy audit of the job's tenant
    result_body?   body of the result to store, with retain
  }
  `known`: fields of the record by name, if this script has read them and not changed them since.
  Adds all written fields to `m.set`.
  Returns 'moved', from, at  |  'refused', state  |  'stale'  |  'changed'  |  'other_tenant'  |  'missing'
]]
local MOVE_FIELDS = { 'tenant', 'state', 'parked', 'worker_id', 'approval', 'dispatch_id', 'lane', 'level', 'topic', 'history',
  'decisions', 'counted', 'run', 'run_path', 'reserved', 'cost', 'attempts', 'limits', 'blocked', 'turn_cost', 'effects', 'effects_of', 'agents' }

-- The last value of a field in a list of field and value, or nil.
local function value_in(list, field)
  for i = #list - 1, 1, -2 do
    if list[i] == field then return list[i + 1] end
  end
end

local function move_job(id, m, at, known)
  local record = key.job(id)
  local values = {}
  if known then
    for i, field in ipairs(MOVE_FIELDS) do values[i] = known[field] or false end
  else
    values = redis.call('HMGET', record, unpack(MOVE_FIELDS))
  end
  local tenant, from, parked, worker, approval, dispatch, lane, level, topic, history, decisions, counted, run, path,
    reserved, cost, attempts, limits, blocked, turn_cost, effects, inherited, agents = unpack(values)
  if not from then return { 'missing' } end
  if m.scope ~= '*' and m.scope ~= tenant then return { 'other_tenant' } end
  if not is(m.from, from) then return { 'refused', from } end
  if m.dispatch_id and m.dispatch_id ~= dispatch then return { 'stale' } end
  if m.holder and m.holder ~= worker then return { 'stale' } end
  for field, value in pairs(m.guard or {}) do
    if (redis.call('HGET', record, field) or '') ~= value then return { 'changed' } end
  end

  -- Only here, where the dispatch is known to be the current one.
  if m.result_body then set_expiring(key.result(id), tenant, m.result_body, m.retain.data_sec) end
  local now_ms = math.floor(at / 1000)
  local stamp = text(at)
  -- From DISPATCHED to RUNNING a job keeps its position: its time limit counts from the dispatch.
  local stays = is(IN_FLIGHT, from) and is(IN_FLIGHT, m.to)
  if parked and parked ~= '' and not stays then bull_unpark(parked, bull_id(id)) end
  if lane and lane ~= '' then lane_remove(lane, level, tenant, id, m.more_wait) end
  if worker and is(IN_FLIGHT, from) and not is(IN_FLIGHT, m.to) then leave_flight(id, tenant, worker, counted) end

  local holds_approval = approval or is(m.set or {}, 'approval')
  local set = m.set or {}
  m.set = set
  for _, field in ipairs(m.unset or {}) do
    set[#set + 1] = field
    set[#set + 1] = ''
  end
  if m.decision then
    set[#set + 1] = 'decisions'
    set[#set + 1] = with_decision(decisions or '', m.decision)
  end
  local past, last = history or '', from
  if m.started_at and from == 'DISPATCHED' then
    local started = text(math.max(last_stamp(past), math.min(tonumber(m.started_at), at)))
    past, last = past .. history_line('start', from, 'RUNNING', started), 'RUNNING'
    set[#set + 1] = 'started_at'
    set[#set + 1] = started
  end
  for _, v in ipairs({ 'history', past .. history_line(m.event, last, m.to, stamp), 'state', m.to, 'updated_at', stamp, 'parked', stays and parked or m.park or '', 'lane', '' }) do
    set[#set + 1] = v
  end
  if is(TERMINAL, m.to) and not is(TERMINAL, from) then
    set[#set + 1] = 'completed_at'
    set[#set + 1] = stamp
  end
  for _, q in ipairs(m.queue_entries or {}) do
    if q.queue == 'jobs' then
      set[#set + 1] = 'entry'
      set[#set + 1] = entry_id(id, q)
    end
  end
  if m.intent then
    set[#set + 1] = 'intent'
    set[#set + 1] = m.intent
    redis.call('ZADD', key.intents(), stamp, id)
  end
  redis.call('HSET', record, unpack(set))
  audit('job', tenant, stamp, id, m.event, from, m.to, topic, run or '', value_in(set, 'attempts') or attempts or '',
    m.worker or worker or '', value_in(set, 'error_code') or '', m.decision or '', value_in(set, 'approval') or '')
  announce_job(id, m.event, m.to, at)

  if from ~= m.to then redis.call('ZREM', key.jobsInState(tenant, from), id) end
  redis.call('ZADD', key.jobsInState(tenant, m.to), stamp, id)
  -- Holding a job also opens its approval.
  if holds_approval then redis.call('ZADD', key.approvals(tenant), stamp, id) end
  if is(TERMINAL, m.to) then
    if not is(TERMINAL, from) then settle_job(record, run, at, reserved, value_in(set, 'cost') or cost, attempts) end
    if agents then remove_agent_job(id, agents) end
    expire_job(id, tenant, m.retain)
    if effects then end_effects(id, tenant, effect_scope(id, run, path, inherited), m.retain.meta_sec) end
    endings[#endings + 1] = ending_line(id, record, m, run)
  end
  if run and m.post then run_post(run, m.post, now_ms) end
  if run and is(TERMINAL, m.to) then
    if path then tree_set_job_entry(run, path, bull_id(id)) end
    run_post(run, job_end(id, record, m.to, m.result_body), now_ms)
  end

  if limits then limit_follow_move(id, tenant, limits, blocked, from, m.to, attempts, value_in(set, 'attempts'), now_ms) end

  if m.worker then
    enter_flight(id, m.worker, m.counted)
    if m.recent then m.recent[#m.recent + 1] = id else add_recent_jobs(m.worker, { id }) end
  end
  if m.park then enqueue(id, topic, { queue = m.park, delay_ms = math.max(1, tonumber(m.park_ms)) }, now_ms, path and run, path) end
  for _, q in ipairs(m.queue_entries or {}) do enqueue(id, topic, q, now_ms, q.queue == 'jobs' and path and run, path, tenant, turn_cost) end
  if m.dead_letter then write_dead_letter(id, tenant, m.dead_letter, at, now_ms) end
  if m.audit then append_audit(tenant, m.audit.entry, m.audit.keep) end
  return { 'moved', from, stamp }
end
