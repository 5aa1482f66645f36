--[[
  Replaces the document that holds the policy bundles, if nobody else did since it was read, and in the same step keeps
  snapshots of the bundles and tells the audit who changed them: no change is without its entry. Also only keeps snapshots.

  KEYS  1 document
  ARGV  1 to 7 as of replaceConfig; 2 = '' leaves the document as it is
        8 now, ms   9 how many snapshots stay   10 how many stay at most, those that are held included
        11 until when the held ones stay, ms   12 tenant whose audit hears of it, '' for none   13 the entry (JSON)
        14 how many entries stay   15 how many snapshots are new,
        then for each of these: id, µs it was taken at, head (JSON), bundles (JSON); then ids of those to hold

  Returns  written  |  changed <revision>
]]
local text, now_ms, keep, most = ARGV[2], ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])
local held_until, audited, new = ARGV[11], ARGV[12], tonumber(ARGV[15])
local order, heads, bodies, holds =
  key.bundleSnapshots(), key.bundleSnapshotHeads(), key.bundleSnapshotBodies(), key.bundleSnapshotHolds()

if text ~= '' then
  local reply = scripts.replaceConfig({ KEYS[1] }, ARGV)
  if reply[1] ~= 'written' then return reply end
end

if audited ~= '' then append_audit(audited, ARGV[13], ARGV[14]) end

local at = 16
for _ = 1, new do
  local id, taken_us, head, body = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  redis.call('ZADD', order, taken_us, id)
  redis.call('HSET', heads, id, head)
  redis.call('HSET', bodies, id, body)
  at = at + 4
end

for i = at, #ARGV do
  if redis.call('HEXISTS', heads, ARGV[i]) == 1 then redis.call('ZADD', holds, held_until, ARGV[i]) end
end
redis.call('ZREMRANGEBYSCORE', holds, '-inf', now_ms)

for i, id in ipairs(redis.call('ZREVRANGE', order, 0, -1)) do
  local is_held = redis.call('ZSCORE', holds, id)
  if i > most or (i > keep and not is_held) then
    redis.call('ZREM', order, id)
    redis.call('HDEL', heads, id)
    redis.call('HDEL', bodies, id)
    redis.call('ZREM', holds, id)
  end
end
return { 'written' }
