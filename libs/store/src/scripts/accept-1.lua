--[[
  Accepts a job: reserves its idempotency key, stores the record, its context and its first decision, and adds its queue
  entry, all or nothing. A job that policy holds or denies changes state in the same step.

  KEYS  1 job record
  ARGV  1 the acceptance (JSON): { id, tenant, trace_id, topic, fields = {field, value, ...}, decision,
          priority, idempotency? = { key, hash, answer, ttl_sec, internal? (in a namespace that clients cannot name) }, active_limit, meta_sec,
          is_new? (its id was generated, so it cannot exist), run?, run_path? (the step whose job it is),
          fence? = { run, owner } (refused unless that owner holds the run's lock),
          memory? = { id, shared? } (refused when it belongs to another tenant),
          queue (entry suffix), next? = a transition on creation, as for move_job }
        2 context document

  Returns  accepted <µs>  |  replay <answer>  |  conflict  |  backpressure <active>  |  exists  |  fenced  |  memory_taken
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
local fields = a.fields
for _, v in ipairs({ 'id', a.id, 'tenant', a.tenant, 'trace_id', a.trace_id, 'topic', a.topic, 'state', 'PENDING',
  'created_at', stamp, 'updated_at', stamp, 'parked', '', 'lane', '', 'attempts', '0', 'entry', entry_id(a.id, { suffix = a.queue }), 'history', history_line('submit', nil, 'PENDING', stamp) }) do
  fields[#fields + 1] = v
end
if a.decision then
  fields[#fields + 1] = 'decisions'
  fields[#fields + 1] = with_decision('', a.decision)
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

if a.next then
  move_job(a.id, a.next, at + 1)
else
  enqueue(a.id, a.topic, { queue = 'jobs', suffix = a.queue, priority = a.priority }, math.floor(at / 1000), a.run, a.run_path)
end
return { 'accepted', stamp }
