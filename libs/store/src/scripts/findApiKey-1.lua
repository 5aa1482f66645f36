--[[
  Finds a managed API key by the digest of its secret, if it is not revoked and no user who made it is disabled.

  KEYS  1 ids of keys by digest: hash
  ARGV  1 SHA-256 of the secret

  Returns  found <document (JSON)>  |  missing
]]
local id = redis.call('HGET', KEYS[1], ARGV[1])
local document = id and redis.call('HGET', key.apiKey(id), 'document')
if not document then return { 'missing' } end
for maker in string.gmatch(cjson.decode(document).created_by or '', 'user:([%w-]+)') do
  if redis.call('HGET', key.user(maker), 'disabled') == '1' then return { 'missing' } end
end
return { 'found', document }
