--[[
  Forgets a schema and its `$id`. Removing what is not there changes nothing.

  KEYS  1 schema: hash   2 index: zset   3 aliases: hash of `$id` to schema id
  ARGV  1 id

  Returns  removed  |  missing
]]
local schema, index, aliases = KEYS[1], KEYS[2], KEYS[3]
local id = ARGV[1]

local alias = redis.call('HGET', schema, 'alias')
if alias and alias ~= '' then redis.call('HDEL', aliases, alias) end
redis.call('ZREM', index, id)
return { redis.call('DEL', schema) == 1 and 'removed' or 'missing' }
