--[[
  Creates the credential of a worker, or replaces it. A worker id belongs to the tenant that first created a credential for it;
  a replaced or revoked token never becomes valid again.

  KEYS  1 credentials: hash
  ARGV  1 worker id   2 tenant scope, '*' for any   3 tenant   4 credential (JSON)
        5 token check and hashes, '' = keep the token   6 maximum number of workers of the license, 0 or less = unlimited
        7 maximum number of one tenant   8 hash of the credential

  Returns  created  |  replaced  |  missing  |  other_tenant  |  full <count>  |  tenant_full <count>
]]
local credentials = KEYS[1]
local id, scope, tenant, credential, token, license_max, tenant_max = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5],
  tonumber(ARGV[6]), tonumber(ARGV[7])

local known = redis.call('HGET', credentials, id)
local owner = known and cjson.decode(known).tenant_id
if owner and scope ~= '*' and scope ~= owner then return { 'other_tenant' } end

if token == '' and redis.call('SISMEMBER', key.workerCredentialsActive(), id) == 0 then return { 'missing' } end
if redis.call('SISMEMBER', key.workerCredentialsActive(), id) == 0 then
  local count = redis.call('SCARD', key.workerCredentialsActive())
  -- A live worker that gets a credential is not one more. Those without a heartbeat for two minutes are not live.
  local live = key.liveWorkers()
  local oldest_ms = micros() / 1000 - 120000
  if not redis.call('ZSCORE', live, id) then count = math.max(count, redis.call('ZCOUNT', live, oldest_ms, '+inf')) end
  if license_max > 0 and count >= license_max then return { 'full', tostring(count) } end
end
if owner ~= tenant then
  local own = redis.call('SCARD', key.workerCredentialsOf(tenant))
  if own >= tenant_max then return { 'tenant_full', tostring(own) } end
end

if owner and owner ~= tenant then redis.call('SREM', key.workerCredentialsOf(owner), id) end
content_before = redis.call('HGET', key.workerCredentialHashes(), id) or ''
redis.call('HSET', credentials, id, credential)
redis.call('HSET', key.workerCredentialHashes(), id, ARGV[8])
if token ~= '' then
  redis.call('HSET', key.workerTokens(), id, token)
  redis.call('HDEL', key.workerTokensVerified(), id)
  revoke_session(id)
end
redis.call('HDEL', key.workerCredentialsRevoked(), id)
redis.call('SADD', key.workerCredentialsActive(), id)
redis.call('SADD', key.workerCredentialsOf(tenant), id)
note_trust_change(id)
return { known and 'replaced' or 'created' }
