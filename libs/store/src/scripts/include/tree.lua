--[[
  A run as operators see it in Bull Board: a flow of BullMQ's, with the run as parent of its steps, a step as parent of its
  items, and the entry that carries a step's job as child of that. Nothing works on the entries of runs and steps: they
  stand among those that wait for children, and then among the completed or the failed.
]]

local function tree_root(id)
  return 'run-' .. string.gsub(id, ':', '~')
end

-- A step or item by its path; the run itself for ''.
local function tree_entry(id, path)
  if path == '' then return 'runs', tree_root(id) end
  return 'runSteps', tree_root(id) .. '~' .. path
end

local function tree_key(id, path)
  local queue, entry = tree_entry(id, path)
  return bull[queue].prefix .. entry
end

-- Options of an entry that name its parent, so that the board finds the whole tree from any part of it.
local function tree_options(queue, id, path)
  local parent_queue, parent = tree_entry(id, path)
  local parent_name = string.sub(bull[parent_queue].prefix, 1, -2)
  return string.sub(bull[queue].opts, 1, -2) .. ',"parent":' .. cjson.encode({ id = parent, queue = parent_name }) .. '}'
end

local function tree_add(id, path, parent, name, data, now_ms)
  local queue, entry = tree_entry(id, path)
  local prefix = bull[queue].prefix
  local options = parent and tree_options(queue, id, parent) or bull[queue].opts
  redis.call('HSET', prefix .. entry, 'name', name, 'data', data, 'opts', options, 'timestamp', now_ms, 'delay', 0, 'priority', 0,
    'processedOn', now_ms)
  redis.call('HDEL', prefix .. entry, 'finishedOn', 'failedReason', 'returnvalue')
  redis.call('ZADD', prefix .. 'waiting-children', now_ms, entry)
  if parent then redis.call('SADD', tree_key(id, parent) .. ':dependencies', prefix .. entry) end
end

local function tree_leave(prefix, entry, place)
  redis.call('ZREM', prefix .. place, entry)
end

-- `reason`: why it failed; absent when it did not.
local function tree_end(id, path, parent, told, reason, now_ms)
  local queue, entry = tree_entry(id, path)
  local prefix = bull[queue].prefix
  local own = prefix .. entry
  redis.call('HSET', own, 'finishedOn', now_ms, 'returnvalue', told)
  if reason then redis.call('HSET', own, 'failedReason', reason, 'stacktrace', '[]') end
  redis.call('DEL', own .. ':dependencies')
  tree_leave(prefix, entry, 'waiting-children')
  redis.call('ZADD', prefix .. (reason and 'failed' or 'completed'), now_ms, entry)
  if not parent then return end
  local above = tree_key(id, parent)
  redis.call('SREM', above .. ':dependencies', own)
  redis.call('HSET', above .. (reason and ':failed' or ':processed'), own, reason or told)
end

--[[
  One change of the tree: { path, parent? ('' = the run), name, begins?, again? (it ended before, as `completed` or `failed`),
  ends? = how it ended in a word, reason? }
]]
local function tree_change(id, c, now_ms)
  if c.again then
    local queue, entry = tree_entry(id, c.path)
    tree_leave(bull[queue].prefix, entry, 'completed')
    tree_leave(bull[queue].prefix, entry, 'failed')
    local above, own = tree_key(id, c.parent), tree_key(id, c.path)
    redis.call('HDEL', above .. ':processed', own)
    redis.call('HDEL', above .. ':failed', own)
  end
  if c.begins then tree_add(id, c.path, c.parent, c.name, cjson.encode({ run_id = id, step_id = c.path }), now_ms) end
  if c.ends then tree_end(id, c.path, c.parent, cjson.encode(c.ends), c.reason, now_ms) end
end

-- The queue entry that carries the job of a step is the one child of the step's.
local function tree_carries(id, path, entry)
  local children = tree_key(id, path) .. ':dependencies'
  redis.call('DEL', children)
  if entry then redis.call('SADD', children, entry) end
end

local function tree_remove_entry(queue, entry)
  local prefix = bull[queue].prefix
  local own = prefix .. entry
  redis.call('DEL', own, own .. ':dependencies', own .. ':processed', own .. ':failed')
  for _, place in ipairs({ 'waiting-children', 'completed', 'failed' }) do tree_leave(prefix, entry, place) end
end

local function tree_remove(id, paths)
  tree_remove_entry(tree_entry(id, ''))
  for _, path in ipairs(paths) do tree_remove_entry(tree_entry(id, path)) end
end
