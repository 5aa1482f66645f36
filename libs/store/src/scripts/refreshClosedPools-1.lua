--[[
  Writes the set of pools that get no jobs again, from the stored document: for a document that an earlier version or a
  backup has left without the set.

  KEYS  1 document system/default

  Returns  written  |  missing
]]
local text = redis.call('GET', KEYS[1])
if not text then return { 'missing' } end
write_closed_pools(cjson.decode(text))
return { 'written' }
