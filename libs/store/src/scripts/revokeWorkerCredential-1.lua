--[[
  Revokes the credential of a worker. Its record is kept. Revoking it again changes nothing.

  KEYS  1 credentials: hash
  ARGV  1 worker id   2 tenant scope, '*' for any   3 now, ISO 8601

  Returns  revoked  |  unchanged  |  missing  |  other_tenant
]]
local id, scope, now = ARGV[1], ARGV[2], ARGV[3]

local known = redis.call('HGET', KEYS[1], id)
if not known then return { 'missing' } end
if scope ~= '*' and scope ~= cjson.decode(known).tenant_id then return { 'other_tenant' } end
if redis.call('HSETNX', key.workerCredentialsRevoked(), id, now) == 0 then return { 'unchanged' } end
content_before = redis.call('HGET', key.workerCredentialHashes(), id) or ''
redis.call('SREM', key.workerCredentialsActive(), id)
redis.call('HDEL', key.workerTokensVerified(), id)
revoke_session(id)
note_trust_change(id)
return { 'revoked' }
