--[[
  Replaces a config document, if nobody else did since it was read.

  KEYS  1 document
  ARGV  1 revision that was read, 0 = there was no document   2 document (JSON)   3 `<scope>:<id>`   4 its revision

  Returns  written  |  changed <revision>
]]
local document, read_revision, text = KEYS[1], tonumber(ARGV[1]), ARGV[2]

local stored = redis.call('GET', document)
local revision = stored and cjson.decode(stored).revision or 0
if revision ~= read_revision then return { 'changed', tostring(revision) } end
redis.call('SET', document, text)
-- Whoever holds a document in memory asks here whether it changed, rather than read it again.
redis.call('HSET', key.configRevisions(), ARGV[3], ARGV[4])
return { 'written' }
