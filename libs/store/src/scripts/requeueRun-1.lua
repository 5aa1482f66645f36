--[[
  Repairs the queue entry of a run that has work to do. A permanently failed entry is replaced after a pause, and so is an
  entry delayed by a process whose clock was ahead, which could otherwise be processed hours late. A run that sleeps for
  long gets an event to check its jobs and timers, in case one was lost.

  KEYS  1 run record
  ARGV  1 id   2 pause before a failed entry is replaced (ms)
        3 time without a save after which a sleeping run checks its jobs and timers (ms)

  Returns  queued  |  asleep  |  requeued  |  checking  |  missing
]]
local id = ARGV[1]
local workflow, awake, wakes, acting, updated = unpack(redis.call('HMGET', KEYS[1], 'workflow', 'awake', 'wakes', 'acting', 'updated_at'))
if not workflow then return { 'missing' } end
local now_ms = math.floor(micros() / 1000)
if awake then
  if run_was_woken(id) then return { 'queued' } end
  local prefix, entry = bull.runPasses.prefix, run_pass_entry(id, wakes)
  local failed_ms = redis.call('ZSCORE', prefix .. 'failed', entry)
  local is_paused = failed_ms and now_ms - tonumber(failed_ms) < tonumber(ARGV[2])
  local due = redis.call('ZSCORE', prefix .. 'delayed', entry)
  local is_misdated = due and tonumber(due) / 0x1000 - now_ms > LONGEST_REST_MS
  if is_paused or (not failed_ms and not is_misdated and redis.call('EXISTS', prefix .. entry) == 1) then return { 'queued' } end
  if failed_ms then bull_remove_failed('runPasses', entry) end
  if is_misdated then bull_unpark('runPasses', entry) end
elseif acting ~= '1' and redis.call('EXISTS', key.runInbox(id)) == 0 then
  if now_ms - tonumber(updated) / 1000 < tonumber(ARGV[3]) then return { 'asleep' } end
  return run_post(id, '{"kind":"look"}', now_ms) and { 'checking' } or { 'asleep' }
end
redis.call('HSET', KEYS[1], 'awake', '1')
run_enqueue_pass(id, workflow, now_ms)
return { 'requeued' }
