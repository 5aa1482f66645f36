--[[
  Removes a schema and its `$id`. Removing a schema that does not exist changes nothing.

  KEYS  1 schema: hash
  ARGV  1 id   2 tenant scope, '*' for any

  Returns  removed  |  missing  |  other_tenant
]]
local schema = KEYS[1]
local id, scope = ARGV[1], ARGV[2]

if redis.call('EXISTS', schema) == 0 then return { 'missing' } end
local tenant = redis.call('HGET', schema, 'tenant') or ''
if scope ~= '*' and scope ~= tenant then return { 'other_tenant' } end

local alias = redis.call('HGET', schema, 'alias')
if alias and alias ~= '' then
  redis.call('HDEL', tenant == '' and key.schemaAliases() or key.schemaAliasesOf(tenant), alias)
end
redis.call('ZREM', tenant == '' and key.schemas() or key.schemasOf(tenant), id)
if tenant ~= '' then redis.call('ZREM', key.tenantSchemas(), id) end
content_before = redis.call('HGET', schema, 'hash') or ''
redis.call('DEL', schema)
return { 'removed' }
