--[[
  Records that a job is about to make a side effect, if it is in the given dispatch; or returns what is known about an effect
  with this key. Safe to repeat: the same call gets the same reply.

  KEYS  1 job record
  ARGV  1 { id, key, tenant, job, worker, dispatch_id, call = id of this attempt, states, max } (JSON)

  Returns  begun  |  done <result>  |  happened <result>  |  unknown  |  full
           missing  |  other_tenant  |  not_in_flight <state>  |  superseded
]]
local b = cjson.decode(ARGV[1])
local tenant, state, worker, dispatch, attempts, run, path, inherited = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'state',
  'worker_id', 'dispatch_id', 'attempts', 'run', 'run_path', 'effects_of'))
if not state then return { 'missing' } end
if tenant ~= b.tenant then return { 'other_tenant' } end
if not is(b.states, state) then return { 'not_in_flight', state } end
if worker ~= b.worker or dispatch ~= b.dispatch_id then return { 'superseded' } end

local scope, record, stamp = effect_scope(b.job, run, path, inherited), key.effect(b.id), text(micros())
local known, owner, made_in, call, result = unpack(redis.call('HMGET', record, 'state', 'job_id', 'dispatch_id', 'call', 'result'))
local intent = { 'job_id', b.job, 'dispatch_id', dispatch, 'worker_id', worker, 'attempt', attempts, 'call', b.call, 'begun_at', stamp }
if not known then
  if redis.call('SCARD', key.effectsOf(scope)) >= b.max then return { 'full' } end
  redis.call('HSET', record, 'id', b.id, 'tenant', tenant, 'scope', scope, 'key', b.key, 'state', 'begun', 'updated_at', stamp,
    unpack(intent))
  redis.call('SADD', key.effectsOf(scope), b.id)
end
-- A retry uses the effects of the job before it, whose records would otherwise expire with that job.
redis.call('HSET', KEYS[1], 'effects', '1')
redis.call('PERSIST', record)
redis.call('PERSIST', key.effectsOf(scope))
if not known then return { 'begun' } end

if known == 'begun' then
  if made_in == dispatch and owner == b.job and call == b.call then return { 'begun' } end
  -- Another attempt, or another process of this one, began it and has not reported a result.
  known = move_effect(b.id, 'lose', stamp)
end
if known == 'unknown' then
  redis.call('HSET', record, 'asked_by', b.job)
  refresh_outcome(b.job, scope)
  if owner ~= b.job then refresh_outcome(owner, scope) end
  return { 'unknown' }
end
if move_effect(b.id, 'begin', stamp, intent) then return { 'begun' } end
return { known, result or '' }
