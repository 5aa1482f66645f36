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

-- The events of a run, and a new run, are sent to its engine up to these limits.
local MAX_WAKE_EVENTS = 64
local MAX_WAKE_BYTES = 65536

-- Runs that were woken in this batch.
local woken = {}

-- `created`: fields and steps of a new run, as lists of field and value, which its engine then need not read.
local function run_wake(id, workflow, now_ms, created)
  if redis.call('HSETNX', key.run(id), 'awake', '1') == 0 then return end
  woken[#woken + 1] = { id = id, workflow = workflow, now_ms = now_ms, created = created,
    wakes = redis.call('HINCRBY', key.run(id), 'wakes', 1) }
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

local function run_wake_message(id, revision, created)
  local events = redis.call('LRANGE', key.runInbox(id), 0, MAX_WAKE_EVENTS)
  local bytes = 0
  for _, event in ipairs(events) do bytes = bytes + #event end
  if #events > MAX_WAKE_EVENTS or bytes > MAX_WAKE_BYTES then events = nil end
  return cjson.encode({ id = id, revision = tonumber(revision), at = text(micros()), events = events, created = created })
end

-- Notifies the engine that saved the run last, else any; false if none listens.
local function run_notify(id, home, revision, created)
  local engine = home or redis.call('SRANDMEMBER', key.runEngines())
  if not engine then return false end
  local message = run_wake_message(id, revision, created)
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
      local is_notified = not is_paused and run_notify(w.id, home, revision, w.created)
      run_add_pass(w.id, w.wakes, w.workflow, w.now_ms, is_notified and NOTIFIED_MS or 0)
    end
  end
end

-- The inbox is empty: the run needs no engine until the next event.
local function run_sleep(id)
  local wakes = redis.call('HGET', key.run(id), 'wakes')
  redis.call('HDEL', key.run(id), 'awake')
  redis.call('DEL', key.runLock(id))
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
