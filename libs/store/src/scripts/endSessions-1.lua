--[[
  Ends sessions of an owner.

  KEYS  1 sessions of the owner: sorted set
  ARGV  hashes of their tokens

  Returns  ended <number>  |  missing
]]
local count = 0
for _, hash in ipairs(ARGV) do
  count = count + redis.call('DEL', key.session(hash))
  redis.call('ZREM', KEYS[1], hash)
end
if count == 0 then return { 'missing' } end
return { 'ended', tostring(count) }
