--[[
  Creates a run: reserves its idempotency key, stores its record, steps and first events, updates the indexes, adds
  the start event to its inbox and adds the queue entry of its first pass, all or nothing. With `turn` the run is stored as
  its first turn leaves it, with the jobs of that turn, and sleeps unless the turn continues.

  KEYS  1 run record
  ARGV  1 { id, tenant, workflow, version, team, status, active = {statuses of runs that have not ended},
          idempotency? = { key, hash, answer, ttl_sec }, tenant_limit, all_limit (0 = none),
          fence? = { run, owner } (refused unless that owner holds that run's lock),
          name (of the workflow, for the board), steps, events,
          parent? (run that started it), memory? = { id, shared? } (refused when it belongs to another tenant), budget? = { limit (micros), action },
          turn? = { jobs (number of its jobs), set = {timers}, tree = {changes}, as for saveRun-2.lua,
            continues? (the start event is for its next turn) } } (JSON)
        2 header (JSON)   3 start event (JSON)
        4...  `steps` times path and step (JSON), `events` events (JSON), then the jobs of the turn, as for saveRun-2.lua

  Returns  created <µs>, then <position> <detail> of each job  |  paused (an operator has paused the queue of passes, and no
           turn may be taken)  |  replay <answer>  |  conflict  |  reserved  |  exists  |  no_workflow  |  fenced
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
local turn = r.turn
if turn and redis.call('HEXISTS', bull.runPasses.prefix .. 'meta', 'paused') == 1 then return { 'paused' } end
run_check_queues(turn and turn.set)

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
local placed = {}
if turn then
  -- After the record, in whose budget they reserve. A run without its jobs would wait forever.
  local is_accepted, reply = pcall(run_accept_jobs, ARGV, 4 + 2 * r.steps + r.events, turn.jobs)
  if not is_accepted then
    redis.call('DEL', KEYS[1])
    error(reply, 0)
  end
  placed = reply
end
if r.steps > 0 then run_write('HSET', key.runSteps(id), ARGV, 4, 2 * r.steps) end
run_append_timeline(id, ARGV, 4 + 2 * r.steps, r.events)
run_index(id, tenant, workflow, r.status, stamp)
audit('run', tenant, stamp, id, workflow, '', r.status)
announce_run(id, tenant, workflow, r.status, at)
redis.call('ZADD', key.runsCreated(tenant, workflow), stamp, id)
redis.call('SADD', key.liveRunsOf(tenant, workflow), id)
if reserved then
  redis.call('HSET', reserved.key, 'hash', reserved.hash, 'answer', reserved.answer)
  redis.call('EXPIRE', reserved.key, reserved.ttl_sec)
end
local now_ms = math.floor(at / 1000)
tree_add(id, '', nil, r.name, cjson.encode({ run_id = id, workflow_id = workflow }), now_ms)
if turn then
  for _, timer in ipairs(turn.set) do run_set_timer(id, workflow, timer, 1, now_ms) end
  for _, change in ipairs(turn.tree) do tree_change(id, change, now_ms) end
  if not turn.continues then return { 'created', stamp, unpack(placed) } end
end
redis.call('RPUSH', key.runInbox(id), ARGV[3])
run_wake(id, workflow, now_ms)
return { 'created', stamp, unpack(placed) }
