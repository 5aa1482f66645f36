--[[
  Records the result of an effect, or that it was not applied, for the dispatch that began it, also after that dispatch has
  ended. Safe to repeat.

  KEYS  1 effect record
  ARGV  1 { id, tenant, job, worker, dispatch_id, call, event, result? } (JSON)

  Returns  ended <state>  |  refused <state>  |  missing (also when another dispatch or call began it)
]]
local e = cjson.decode(ARGV[1])
local tenant, scope, state, job, worker, dispatch, call = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'scope', 'state',
  'job_id', 'worker_id', 'dispatch_id', 'call'))
if not state or tenant ~= e.tenant or job ~= e.job or worker ~= e.worker or dispatch ~= e.dispatch_id or call ~= e.call then
  return { 'missing' }
end
local move = EFFECT_MOVES[e.event]
if state == move.to then return { 'ended', state } end
local stamp = text(micros())
local to = move_effect(e.id, e.event, stamp, { 'ended_at', stamp, 'result', e.result or '' })
if not to then return { 'refused', state } end
if state == 'unknown' then
  refresh_outcome(job, scope)
  local asked = redis.call('HGET', KEYS[1], 'asked_by')
  if asked and asked ~= job then refresh_outcome(asked, scope) end
end
return { 'ended', to }
