--[[
  Registers a schema, or replaces the one of the same id. An `$id` belongs to one schema; no more are taken than the plan
  allows.

  KEYS  1 schema: hash   2 index: zset   3 aliases: hash of `$id` to schema id
  ARGV  1 id   2 document (JSON)   3 its `$id`, '' = none   4 how many schemas there may be, 0 or less = any number
        5 now, µs

  Returns  created  |  replaced  |  full <how many there are>  |  alias_taken <by which id>
]]
local schema, index, aliases = KEYS[1], KEYS[2], KEYS[3]
local id, document, alias, most, now_us = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]

local owner = alias ~= '' and redis.call('HGET', aliases, alias)
if owner and owner ~= id then return { 'alias_taken', owner } end

local known = redis.call('EXISTS', schema) == 1
local count = redis.call('ZCARD', index)
if not known and most > 0 and count >= most then return { 'full', tostring(count) } end

local old_alias = redis.call('HGET', schema, 'alias')
if old_alias and old_alias ~= alias then redis.call('HDEL', aliases, old_alias) end
redis.call('HSET', schema, 'document', document, 'alias', alias, 'updated_at', now_us)
if alias ~= '' then redis.call('HSET', aliases, alias, id) end
redis.call('ZADD', index, now_us, id)
return { known and 'replaced' or 'created' }
