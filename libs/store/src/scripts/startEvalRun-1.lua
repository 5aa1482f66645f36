--[[
  Starts a run of a dataset, unless another one is in progress, and appends to the policy audit in the same step. A queued run
  gets its queue entry here.

  KEYS  1 run: hash
  ARGV  1 { tenant, dataset, id, kind, status, lock_ms, max_starts, keep_ms, max_bytes, queued } (JSON)
        2 description of the run (JSON)   3 policies to evaluate (JSON)
        then the arguments of writePolicy for the audit entry

  Returns  started <at, µs>  |  missing  |  busy  |  limited <ms until the next start>  |  full
]]
local n = cjson.decode(ARGV[1])
local now_us = micros()
local now_ms = math.floor(now_us / 1000)
local lock, runs, starts = key.evalLock(n.dataset), key.evalRunsOf(n.dataset), key.evalStarts('run', n.tenant)

if redis.call('HGET', key.evalDataset(n.dataset), 'tenant') ~= n.tenant then return { 'missing' } end
if redis.call('EXISTS', lock) == 1 then return { 'busy' } end
local wait_ms = evals.start_wait(starts, now_ms, n.max_starts)
if wait_ms > 0 then return { 'limited', text(wait_ms) } end
if evals.used(n.tenant, now_ms) >= n.max_bytes then return { 'full' } end

evals.count_start(starts, n.id, now_ms)
redis.call('SET', lock, n.id, 'PX', n.lock_ms)
redis.call('HSET', KEYS[1], 'tenant', n.tenant, 'kind', n.kind, 'dataset', n.dataset, 'status', n.status,
  'started_us', text(now_us), 'evaluated', '0', 'head', ARGV[2], 'policies', ARGV[3])
redis.call('PEXPIRE', KEYS[1], n.keep_ms)
evals.drop_expired_runs(n.dataset, now_ms, n.keep_ms)
redis.call('ZADD', runs, text(now_us), n.kind .. ':' .. n.id)
redis.call('PEXPIRE', runs, n.keep_ms)
if n.queued then
  bull_add('evalRuns', bull_id(n.id), 'eval', cjson.encode({ run_id = n.id }), now_ms, 0, 0)
end
scripts.writePolicy({ '' }, { unpack(ARGV, 4) })
return { 'started', text(now_us) }
