--[[
  Replaces a config document, if nobody else did since it was read, and keeps what it was.

  KEYS  1 document
  ARGV  1 revision that was read, 0 = there was no document   2 document (JSON)   3 its scope   4 its id   5 its revision
        6 tenant that it is counted for, '' for none   7 how many revisions are kept

  Returns  written  |  changed <revision>
]]
local document, read_revision, text = KEYS[1], tonumber(ARGV[1]), ARGV[2]
local scope, id, new_revision, owner, kept = ARGV[3], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])

local stored = redis.call('GET', document)
local revision = stored and cjson.decode(stored).revision or 0
if revision ~= read_revision then return { 'changed', tostring(revision) } end
local history = key.configHistory(scope, id)
-- A document from before revisions were kept.
if stored and redis.call('EXISTS', history) == 0 then redis.call('LPUSH', history, stored) end
redis.call('SET', document, text)
redis.call('LPUSH', history, text)
-- Of a very large document fewer are kept, and the one before always.
redis.call('LTRIM', history, 0, math.max(2, math.min(kept, math.floor(33554432 / #text))) - 1)
-- Whoever holds a document in memory asks here whether it changed, rather than read it again.
redis.call('HSET', key.configRevisions(), scope .. ':' .. id, new_revision)
if owner ~= '' then redis.call('SADD', key.configsOf(owner), scope .. ':' .. id) end
return { 'written' }
