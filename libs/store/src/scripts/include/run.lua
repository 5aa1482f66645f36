--[[
  Runs of workflows. The record is a hash with an opaque header (JSON), and a second hash has a field for each step. Values
  needed by lists and limits are separate fields. Scripts check all preconditions, queues included, before any write.
]]

local RUN_TIMELINE = 1000

local function run_check_queues(entries)
  for _, q in ipairs(entries or {}) do
    if not bull[q.queue] then error('there is no queue ' .. tostring(q.queue), 0) end
  end
end

-- Passes ARGV[first .. first + count - 1] to a variadic command in chunks, because Lua limits the number of arguments. Returns
-- the last reply.
local function run_write(command, target, args, first, count)
  local last, reply = first + count - 1, nil
  for i = first, last, 1000 do reply = redis.call(command, target, unpack(args, i, math.min(i + 999, last))) end
  return reply
end

-- Dropped events are counted, so that readers can continue after a position.
local function run_append_timeline(id, args, first, count)
  if count == 0 then return end
  local length = run_write('RPUSH', key.runTimeline(id), args, first, count)
  if length > RUN_TIMELINE then
    redis.call('LTRIM', key.runTimeline(id), -RUN_TIMELINE, -1)
    redis.call('HINCRBY', key.run(id), 'timeline_dropped', length - RUN_TIMELINE)
  end
end

local function announce_run(id, tenant, workflow, status, at)
  if follows_changes() then
    announce_change({ kind = 'run', id = id, tenant = tenant, workflow = workflow, status = status, at = text(at) })
  end
end

-- `has_ended`: the run leaves the index of live runs in the same script.
local function run_index(id, tenant, workflow, status, stamp, has_ended)
  redis.call('ZADD', key.runsInStatus(tenant, status), stamp, id)
  redis.call('ZADD', key.runsOfWorkflow(tenant, workflow), stamp, id)
  if not has_ended then redis.call('ZADD', key.liveRuns(), stamp, id) end
end

-- Escapes the separator of the member in the workflow id.
local function run_timer_member(id, workflow, name)
  return string.gsub(workflow, '[%%:]', { ['%'] = '%25', [':'] = '%3A' }) .. ':' .. id .. ':' .. name
end

local function run_clear_timer(id, workflow, name)
  local timer = redis.call('HGET', key.runTimers(id), name)
  if not timer then return end
  local _, queue, entry = unpack(cjson.decode(timer))
  bull_unpark(queue, entry)
  redis.call('HDEL', key.runTimers(id), name)
  redis.call('ZREM', key.delayTimers(), run_timer_member(id, workflow, name))
end

-- t = { member, due_ms, queue }; replaces a timer of the same member.
local function run_set_timer(id, workflow, t, revision, now_ms)
  run_clear_timer(id, workflow, t.member)
  -- Each save adds a separate entry, so that an entry in delivery cannot absorb the next one.
  local entry = 'run-' .. string.gsub(id .. '-' .. revision .. '-at-' .. t.member, ':', '~')
  bull_add(t.queue, entry, workflow, cjson.encode({ run_id = id, timer = t.member }), now_ms, math.max(1, t.due_ms - now_ms), 0)
  redis.call('HSET', key.runTimers(id), t.member, cjson.encode({ text(t.due_ms), t.queue, entry }))
  redis.call('ZADD', key.delayTimers(), text(t.due_ms), run_timer_member(id, workflow, t.member))
end

local function run_clear_timers(id, workflow)
  for _, name in ipairs(redis.call('HKEYS', key.runTimers(id))) do run_clear_timer(id, workflow, name) end
end

-- Locates the index entries of a run after its record has expired.
local function run_ended_member(id, tenant, workflow, status)
  return cjson.encode({ id, tenant, workflow, status })
end

-- `keep_sec` 0 = forever. A definition that was removed while in use expires with its last run.
local function run_end(id, tenant, workflow, status, keep_sec, at)
  run_clear_timers(id, workflow)
  redis.call('DEL', key.runInbox(id))
  endings[#endings + 1] = id
  redis.call('ZREM', key.liveRuns(), id)
  redis.call('SREM', key.liveRunsOf(tenant, workflow), id)
  if keep_sec == 0 then return end
  for _, part in ipairs({ 'run', 'runSteps', 'runTimeline' }) do expire_record(key[part](id), tenant, keep_sec) end
  redis.call('ZADD', key.endedRuns(), text(math.floor(at / 1000) + keep_sec * 1000), run_ended_member(id, tenant, workflow, status))
  local removed = redis.call('HGET', key.workflow(workflow), 'removed_at')
  if removed and redis.call('EXISTS', key.liveRunsOf(tenant, workflow)) == 0 then
    expire_record(key.workflow(workflow), tenant, keep_sec)
  end
end

local function run_forget(id, tenant, workflow, status)
  redis.call('ZREM', key.runsInStatus(tenant, status), id)
  redis.call('ZREM', key.runsOfWorkflow(tenant, workflow), id)
  redis.call('ZREM', key.runsCreated(tenant, workflow), id)
  redis.call('ZREM', key.endedRuns(), run_ended_member(id, tenant, workflow, status))
  tree_remove(id)
  redis.call('DEL', key.run(id), key.runSteps(id), key.runTimeline(id), key.runInbox(id))
end

-- Accepts the jobs of a turn: args[first], ... are for each its acceptance (JSON, as for accept-1.lua, without `memory` and
-- `fence`) and its context. A job that exists is kept as it is. Returns <position> <detail> of each, as accept-1.lua, or <exists> ''.
local function run_accept_jobs(args, first, count)
  local accepted, placed = {}, {}
  for i = 1, count do accepted[i] = cjson.decode(args[first + 2 * i - 2]) end
  for i, job in ipairs(accepted) do
    local reply = accept_job(job, args[first + 2 * i - 1])
    local is_new = reply[1] == 'accepted'
    placed[2 * i - 1], placed[2 * i] = is_new and reply[3] or reply[1], is_new and reply[4] or ''
  end
  return placed
end
