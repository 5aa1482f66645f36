--[[
  Revokes a delegation token and, with cascade, all that were delegated with it. Tokens below it are refused in any case, since
  their chain contains it. Again changes nothing.

  KEYS  1 delegation: hash
  ARGV  1 jti   2 tenant scope, '*' for any   3 now, ISO 8601   4 reason   5 1 = cascade   6 maximum depth
        7 act (JSON)   8 act of each token below it (JSON); its id is added

  Returns  revoked <number below it>  |  unchanged <number below it>  |  missing  |  too_deep
]]
local jti, scope, now, reason, cascade, max_depth = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5] == '1', tonumber(ARGV[6])
local tenant, revoked = unpack(redis.call('HMGET', KEYS[1], 'tenant', 'revoked_at'))
if not tenant or (scope ~= '*' and scope ~= tenant) then return { 'missing' } end

-- Level by level. The number of tokens of a tree is limited when they are issued.
local below, level, depth, seen = {}, { jti }, 0, { [jti] = true }
while cascade and level[1] do
  local next_level = {}
  for _, parent in ipairs(level) do
    for _, child in ipairs(redis.call('SMEMBERS', key.delegationChildren(parent))) do
      if not seen[child] then
        seen[child] = true
        next_level[#next_level + 1] = child
        below[#below + 1] = child
      end
    end
  end
  depth = depth + 1
  if next_level[1] and depth > max_depth then return { 'too_deep' } end
  level = next_level
end

local at = text(micros())
local function revoke(id)
  local open = redis.call('HMGET', key.delegation(id), 'tenant', 'revoked_at')
  if not open[1] or open[2] then return false end
  redis.call('HSET', key.delegation(id), 'revoked_at', now, 'revoked_reason', reason)
  return true
end
local cascaded = 0
if not revoked then
  revoke(jti)
  audit('act', tenant, at, ARGV[7])
end
for _, id in ipairs(below) do
  if revoke(id) then
    cascaded = cascaded + 1
    local act = cjson.decode(ARGV[8])
    act.extra.jti = id
    audit('act', tenant, at, cjson.encode(act))
  end
end
return { revoked and 'unchanged' or 'revoked', tostring(cascaded) }
