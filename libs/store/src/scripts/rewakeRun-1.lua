--[[
  Sees to it that a run with something to do has a queue entry that brings it to an engine. An entry that has failed for
  good brings it nowhere; after a while another is tried. Nor does one that was put off by a process whose clock was ahead:
  it would come when the others' clocks say so, hours later maybe.

  KEYS  1 run record
  ARGV  1 id   2 how long an entry stands among the failed before another is tried (ms)

  Returns  carried  |  asleep  |  woken  |  missing
]]
-- Passes are put off by a second at most.
local LONGEST_REST_MS = 5000

local id = ARGV[1]
local workflow, awake, wakes, acting = unpack(redis.call('HMGET', KEYS[1], 'workflow', 'awake', 'wakes', 'acting'))
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
  return { 'asleep' }
end
redis.call('HSET', KEYS[1], 'awake', '1')
run_carry_pass(id, workflow, now_ms)
return { 'woken' }
