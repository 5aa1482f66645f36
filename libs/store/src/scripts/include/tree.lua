--[[
  The view of a run in Bull Board: a BullMQ flow with the run as parent of its steps, a step as parent of its items, and
  the queue entry of a step's job as child of the step. Entries of runs and steps are never processed: they are in the
  state waiting-children, then completed or failed.
]]

local function tree_root(id)
  return 'run-' .. string.gsub(id, ':', '~')
end

-- The entry of a step or item by its path; of the run for ''.
local function tree_entry(id, path)
  if path == '' then return 'runs', tree_root(id) end
  return 'runSteps', tree_root(id) .. '~' .. path
end

local function tree_key(id, path)
  local queue, entry = tree_entry(id, path)
  return bull[queue].prefix .. entry
end

-- Options that name the parent of an entry, so that the board can show the whole tree from any entry.
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
  redis.call('ZADD', prefix .. 'waiting-children', now_ms, entry)
  if parent then redis.call('SADD', tree_key(id, parent) .. ':dependencies', prefix .. entry) end
end

local function tree_leave(prefix, entry, place)
  redis.call('ZREM', prefix .. place, entry)
end

-- `reason`: failure reason; absent on success.
local function tree_end(id, path, parent, result, reason, now_ms)
  local queue, entry = tree_entry(id, path)
  local prefix = bull[queue].prefix
  local own = prefix .. entry
  if reason then
    redis.call('HSET', own, 'finishedOn', now_ms, 'returnvalue', result, 'failedReason', reason, 'stacktrace', '[]')
  else
    redis.call('HSET', own, 'finishedOn', now_ms, 'returnvalue', result)
  end
  tree_leave(prefix, entry, 'waiting-children')
  redis.call('ZADD', prefix .. (reason and 'failed' or 'completed'), now_ms, entry)
  if not parent then return end
  local above = tree_key(id, parent)
  redis.call('SREM', above .. ':dependencies', own)
  redis.call('HSET', above .. (reason and ':failed' or ':processed'), own, reason or result)
end

--[[
  One change of the tree: { path, parent? ('' = the run), name, begins?, again? (it ended before, as `completed` or `failed`),
  ends? = its final status, reason? }
]]
local function tree_change(id, c, now_ms)
  if c.again then
    local queue, entry = tree_entry(id, c.path)
    tree_leave(bull[queue].prefix, entry, 'completed')
    tree_leave(bull[queue].prefix, entry, 'failed')
    local above, own = tree_key(id, c.parent), tree_key(id, c.path)
    redis.call('HDEL', own, 'finishedOn', 'failedReason', 'returnvalue')
    redis.call('HDEL', above .. ':processed', own)
    redis.call('HDEL', above .. ':failed', own)
  end
  if c.begins then tree_add(id, c.path, c.parent, c.name, cjson.encode({ run_id = id, step_id = c.path }), now_ms) end
  if c.ends then tree_end(id, c.path, c.parent, cjson.encode(c.ends), c.reason, now_ms) end
end

-- Makes the queue entry of a step's job a child of the step, replacing the previous entry of the job. The entry of another
-- job of the step, for example one being cancelled, is kept.
local function tree_set_job_entry(id, path, job_entry, entry)
  local children = tree_key(id, path) .. ':dependencies'
  for _, child in ipairs(redis.call('SMEMBERS', children)) do
    local before = string.match(child, '[^:]*$')
    if before == job_entry or string.sub(before, 1, #job_entry + 1) == job_entry .. '-' then redis.call('SREM', children, child) end
  end
  if entry then redis.call('SADD', children, entry) end
end

-- Removes an entry and its descendants.
local function tree_remove_entry(queue, entry)
  local prefix, steps = bull[queue].prefix, bull.runSteps.prefix
  local own = prefix .. entry
  local below = { redis.call('SMEMBERS', own .. ':dependencies'), redis.call('HKEYS', own .. ':processed'),
    redis.call('HKEYS', own .. ':failed') }
  redis.call('DEL', own, own .. ':dependencies', own .. ':processed', own .. ':failed')
  for _, place in ipairs({ 'waiting-children', 'completed', 'failed' }) do tree_leave(prefix, entry, place) end
  for _, children in ipairs(below) do
    for _, child in ipairs(children) do
      if string.sub(child, 1, #steps) == steps then tree_remove_entry('runSteps', string.sub(child, #steps + 1)) end
    end
  end
end

-- Walks the tree itself, because the steps of a run past its retention have already expired.
local function tree_remove(id)
  tree_remove_entry(tree_entry(id, ''))
end
