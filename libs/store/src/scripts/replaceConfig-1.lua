--[[
  Replaces a config document if its revision is unchanged since it was read, and keeps the previous revision. The pools of
  system/default that get no jobs take effect in every dispatching script at once.

  KEYS  1 document
  ARGV  1 revision that was read, 0 = there was no document   2 document (JSON)   3 its scope   4 its id   5 its revision
        6 tenant it is counted for, '' for none   7 number of revisions to keep

  Returns  written  |  changed <revision>
]]
local document, read_revision, text = KEYS[1], tonumber(ARGV[1]), ARGV[2]
local scope, id, new_revision, owner, kept = ARGV[3], ARGV[4], ARGV[5], ARGV[6], tonumber(ARGV[7])

local stored = redis.call('GET', document)
local revision = stored and cjson.decode(stored).revision or 0
if revision ~= read_revision then return { 'changed', tostring(revision) } end
local history = key.configHistory(scope, id)
-- A document written before revisions were kept.
if stored and redis.call('EXISTS', history) == 0 then redis.call('LPUSH', history, stored) end
redis.call('SET', document, text)
if scope == 'system' and id == 'default' then write_open_pools(cjson.decode(text)) end
redis.call('LPUSH', history, text)
-- Fewer revisions are kept of a very large document, but always the previous one.
redis.call('LTRIM', history, 0, math.max(2, math.min(kept, math.floor(33554432 / #text))) - 1)
-- Caches compare this revision instead of reading the document again.
redis.call('HSET', key.configRevisions(), scope .. ':' .. id, new_revision)
if owner ~= '' then redis.call('SADD', key.configsOf(owner), scope .. ':' .. id) end
return { 'written' }
