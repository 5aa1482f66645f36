--[[
  Waiting for a worker. A lane holds jobs with equal worker requirements, in three levels (1 critical,
  2 interactive, 3 batch); within a level, tenants take turns and each tenant's jobs go first in, first out. A tenant at
  its own limit is suspended until one of its jobs ends, so that it is not checked repeatedly.
]]

-- A batch job precedes interactive jobs submitted this much later, which prevents starvation.
local BATCH_HEAD_START_MS = 540000

-- Waiting jobs of a tenant that a claim reads at once.
local MAX_HEADS = 8

-- Tenants known in this batch to be suspended nowhere.
local tenants_in_turn = {}

-- Turn count of the next tenant, and whether there is none. New tenants start there: neither ahead of all nor behind all.
local function lane_next_turn(turns)
  local first = redis.call('ZRANGE', turns, 0, 0, 'WITHSCORES')
  return tonumber(first[2] or 0), not first[1]
end

-- Returns whether no tenant was in turn at this level before, so that no dispatch loop is looking after it.
local function lane_add(lane, spec, level, tenant, id, submitted_ms)
  local turns, was_idle = key.laneTurns(lane, level), false
  if not redis.call('ZSCORE', turns, tenant) and not redis.call('ZSCORE', key.laneFull(lane, level), tenant) then
    local next_turn
    next_turn, was_idle = lane_next_turn(turns)
    redis.call('ZADD', turns, next_turn, tenant)
  end
  redis.call('ZADD', key.laneJobs(lane, level, tenant), submitted_ms, id)
  redis.call('HSETNX', key.lanes(), lane, spec)
  return was_idle
end

-- `more`: another job of this tenant and level is known to wait.
local function lane_remove(lane, level, tenant, id, more)
  local waiting = key.laneJobs(lane, level, tenant)
  redis.call('ZREM', waiting, id)
  if more or redis.call('EXISTS', waiting) == 1 then return end
  redis.call('ZREM', key.laneTurns(lane, level), tenant)
  redis.call('ZREM', key.laneFull(lane, level), tenant)
  local places = {}
  for l = 1, 3 do
    places[2 * l - 1], places[2 * l] = key.laneTurns(lane, l), key.laneFull(lane, l)
  end
  if redis.call('EXISTS', unpack(places)) == 0 then redis.call('HDEL', key.lanes(), lane) end
end

-- Whether a waiting job of this lane precedes a new job of this level.
local function lane_has_queue(lane, level)
  local turns = {}
  for l = 1, tonumber(level) do turns[l] = key.laneTurns(lane, l) end
  return redis.call('EXISTS', unpack(turns)) > 0
end

-- The next tenant at a level and its oldest job: tenant, id, submitted_ms, list. `only` is the one tenant to consider,
-- nil = all. `read` caches lists of the oldest jobs, with their scores, for a script that removes a job from its list when it
-- removes it from the lane.
local function lane_head(lane, level, read, only)
  local turns, tenant = key.laneTurns(lane, level)
  if not only then tenant = redis.call('ZRANGE', turns, 0, 0)[1]
  -- A suspended tenant is not in turn.
  elseif redis.call('ZSCORE', turns, only) then tenant = only end
  if not tenant then return end
  local waiting = key.laneJobs(lane, level, tenant)
  local list = read[waiting]
  if not list or not list[1] then
    list = redis.call('ZRANGE', waiting, 0, MAX_HEADS - 1, 'WITHSCORES')
    read[waiting] = list
  end
  if list[1] then return tenant, list[1], tonumber(list[2]), list end
  redis.call('ZREM', turns, tenant)
  return lane_head(lane, level, read, only)
end

-- A tenant of weight 2 is charged half a turn. See docs/reference/routing.md#fairness.
local function lane_took_turn(lane, level, tenant, cost)
  redis.call('ZINCRBY', key.laneTurns(lane, level), cost, tenant)
end

local function lane_out_of_turn(lane, level, tenant)
  tenants_in_turn[tenant] = nil
  local turns = key.laneTurns(lane, level)
  local taken = redis.call('ZSCORE', turns, tenant)
  redis.call('ZREM', turns, tenant)
  redis.call('ZADD', key.laneFull(lane, level), taken or 0, tenant)
  redis.call('SADD', key.fullLanes(tenant), cjson.encode({ lane, level }))
end

-- A job of this tenant ended: the tenant takes turns again, without catching up on missed ones.
local function lane_in_turn(tenant)
  if tenants_in_turn[tenant] then return end
  tenants_in_turn[tenant] = true
  local places = redis.call('SMEMBERS', key.fullLanes(tenant))
  if not places[1] then return end
  for _, place in ipairs(places) do
    local lane, level = unpack(cjson.decode(place))
    local taken = redis.call('ZSCORE', key.laneFull(lane, level), tenant)
    if taken then
      local turns = key.laneTurns(lane, level)
      redis.call('ZREM', key.laneFull(lane, level), tenant)
      redis.call('ZADD', turns, math.max(tonumber(taken), (lane_next_turn(turns))), tenant)
    end
  end
  redis.call('DEL', key.fullLanes(tenant))
end
