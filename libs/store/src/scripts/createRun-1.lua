--[[
  Creates a run: reserves its idempotency key, stores its record, steps and first events, updates the indexes, adds
  the start event to its inbox and adds the queue entry of its first pass, all or nothing.

  KEYS  1 run record
  ARGV  1 { id, tenant, workflow, version, team, status, active = {statuses of runs that have not ended},
          idempotency? = { key, hash, answer, ttl_sec }, tenant_limit, all_limit (0 = none),
          fence? = { run, owner } (refused unless that owner holds that run's lock),
          name (of the workflow, for the board), steps, events,
          parent? (run that started it), memory? = { id, shared? } (refused when it belongs to another tenant), budget? = { limit (micros), action } } (JSON)
        2 header (JSON)   3 start event (JSON)
        4...  `steps` times path and step (JSON), then `events` events (JSON)

  Returns  created <µs>  |  replay <answer>  |  conflict  |  reserved  |  exists  |  no_workflow  |  fenced
           |  memory_taken  |  full tenant <active runs>  |  full all <active runs>
]]
local r, header = cjson.decode(ARGV[1]), ARGV[2]
local id, tenant, workflow, reserved = r.id, r.tenant, r.workflow, r.idempotency

if r.fence and redis.call('GET', key.runLock(r.fence.run)) ~= r.fence.owner then return { 'fenced' } end
if reserved then
  local hash, answer = unpack(redis.call('HMGET', reserved.key, 'hash', 'answer'))
  if hash and hash ~= reserved.hash then return { 'conflict' } end
  if hash then return answer and { 'replay', answer } or { 'reserved' } end
end
if redis.call('EXISTS', KEYS[1]) == 1 then return { 'exists' } end

local owner, newest, removed = unpack(redis.call('HMGET', key.workflow(workflow), 'tenant', 'version', 'removed_at'))
if owner ~= tenant or removed or r.version > tonumber(newest) then return { 'no_workflow' } end

if r.tenant_limit > 0 then
  local active = 0
  for _, status in ipairs(r.active) do active = active + redis.call('ZCARD', key.runsInStatus(tenant, status)) end
  if active >= r.tenant_limit then return { 'full', 'tenant', text(active) } end
end
if r.all_limit > 0 then
  local active = redis.call('ZCARD', key.liveRuns())
  if active >= r.all_limit then return { 'full', 'all', text(active) } end
end

if r.memory and not take_memory(r.memory, tenant) then return { 'memory_taken' } end

local at = micros()
local stamp = text(at)
local fields = { 'id', id, 'tenant', tenant, 'workflow', workflow, 'version', text(r.version), 'team', r.team, 'status', r.status,
  'revision', '1', 'created_at', stamp, 'updated_at', stamp, 'header', header }
redis.call('HSET', KEYS[1], unpack(fields))
if r.parent then redis.call('HSET', KEYS[1], 'parent', r.parent) end
if r.budget then redis.call('HSET', KEYS[1], 'cost_limit', text(r.budget.limit), 'cost_action', r.budget.action) end
if r.steps > 0 then run_write('HSET', key.runSteps(id), ARGV, 4, 2 * r.steps) end
run_append_timeline(id, ARGV, 4 + 2 * r.steps, r.events)
run_index(id, tenant, workflow, r.status, stamp)
announce_run(id, tenant, workflow, r.status, at)
redis.call('ZADD', key.runsCreated(tenant, workflow), stamp, id)
redis.call('SADD', key.liveRunsOf(tenant, workflow), id)
if reserved then
  redis.call('HSET', reserved.key, 'hash', reserved.hash, 'answer', reserved.answer)
  redis.call('EXPIRE', reserved.key, reserved.ttl_sec)
end
local now_ms = math.floor(at / 1000)
tree_add(id, '', nil, r.name, cjson.encode({ run_id = id, workflow_id = workflow }), now_ms)
redis.call('RPUSH', key.runInbox(id), ARGV[3])
local steps, bytes = {}, #header
for i = 1, 2 * r.steps do
  steps[i] = ARGV[3 + i]
  bytes = bytes + #steps[i]
end
run_wake(id, workflow, now_ms, bytes <= MAX_WAKE_BYTES and { fields = fields, steps = steps } or nil)
return { 'created', stamp }
