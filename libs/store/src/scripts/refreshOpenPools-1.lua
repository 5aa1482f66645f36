--[[
  Writes the set of pools that may get jobs again, from the stored document: for a document that an earlier version or a
  backup has left without the set.

  KEYS  1 document system/default

  Returns  written  |  missing
]]
local text = redis.call('GET', KEYS[1])
write_open_pools(text and cjson.decode(text) or {})
return { text and 'written' or 'missing' }
