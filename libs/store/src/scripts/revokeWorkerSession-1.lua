--[[
  Revokes the session of a worker; its tokens never become valid again. Revoking it again has no effect.

  KEYS  1 sessions: hash
  ARGV  1 worker id   2 tenant scope, '*' for any

  Returns  revoked <tenant>  |  missing  |  other_tenant
]]
local id, scope = ARGV[1], ARGV[2]

local credential = redis.call('HGET', key.workerCredentials(), id)
if not credential then return { 'missing' } end
local tenant = cjson.decode(credential).tenant_id
if scope ~= '*' and scope ~= tenant then return { 'other_tenant' } end
-- Replicas read the worker again in any case, since its agent may have been stopped.
if not revoke_session(id) then note_trust_change(id) end
return { 'revoked', tenant }
