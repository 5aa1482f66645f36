--[[
  Writes a new version of a workflow definition, unless it is unchanged. Versions are immutable; a superseded version
  moves to separate fields.

  KEYS  1 definition: hash
  ARGV  1 id   2 tenant   3 document (JSON)   4 hash of the document   5 expected version, 0 = it must not exist,
          '' = any   6 author, as displayed   7 identity of the author

  Returns  written <version> <µs>  |  unchanged <version>  |  changed <current version, 0 = none>  |  other_tenant
]]
local record = KEYS[1]
local id, tenant, document, hash, expected, by, author = unpack(ARGV)
local owner, version, removed, old_hash, old_document, old_at, old_by, old_author = unpack(redis.call('HMGET', record, 'tenant',
  'version', 'removed_at', 'hash', 'document', 'at', 'by', 'author'))
if owner and owner ~= tenant then return { 'other_tenant' } end
local there = (version and not removed) and version or '0'
if expected ~= '' and expected ~= there then return { 'changed', there } end
if there ~= '0' and old_hash == hash then return { 'unchanged', version } end

content_before = there ~= '0' and old_hash or ''
local stamp = text(micros())
local new = text(tonumber(version or 0) + 1)
if version then
  redis.call('HSET', record, 'document:' .. version, old_document, 'at:' .. version, old_at, 'by:' .. version, old_by,
    'author:' .. version, old_author or '')
end
if there == '0' then redis.call('HSET', record, 'tenant', tenant, 'created_at', stamp, 'created_by', by) end
redis.call('HSET', record, 'version', new, 'document', document, 'hash', hash, 'at', stamp, 'by', by, 'author', author)
-- Numbering continues after a removal, since runs may still use earlier versions.
redis.call('HDEL', record, 'removed_at')
redis.call('PERSIST', record)
redis.call('ZREM', key.heldExpiries(tenant), record)
redis.call('ZADD', key.workflows(tenant), stamp, id)
return { 'written', new, stamp }
