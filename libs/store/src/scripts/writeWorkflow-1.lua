--[[
  Writes a workflow's definition as a new version, unless it is the one that is there. Versions never change; one that
  is not the newest any more moves to fields of its own.

  KEYS  1 definition: hash
  ARGV  1 id   2 tenant   3 document (JSON)   4 hash of the document   5 version it must have, 0 = it must not be there,
          '' = any   6 who writes it, as shown   7 identity of who writes it

  Returns  written <version> <µs>  |  unchanged <version>  |  changed <version there is, 0 = none>  |  other_tenant
]]
local record = KEYS[1]
local id, tenant, document, hash, expected, by, author = unpack(ARGV)
local owner, version, removed, old_hash, old_document, old_at, old_by, old_author = unpack(redis.call('HMGET', record, 'tenant',
  'version', 'removed_at', 'hash', 'document', 'at', 'by', 'author'))
if owner and owner ~= tenant then return { 'other_tenant' } end
local there = (version and not removed) and version or '0'
if expected ~= '' and expected ~= there then return { 'changed', there } end
if there ~= '0' and old_hash == hash then return { 'unchanged', version } end

local stamp = text(micros())
local new = text(tonumber(version or 0) + 1)
if version then
  redis.call('HSET', record, 'document:' .. version, old_document, 'at:' .. version, old_at, 'by:' .. version, old_by,
    'author:' .. version, old_author or '')
end
if there == '0' then redis.call('HSET', record, 'tenant', tenant, 'created_at', stamp, 'created_by', by) end
redis.call('HSET', record, 'version', new, 'document', document, 'hash', hash, 'at', stamp, 'by', by, 'author', author)
-- Its number goes on where it was removed, since runs may still use the versions before.
redis.call('HDEL', record, 'removed_at')
redis.call('PERSIST', record)
redis.call('ZADD', key.workflows(tenant), stamp, id)
return { 'written', new, stamp }
