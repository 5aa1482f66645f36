--[[
  Revokes the session of a worker; its tokens never become valid again. Revoking it again changes nothing.

  KEYS  1 sessions: hash
  ARGV  1 worker id   2 tenant scope, '*' for any

  Returns  revoked <tenant>  |  missing  |  other_tenant
]]
local id, scope = ARGV[1], ARGV[2]

local credential = redis.call('HGET', key.workerCredentials(), id)
if not credential then return { 'missing' } end
local tenant = cjson.decode(credential).tenant_id
if scope ~= '*' and scope ~= tenant then return { 'other_tenant' } end
revoke_session(id)
return { 'revoked', tenant }
