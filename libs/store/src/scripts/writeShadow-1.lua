--[[
  Writes, replaces or ends the shadow policy of a tenant for a bundle if it is unchanged since it was read, and writes the
  audit entry in the same step.

  KEYS  1 shadow policies of the tenant: hash
  ARGV  1 tenant   2 bundle id   3 id of the shadow policy that was read, '' for none   4 the new one without its text (JSON),
        '' ends it   5 its text   then the arguments of writePolicy for the audit entry

  Returns  written  |  changed
]]
local heads, contents = KEYS[1], key.shadowContents(ARGV[1])
local tenant, bundle, read, head, content = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local stored = redis.call('HGET', heads, bundle)
local current = stored and cjson.decode(stored) or {}
if (current.shadow_bundle_id or '') ~= read then return { 'changed' } end
content_before = current.content_hash or ''

if head == '' then
  redis.call('HDEL', heads, bundle)
  redis.call('HDEL', contents, bundle)
else
  redis.call('HSET', heads, bundle, head)
  redis.call('HSET', contents, bundle, content)
end
redis.call(redis.call('EXISTS', heads) == 1 and 'SADD' or 'SREM', key.shadowTenants(), tenant)
scripts.writePolicy({ '' }, { unpack(ARGV, 6) })
return { 'written' }
