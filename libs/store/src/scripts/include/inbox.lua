--[[
  Events of a run stay in its inbox until a pass has saved their effects. While a run has work to do, it has exactly one
  queue entry (`awake`, numbered by `wakes`). ADR 0009.
]]

local function run_pass_entry(id, wakes)
  return 'run-' .. string.gsub(id, ':', '~') .. '-' .. wakes
end

-- Adds a new queue entry, behind those of other runs.
local function run_enqueue_pass(id, workflow, now_ms)
  local wakes = redis.call('HINCRBY', key.run(id), 'wakes', 1)
  bull_add('runPasses', run_pass_entry(id, wakes), workflow, cjson.encode({ run_id = id }), now_ms, 0, 0)
end

local function run_wake(id, workflow, now_ms)
  if redis.call('HSETNX', key.run(id), 'awake', '1') == 1 then run_enqueue_pass(id, workflow, now_ms) end
end

-- Adds an event to the inbox of a run; false if the run does not exist or has ended.
local function run_post(id, event, now_ms)
  local workflow, ended = unpack(redis.call('HMGET', key.run(id), 'workflow', 'ended_at'))
  if not workflow or ended then return false end
  redis.call('RPUSH', key.runInbox(id), event)
  run_wake(id, workflow, now_ms)
  return true
end
