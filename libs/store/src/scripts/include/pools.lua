--[[
  Pools that get no jobs. The set is written together with the config document that says so, so that a process which has
  not read the document yet cannot dispatch to them. See docs/reference/routing.md#draining.
]]

-- Names as keys; read once per batch, and again after a change in it.
local closed_pools

local function is_pool_closed(pool)
  if not closed_pools then
    closed_pools = {}
    for _, name in ipairs(redis.call('SMEMBERS', key.closedPools())) do closed_pools[name] = true end
  end
  return closed_pools[pool] == true
end

-- Writes the set from the content of system/default, which may have any shape.
local function write_closed_pools(document)
  closed_pools = nil
  redis.call('DEL', key.closedPools())
  local pools = document.data
  for _, name in ipairs({ 'pools', 'pools' }) do
    if type(pools) ~= 'table' then return end
    pools = pools[name]
  end
  if type(pools) ~= 'table' then return end
  for name, pool in pairs(pools) do
    local status = type(pool) == 'table' and pool.status
    if status == 'draining' or status == 'inactive' then redis.call('SADD', key.closedPools(), name) end
  end
end
