--[[
  Waiting for a worker. A lane holds the jobs that the same workers can serve; within it three levels (1 critical,
  2 interactive, 3 batch); within a level, tenants take turns and each tenant's jobs go first in, first out.
]]

-- Engine contract A8: a batch job overtakes interactive ones that came this much later, so that it cannot starve.
local BATCH_HEAD_START_MS = 540000

local function lane_add(lane, spec, level, tenant, id, arrived_ms)
  local turns = key.laneTurns(lane, level)
  if not redis.call('ZSCORE', turns, tenant) then
    -- A newcomer starts level with the tenant whose turn it is, neither ahead of all nor behind all.
    local first = redis.call('ZRANGE', turns, 0, 0, 'WITHSCORES')
    redis.call('ZADD', turns, first[2] or 0, tenant)
  end
  redis.call('ZADD', key.laneJobs(lane, level, tenant), arrived_ms, id)
  redis.call('HSETNX', key.lanes(), lane, spec)
end

local function lane_remove(lane, level, tenant, id)
  local waiting = key.laneJobs(lane, level, tenant)
  redis.call('ZREM', waiting, id)
  if redis.call('EXISTS', waiting) == 1 then return end
  redis.call('ZREM', key.laneTurns(lane, level), tenant)
  for l = 1, 3 do
    if redis.call('EXISTS', key.laneTurns(lane, l)) == 1 then return end
  end
  redis.call('HDEL', key.lanes(), lane)
end

-- Is anybody in this lane who must go before a newcomer of this level?
local function lane_has_queue(lane, level)
  for l = 1, tonumber(level) do
    if redis.call('EXISTS', key.laneTurns(lane, l)) == 1 then return true end
  end
  return false
end

-- The tenant whose turn it is at a level, leaving out those that are at their own limit, and the job it has waited with
-- longest: tenant, id, arrived_ms.
local function lane_head(lane, level, skipped)
  for _, tenant in ipairs(redis.call('ZRANGE', key.laneTurns(lane, level), 0, 31)) do
    if not skipped[tenant] then
      local head = redis.call('ZRANGE', key.laneJobs(lane, level, tenant), 0, 0, 'WITHSCORES')
      if head[1] then return tenant, head[1], tonumber(head[2]) end
    end
  end
end

local function lane_took_turn(lane, level, tenant)
  redis.call('ZINCRBY', key.laneTurns(lane, level), 1, tenant)
end
