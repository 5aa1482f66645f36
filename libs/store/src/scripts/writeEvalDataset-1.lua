--[[
  Stores a dataset whose entries were written before with an expiry, and appends to the policy audit in the same step.

  KEYS  1 dataset: hash
  ARGV  1 { tenant, id, name, version, bytes, max_datasets, max_bytes } (JSON): version 0 = the next one, bytes of the entries
        2 description of the dataset (JSON)   then the arguments of writePolicy for the audit entry

  Returns  written <version> <created at, µs>  |  taken  |  full <datasets or bytes>  |  expired: the entries are gone
]]
local n = cjson.decode(ARGV[1])
local now_us = micros()
local now_ms = math.floor(now_us / 1000)
local index, versions = key.evalDatasets(n.tenant), key.evalVersions(n.tenant)

-- The number of a removed version is not assigned again while the name has others.
local highest = tonumber(redis.call('HGET', versions, n.name) or 0)
local version = n.version > 0 and n.version or highest + 1
local numbered = n.name .. ':' .. text(version)
if redis.call('HEXISTS', versions, numbered) == 1 then return { 'taken' } end
if redis.call('ZCARD', index) >= n.max_datasets then return { 'full', 'datasets' } end
if evals.used(n.tenant, now_ms) + n.bytes > n.max_bytes then return { 'full', 'bytes' } end
if redis.call('PERSIST', key.evalEntries(n.id)) == 0 then return { 'expired' } end

redis.call('HSET', KEYS[1], 'tenant', n.tenant, 'name', n.name, 'version', text(version), 'created_us', text(now_us),
  'bytes', text(n.bytes), 'head', ARGV[2])
redis.call('ZADD', index, text(now_us), numbered .. ':' .. n.id)
redis.call('HSET', versions, numbered, n.id, n.name, text(math.max(highest, version)))
evals.add(n.tenant, n.id, n.bytes, '+inf')
scripts.writePolicy({ '' }, { unpack(ARGV, 3) })
return { 'written', text(version), text(now_us) }
