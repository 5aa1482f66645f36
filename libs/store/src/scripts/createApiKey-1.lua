--[[
  Creates a managed API key.

  KEYS  1 API key: hash
  ARGV  1 id   2 tenant   3 document (JSON)   4 SHA-256 of the secret   5 created, µs   6 maximum number of keys of a tenant

  Returns  created  |  full <count>
]]
local id, tenant, document, digest, created, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])

local count = redis.call('ZCARD', key.apiKeysOf(tenant))
if count >= limit then return { 'full', tostring(count) } end
redis.call('HSET', KEYS[1], 'document', document, 'tenant', tenant, 'digest', digest)
redis.call('HSET', key.apiKeyDigests(), digest, id)
redis.call('ZADD', key.apiKeysOf(tenant), created, id)
note_key_change(id, digest)
return { 'created' }
