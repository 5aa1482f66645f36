--[[
  Settles an effect whose outcome is unknown.

  KEYS  1 effect record
  ARGV  1 { id, scope = tenant or '*', event, by, role, reason, result? } (JSON)

  Returns  settled <state>  |  refused <state>  |  missing (also when it is another tenant's)
]]
local s = cjson.decode(ARGV[1])
local tenant, scope, job, asked = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'scope', 'job_id', 'asked_by'))
if not tenant or (s.scope ~= '*' and s.scope ~= tenant) then return { 'missing' } end
local stamp = text(micros())
local to, state = move_effect(s.id, s.event, stamp,
  { 'settled_at', stamp, 'settled_by', s.by, 'settled_role', s.role, 'reason', s.reason, 'result', s.result or '' })
if not to then return { 'refused', state } end
refresh_outcome(job, scope)
if asked and asked ~= job then refresh_outcome(asked, scope) end
return { 'settled', to }
