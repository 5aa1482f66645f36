--[[
  Accepts a job: reserves its idempotency key, stores the record, its context and its first decision, and adds its queue
  entry, all or nothing. A job that policy holds or denies changes state in the same step.

  KEYS  1 job record
  ARGV  1 the acceptance (JSON): { id, tenant, trace_id, topic, priority,
          idempotency? = { key, hash, answer, ttl_sec, internal? (in a namespace that clients cannot name) }, active_limit, meta_sec,
          is_new? (its id was generated, so it cannot exist), run?, run_path? (the step whose job it is),
          fence? = { run, owner } (refused unless that owner holds the run's lock),
          memory? = { id, shared? } (refused when it belongs to another tenant),
          queue (entry suffix), next? = a transition on creation, as for move_job,
          place? = the placement of a permitted job: { snapshot (policy part), lane = { id, spec, level },
            worker? = { id, pool, max }, other_lanes = {ids that the worker does not serve}, may_wait, dispatch_id, reason,
            run_ms, deadline_ms, tenant_cap, turn_cost, license_cap, wait_ms, from, retain,
            budget? = its reservation, as for reserve_spend } }
        2 context document     3 first decision (JSON) or ''     4 ... fields of the record, as field, value, ...

  A permitted job is dispatched to the proposed worker if no older job may want its slot and the limits allow it; otherwise
  it is added to its lane. Without a placement, when the policy of its decision is not in effect, or when it does not fit in
  its budgets, it goes to the queue of undecided jobs.

  Returns  accepted <µs> <queued>  |  accepted <µs> <waiting> <reason>  |  accepted <µs> <dispatched> <attempt>
           |  replay <answer>  |  conflict  |  backpressure <active>  |  exists  |  fenced  |  memory_taken
]]
local a = cjson.decode(ARGV[1])
local record = KEYS[1]

if a.fence and redis.call('GET', key.runLock(a.fence.run)) ~= a.fence.owner then return { 'fenced' } end

local reserved = a.idempotency and (a.idempotency.internal and key.once or key.idempotency)(a.tenant, a.idempotency.key)
if reserved then
  local hash, answer = unpack(redis.call('HMGET', reserved, 'hash', 'answer'))
  if hash then
    if hash == a.idempotency.hash and answer then return { 'replay', answer } end
    return { 'conflict' }
  end
end
if not a.is_new and redis.call('EXISTS', record) == 1 then return { 'exists' } end
if a.active_limit and a.active_limit > 0 then
  local active = 0
  for _, state in ipairs(OPEN) do active = active + redis.call('ZCARD', key.jobsInState(a.tenant, state)) end
  if active >= a.active_limit then return { 'backpressure', tostring(active) } end
end

if a.memory and not take_memory(a.memory, a.tenant) then return { 'memory_taken' } end

local at = micros()
local stamp = text(at)
local fields = { unpack(ARGV, 4) }
local function set(values)
  for _, v in ipairs(values) do fields[#fields + 1] = v end
end
set({ 'id', a.id, 'tenant', a.tenant, 'trace_id', a.trace_id, 'topic', a.topic, 'state', 'PENDING', 'created_at', stamp,
  'updated_at', stamp, 'attempts', '0', 'history', history_line('submit', nil, 'PENDING', stamp) })

local place, reason, position, detail = a.place, nil, 'queued', nil
if place and may_place(place) then
  reason = room_for_new(place, a.tenant)
  if reason == 'ok' then position = 'dispatched' elseif place.may_wait then position, detail = 'waiting', reason end
end
if position ~= 'queued' and place.budget then
  local reservation = reserve_new(place.budget, value_in(fields, 'run'), at)
  if reservation then set({ 'reserved', reservation }) else position, detail = 'queued', nil end
end
if position ~= 'queued' then set({ 'decided', 'submission', 'run_ms', tostring(place.run_ms) }) end
if position == 'waiting' then
  set({ 'waiting_reason', reason, 'waiting_since', stamp, 'lane', place.lane.id, 'level', place.lane.level, 'parked',
    'jobWaiting', 'tenant_cap', tostring(place.tenant_cap), 'turn_cost', tostring(place.turn_cost) })
else
  set({ 'parked', '', 'lane', '' })
end
if position == 'queued' then set({ 'entry', entry_id(a.id, { suffix = a.queue }) }) end
if ARGV[3] ~= '' then
  fields[#fields + 1] = 'decisions'
  fields[#fields + 1] = with_decision('', ARGV[3])
end
redis.call('HSET', record, unpack(fields))
if ARGV[2] ~= '' then redis.call('SET', key.context(a.id), ARGV[2]) end
redis.call('ZADD', key.jobsInState(a.tenant, 'PENDING'), stamp, a.id)
redis.call('SADD', key.tenants(), a.tenant)
-- A job that starts its own trace is found by its id and needs no index entry.
if a.trace_id ~= a.id then
  redis.call('ZADD', key.trace(a.trace_id), stamp, a.id)
  redis.call('EXPIRE', key.trace(a.trace_id), a.meta_sec)
end
if reserved then
  redis.call('HSET', reserved, 'hash', a.idempotency.hash, 'answer', a.idempotency.answer)
  redis.call('EXPIRE', reserved, a.idempotency.ttl_sec)
end

local now_ms = math.floor(at / 1000)
if a.next then
  move_job(a.id, a.next, at + 1)
elseif position == 'dispatched' then
  dispatch_job(a.id, place, place.worker, place.dispatch_id, { attempts = 0, run_ms = place.run_ms, deadline_ms = place.deadline_ms }, at + 1)
  detail = '1'
elseif position == 'waiting' then
  wait_in_lane(a.id, place, a.tenant, at)
  enqueue(a.id, a.topic, { queue = 'jobWaiting', delay_ms = place.wait_ms }, now_ms, a.run, a.run_path)
else
  enqueue(a.id, a.topic, { queue = 'jobs', suffix = a.queue, priority = a.priority }, now_ms, a.run, a.run_path)
end
return { 'accepted', stamp, position, detail }
