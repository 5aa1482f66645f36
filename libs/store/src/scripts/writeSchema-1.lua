--[[
  Registers a schema, or replaces the one of the same id. The first write sets its owner: the tenant of the scope, or the
  installation when the scope is every tenant. Only the owner and callers for every tenant replace it. An `$id` is unique
  among the schemas of one owner.

  KEYS  1 schema: hash
  ARGV  1 id   2 tenant scope, '*' for any   3 document (JSON)   4 its `$id`, '' = none
        5 maximum number of schemas of the license, 0 or less = unlimited   6 maximum number of schemas of one tenant
        7 now, µs   8 hash of the document

  Returns  created  |  replaced  |  other_tenant  |  full <count>  |  tenant_full <count>  |  alias_taken <id>
]]
local schema = KEYS[1]
local id, scope, document, alias, license_max, tenant_max, now_us, hash = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]),
  tonumber(ARGV[6]), ARGV[7], ARGV[8]

local known = redis.call('EXISTS', schema) == 1
local tenant = redis.call('HGET', schema, 'tenant') or ''
if known and scope ~= '*' and scope ~= tenant then return { 'other_tenant' } end
if not known and scope ~= '*' then tenant = scope end
local index = tenant == '' and key.schemas() or key.schemasOf(tenant)
local aliases = tenant == '' and key.schemaAliases() or key.schemaAliasesOf(tenant)

local user = alias ~= '' and redis.call('HGET', aliases, alias)
if user and user ~= id then return { 'alias_taken', user } end

if not known then
  local count = redis.call('ZCARD', key.schemas()) + redis.call('ZCARD', key.tenantSchemas())
  if license_max > 0 and count >= license_max then return { 'full', tostring(count) } end
  local own = tenant == '' and 0 or redis.call('ZCARD', index)
  if own >= tenant_max then return { 'tenant_full', tostring(own) } end
end

local old_alias = redis.call('HGET', schema, 'alias')
if old_alias and old_alias ~= alias then redis.call('HDEL', aliases, old_alias) end
content_before = redis.call('HGET', schema, 'hash') or ''
redis.call('HSET', schema, 'document', document, 'hash', hash, 'alias', alias, 'updated_at', now_us)
if alias ~= '' then redis.call('HSET', aliases, alias, id) end
redis.call('ZADD', index, now_us, id)
if tenant ~= '' then
  redis.call('HSET', schema, 'tenant', tenant)
  redis.call('ZADD', key.tenantSchemas(), now_us, id)
end
return { known and 'replaced' or 'created' }
