--[[
  Moves a run of a dataset to another status, if the status it is in allows that. The run that holds the lock of the dataset is
  the one in progress: `begin` takes the lock again if it has expired, `abandon` applies to a run that has lost it, and an end
  releases it. A result that was written before under another id, with an expiry, becomes that of a completed run, so that a
  process that was overtaken replaces none.

  KEYS  1 run: hash
  ARGV  1 run id   2 { event, from, to, lock_ms, keep_ms, staged, bytes, max_bytes } (JSON): id and size of the result
        then field value ... to set

  Returns  moved  |  refused <status>  |  busy  |  full  |  expired: the result is gone  |  missing
]]
local id, n = ARGV[1], cjson.decode(ARGV[2])
local tenant, status, dataset = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'status', 'dataset'))
if not status then return { 'missing' } end
if not is(n.from, status) then return { 'refused', status } end
local now_ms = math.floor(micros() / 1000)
local lock = key.evalLock(dataset)
local owner = redis.call('GET', lock)

if n.event == 'abandon' and owner == id then return { 'refused', status } end
if n.event == 'begin' then
  if owner and owner ~= id then return { 'busy' } end
  redis.call('SET', lock, id, 'PX', n.lock_ms)
end
if n.to == 'completed' then
  if evals.used(tenant, now_ms) + n.bytes > n.max_bytes then return { 'full' } end
  if redis.call('EXISTS', key.evalResult(n.staged)) == 0 then return { 'expired' } end
  evals.add(tenant, id, n.bytes, text(now_ms + n.keep_ms))
  redis.call('RENAME', key.evalResult(n.staged), key.evalResult(id))
  redis.call('PEXPIRE', key.evalResult(id), n.keep_ms)
  redis.call('HSET', KEYS[1], 'bytes', text(n.bytes))
end
if n.to == 'completed' or n.to == 'failed' then
  if owner == id then redis.call('DEL', lock) end
  redis.call('HDEL', KEYS[1], 'policies')
  redis.call('PEXPIRE', KEYS[1], n.keep_ms)
  redis.call('HSET', KEYS[1], 'completed_us', text(now_ms * 1000))
end
redis.call('HSET', KEYS[1], 'status', n.to, unpack(ARGV, 3))
return { 'moved' }
