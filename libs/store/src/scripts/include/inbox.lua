--[[
  Events of a run stay in its inbox until a pass has saved their effects. While a run has work to do, it has exactly one
  queue entry (`awake`, numbered by `wakes`). ADR 0009. The engine that has the run in memory is notified of it, and the entry
  is delayed: it is processed only if that engine does not take the run. ADR 0020.
]]

-- Passes are delayed by a second at most.
local LONGEST_REST_MS = 5000

local function run_pass_entry(id, wakes)
  return 'run-' .. string.gsub(id, ':', '~') .. '-' .. wakes
end

local function run_add_pass(id, wakes, workflow, now_ms, delay_ms)
  bull_add('runPasses', run_pass_entry(id, wakes), workflow, cjson.encode({ run_id = id }), now_ms, delay_ms, 0)
end

-- Adds a new queue entry, behind those of other runs. It replaces an entry that an engine was notified of.
local function run_enqueue_pass(id, workflow, now_ms)
  local wakes = redis.call('HINCRBY', key.run(id), 'wakes', 1)
  bull_unpark('runPasses', run_pass_entry(id, wakes - 1))
  run_add_pass(id, wakes, workflow, now_ms, 0)
end

-- The events of a run are sent to its engine up to these limits, with the run itself if it was never saved by an engine.
local MAX_WAKE_EVENTS = 64
local MAX_WAKE_BYTES = 65536

-- Runs that were woken in this batch.
local woken = {}

-- Notifies the engine at the end of the batch.
local function run_add_woken(id, workflow, now_ms)
  woken[#woken + 1] = { id = id, workflow = workflow, now_ms = now_ms, wakes = redis.call('HINCRBY', key.run(id), 'wakes', 1) }
end

local function run_wake(id, workflow, now_ms)
  if redis.call('HSETNX', key.run(id), 'awake', '1') == 1 then run_add_woken(id, workflow, now_ms) end
end

-- The run is awake and has further events: its engine is notified again, and its entry is replaced.
local function run_wake_again(id, workflow, now_ms)
  bull_unpark('runPasses', run_pass_entry(id, redis.call('HGET', key.run(id), 'wakes')))
  run_add_woken(id, workflow, now_ms)
end

-- The entry of such a run is added at the end of the batch.
local function run_was_woken(id)
  for _, w in ipairs(woken) do
    if w.id == id then return true end
  end
  return false
end

-- Delay of the entry of a run whose engine was notified: the time until another process takes it if that engine does not.
local NOTIFIED_MS = 1000

-- The run as lists of field and value, for an engine that does not have it in memory; nil if it is large.
local function run_snapshot(id)
  if redis.call('HLEN', key.runSteps(id)) > MAX_WAKE_EVENTS then return nil end
  local snapshot = { fields = redis.call('HGETALL', key.run(id)), steps = redis.call('HGETALL', key.runSteps(id)) }
  local bytes = 0
  for _, list in pairs(snapshot) do
    for _, value in ipairs(list) do bytes = bytes + #value end
  end
  return bytes <= MAX_WAKE_BYTES and snapshot or nil
end

-- The first events of the inbox, up to the limits; nil if the first one is large.
local function run_first_events(id)
  local events, bytes = redis.call('LRANGE', key.runInbox(id), 0, MAX_WAKE_EVENTS - 1), 0
  for i, event in ipairs(events) do
    bytes = bytes + #event
    if bytes > MAX_WAKE_BYTES then return i > 1 and { unpack(events, 1, i - 1) } or nil end
  end
  return events
end

-- Notifies the engine that saved the run last, else any; false if none listens.
local function run_notify(id, home, revision)
  local engine = home or redis.call('SRANDMEMBER', key.runEngines())
  if not engine then return false end
  local message = cjson.encode({ id = id, revision = tonumber(revision), at = text(micros()), events = run_first_events(id),
    run = not home and run_snapshot(id) or nil })
  repeat
    if redis.call('PUBLISH', key.runWakes(engine), message) > 0 then return true end
    redis.call('SREM', key.runEngines(), engine)
    engine = redis.call('SRANDMEMBER', key.runEngines())
  until not engine
  return false
end

-- Called at the end of the batch, so that the message has all events of the batch.
local function run_notify_all()
  if not woken[1] then return end
  -- While an operator has paused the queue, its entries are not processed either.
  local is_paused = redis.call('HEXISTS', bull.runPasses.prefix .. 'meta', 'paused') == 1
  for _, w in ipairs(woken) do
    local awake, wakes, home, revision = unpack(redis.call('HMGET', key.run(w.id), 'awake', 'wakes', 'home', 'revision'))
    if awake and tonumber(wakes) == w.wakes then
      local is_notified = not is_paused and run_notify(w.id, home, revision)
      run_add_pass(w.id, w.wakes, w.workflow, w.now_ms, is_notified and NOTIFIED_MS or 0)
    end
  end
end

-- The inbox is empty: the run needs no engine until the next event. `wakes` as its record has it; `is_unlocked`: no process
-- holds its lock.
local function run_sleep(id, wakes, is_unlocked)
  redis.call('HDEL', key.run(id), 'awake')
  if not is_unlocked then redis.call('DEL', key.runLock(id)) end
  if wakes then bull_unpark('runPasses', run_pass_entry(id, wakes)) end
end

-- Adds an event to the inbox of a run; false if the run does not exist or has ended.
local function run_post(id, event, now_ms)
  local workflow, ended = unpack(redis.call('HMGET', key.run(id), 'workflow', 'ended_at'))
  if not workflow or ended then return false end
  redis.call('RPUSH', key.runInbox(id), event)
  run_wake(id, workflow, now_ms)
  return true
end
