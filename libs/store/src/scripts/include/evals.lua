--[[
  Datasets and runs of evaluations. The compressed datasets and results of a tenant share a limited number of bytes, which
  are counted by `<bytes>:<id>` until they expire. See docs/reference/evals.md.
]]
local evals = {}
local EVALS_HOUR_MS = 3600000

-- Bytes that a tenant uses. Subtracts those that have expired, a bounded number at a time.
function evals.used(tenant, now_ms)
  local stored, freed = key.evalStored(tenant), 0
  for _, member in ipairs(redis.call('ZRANGE', stored, '-inf', text(now_ms), 'BYSCORE', 'LIMIT', 0, 1000)) do
    freed = freed + tonumber(string.match(member, '^%d+'))
    redis.call('ZREM', stored, member)
  end
  if freed > 0 then return redis.call('DECRBY', key.evalUsed(tenant), text(freed)) end
  return tonumber(redis.call('GET', key.evalUsed(tenant)) or 0)
end

-- `until_ms` is text: '+inf' or the time at which the bytes expire.
function evals.add(tenant, id, bytes, until_ms)
  if redis.call('ZADD', key.evalStored(tenant), until_ms, text(bytes) .. ':' .. id) == 1 then
    redis.call('INCRBY', key.evalUsed(tenant), text(bytes))
  end
end

function evals.subtract(tenant, id, bytes)
  if redis.call('ZREM', key.evalStored(tenant), text(bytes) .. ':' .. id) == 1 then
    redis.call('DECRBY', key.evalUsed(tenant), text(bytes))
  end
end

-- Time until the next start is permitted, ms; 0 = now.
function evals.start_wait(starts, now_ms, most)
  redis.call('ZREMRANGEBYSCORE', starts, '-inf', text(now_ms - EVALS_HOUR_MS))
  if redis.call('ZCARD', starts) < most then return 0 end
  local oldest = redis.call('ZRANGE', starts, 0, 0, 'WITHSCORES')[2]
  return math.max(1, tonumber(oldest) + EVALS_HOUR_MS - now_ms)
end

function evals.count_start(starts, id, now_ms)
  redis.call('ZADD', starts, text(now_ms), id)
  redis.call('PEXPIRE', starts, EVALS_HOUR_MS)
end

-- Runs whose record has expired leave the index with the next call.
function evals.drop_expired_runs(dataset, now_ms, keep_ms)
  redis.call('ZREMRANGEBYSCORE', key.evalRunsOf(dataset), '-inf', text((now_ms - keep_ms) * 1000))
end
