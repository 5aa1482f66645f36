--[[
  Replaces the document of the policy bundles if it is unchanged since it was read, and in the same step stores snapshots
  of the bundles and the audit entry, so that no change lacks its entry. Can also store only snapshots.

  KEYS  1 document
  ARGV  1 to 7 as in replaceConfig; 2 = '' keeps the document
        8 now, ms   9 number of snapshots to keep   10 maximum number, held ones included
        11 expiry of the holds, ms   12 tenant of the audit entry, '' for none   13 the entry (JSON)
        14 number of audit entries to keep   15 number of new snapshots,
        then for each of these: id, creation time in µs, head (JSON), bundles (JSON); then ids of snapshots to hold

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
