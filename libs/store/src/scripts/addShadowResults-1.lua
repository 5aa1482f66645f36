--[[
  Appends results of a tenant's shadow policies, and drops expired results and those over the limit. The bundles of the
  tenant share the limit equally.

  KEYS  1 bundles of the tenant with results: zset
  ARGV  1 { tenant, keep_ms, max, results = { { bundle, fields = { field, value, ... } }, ... } } (JSON)

  Returns  added
]]
local n = cjson.decode(ARGV[1])
local now_ms = math.floor(micros() / 1000)
local oldest = string.format('%.0f', now_ms - n.keep_ms)
local has_new = false

for _, result in ipairs(n.results) do
  redis.call('XADD', key.shadowResults(n.tenant, result.bundle), '*', unpack(result.fields))
  if redis.call('ZADD', KEYS[1], now_ms, result.bundle) == 1 then has_new = true end
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', oldest)
redis.call('PEXPIRE', KEYS[1], n.keep_ms)

-- Only a new bundle changes the share of the others.
local written = {}
for _, result in ipairs(n.results) do written[result.bundle] = true end
local bundles = redis.call('ZRANGE', KEYS[1], 0, -1)
local part = math.max(1, math.floor(n.max / #bundles))
for _, bundle in ipairs(bundles) do
  local results = key.shadowResults(n.tenant, bundle)
  if has_new or written[bundle] then redis.call('XTRIM', results, 'MAXLEN', part) end
  if written[bundle] then
    redis.call('XTRIM', results, 'MINID', oldest)
    redis.call('PEXPIRE', results, n.keep_ms)
  end
end
return { 'added' }
