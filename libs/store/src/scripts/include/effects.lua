--[[
  The ledger of side effects that workers record. An effect belongs to a scope: a job, the jobs of a step of a run, or a job
  and those that retry it. See docs/reference/effects.md.
]]

-- States that are listed for a tenant; begun and done effects are found by their job.
local LISTED_EFFECTS = { 'unknown', 'happened', 'not_happened', 'retry' }
-- Entries of expired effects are removed when others are added.
local MAX_PRUNED_EFFECTS = 10

local function effect_scope(id, run, path, inherited)
  if inherited and inherited ~= '' then return inherited end
  if run and path then return 'run:' .. run .. ':' .. path end
  return 'job:' .. id
end

local function list_effect(tenant, state, effect, stamp)
  local index = key.effectsInState(tenant, state)
  for _, oldest in ipairs(redis.call('ZRANGE', index, 0, MAX_PRUNED_EFFECTS - 1)) do
    if redis.call('EXISTS', key.effect(oldest)) == 0 then redis.call('ZREM', index, oldest) end
  end
  redis.call('ZADD', index, stamp, effect)
end

-- Changes the state of an effect along the table, with further fields. Returns the new state, or nil and the current one.
local function move_effect(effect, event, stamp, set)
  local record, move = key.effect(effect), EFFECT_MOVES[event]
  local tenant, state = unpack(redis.call('HMGET', record, 'tenant', 'state'))
  if not state or not is(move.from, state) then return nil, state end
  redis.call('HSET', record, 'state', move.to, 'updated_at', stamp, unpack(set or {}))
  if is(LISTED_EFFECTS, state) then redis.call('ZREM', key.effectsInState(tenant, state), effect) end
  if is(LISTED_EFFECTS, move.to) then list_effect(tenant, move.to, effect, stamp) end
  return move.to
end

-- Writes to a job whether one of the effects that concern it is unknown. Jobs without an ambiguous effect have no outcome.
local function refresh_outcome(job, scope)
  local record = key.job(job)
  if redis.call('EXISTS', record) == 0 then return end
  local outcome = redis.call('HGET', record, 'outcome')
  for _, effect in ipairs(redis.call('SMEMBERS', key.effectsOf(scope))) do
    local state, owner, asked = unpack(redis.call('HMGET', key.effect(effect), 'state', 'job_id', 'asked_by'))
    if state == 'unknown' and (owner == job or asked == job) then
      redis.call('HSET', record, 'outcome', 'unknown')
      return
    end
  end
  if outcome == 'unknown' then redis.call('HSET', record, 'outcome', 'settled') end
end

-- A job with effects has ended: those that it has begun are unknown, and all expire with its record.
local function end_effects(job, tenant, scope, keep_sec)
  local effects = redis.call('SMEMBERS', key.effectsOf(scope))
  for _, effect in ipairs(effects) do
    if redis.call('HGET', key.effect(effect), 'job_id') == job then move_effect(effect, 'lose', text(micros())) end
    expire_record(key.effect(effect), tenant, keep_sec)
  end
  expire_record(key.effectsOf(scope), tenant, keep_sec)
  refresh_outcome(job, scope)
end
