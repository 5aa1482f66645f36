--[[
  Sees to it that a run with something to do has a queue entry that brings it to an engine. An entry that has failed for
  good brings it nowhere; after a while another is tried. Nor does one that was put off by a process whose clock was ahead:
  it would come when the others' clocks say so, hours later maybe. One that sleeps for long looks after its own, should
  anything it waits for have been lost.

  KEYS  1 run record
  ARGV  1 id   2 how long an entry stands among the failed before another is tried (ms)
        3 after how long without a save a run that sleeps is asked to look at its jobs and timers (ms)

  Returns  carried  |  asleep  |  woken  |  looks  |  missing
]]
-- Passes are put off by a second at most.
local LONGEST_REST_MS = 5000

local id = ARGV[1]
local workflow, awake, wakes, acting, updated = unpack(redis.call('HMGET', KEYS[1], 'workflow', 'awake', 'wakes', 'acting', 'updated_at'))
if not workflow then return { 'missing' } end
local now_ms = math.floor(micros() / 1000)
if awake then
  local prefix, entry = bull.runPasses.prefix, run_pass_entry(id, wakes)
  local failed_ms = redis.call('ZSCORE', prefix .. 'failed', entry)
  local rests = failed_ms and now_ms - tonumber(failed_ms) < tonumber(ARGV[2])
  local due = redis.call('ZSCORE', prefix .. 'delayed', entry)
  local strayed = due and tonumber(due) / 0x1000 - now_ms > LONGEST_REST_MS
  if rests or (not failed_ms and not strayed and redis.call('EXISTS', prefix .. entry) == 1) then return { 'carried' } end
  if failed_ms then bull_remove_failed('runPasses', entry) end
  if strayed then bull_unpark('runPasses', entry) end
elseif acting ~= '1' and redis.call('EXISTS', key.runInbox(id)) == 0 then
  if now_ms - tonumber(updated) / 1000 < tonumber(ARGV[3]) then return { 'asleep' } end
  return run_post(id, '{"kind":"look"}', now_ms) and { 'looks' } or { 'asleep' }
end
redis.call('HSET', KEYS[1], 'awake', '1')
run_carry_pass(id, workflow, now_ms)
return { 'woken' }
