--[[
  Revokes a managed API key. Its record is kept for a while, so that the audit can be read; it is never accepted again.

  KEYS  1 API key: hash
  ARGV  1 id   2 tenant scope, '*' for any   3 now, ISO 8601   4 seconds for which the record is kept

  Returns  revoked  |  missing
]]
local id, scope, now, keep_sec = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local tenant, digest, revoked_at = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'digest', 'revoked_at'))
if not tenant or revoked_at or (scope ~= '*' and scope ~= tenant) then return { 'missing' } end
redis.call('HSET', KEYS[1], 'revoked_at', now)
redis.call('EXPIRE', KEYS[1], keep_sec)
redis.call('HDEL', key.apiKeyDigests(), digest)
redis.call('ZREM', key.apiKeysOf(tenant), id)
note_key_change(id, digest)
return { 'revoked' }
