--[[
  Pools that may get jobs. The set is written together with the config document that says so, so that a process which has
  not read the document yet cannot dispatch to a pool that drains, is inactive or was deleted.
  See docs/reference/routing.md#draining.
]]

-- A member of every set that was written, so that a set without pools differs from no set.
local LISTED = ''

-- By name; read once per batch, and again after a change in it.
local closed_pools = {}

-- Whether a document says that the pool gets no jobs. Without one, the processes follow their pools file.
local function is_pool_closed(pool)
  if closed_pools[pool] == nil then
    local is_listed, is_open = unpack(redis.call('SMISMEMBER', key.openPools(), LISTED, pool))
    closed_pools[pool] = is_listed == 1 and is_open == 0
  end
  return closed_pools[pool]
end

-- Writes the set from the content of system/default. A table of pools that no process can read has no set: the processes
-- keep the last one that they could read.
local function write_open_pools(document)
  closed_pools = {}
  redis.call('DEL', key.openPools())
  local stored = type(document.data) == 'table' and document.data.pools
  if type(stored) ~= 'table' or type(stored.topics) ~= 'table' then return end
  local pools = stored.pools or {}
  if type(pools) ~= 'table' then return end
  local open = { [LISTED] = true }
  -- A topic may name a pool that has no entry of its own.
  for _, names in pairs(stored.topics) do
    for _, name in ipairs(type(names) == 'table' and names or { names }) do open[tostring(name)] = true end
  end
  for name, pool in pairs(pools) do
    local status = type(pool) == 'table' and pool.status
    open[name] = status ~= 'draining' and status ~= 'inactive' or nil
  end
  for name in pairs(open) do redis.call('SADD', key.openPools(), name) end
end
