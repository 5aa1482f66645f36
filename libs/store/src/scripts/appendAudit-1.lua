--[[
  Appends sealed events to the chain of a tenant, all or nothing, if its head is unchanged since they were sealed. An entry of
  the outbox is applied once: its id is kept with the chain.

  KEYS  1 chain
  ARGV  1 tenant   2 field of the applied outbox entry, '' for none   3 id of that entry   4 head that was read, '' = none
        5 head afterwards   6 time of the newest event (ms)   7 stream id and size of each event, one a line
        8 their canonical JSON, joined   9 their hashes, joined (hex)   10 their HMACs, joined, '' = none;
        then the tiles of the Merkle tree that grow: number of the tile, leaves to append, root if it is complete or ''

  Returns  appended  |  repeated (the entry was applied before)  |  changed (the head is another)
]]
local tenant, applied, entry, head = ARGV[1], ARGV[2], ARGV[3], key.auditHead(ARGV[1])

local function stamp_of(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(seq)
end

if applied ~= '' then
  local last = redis.call('HGET', key.auditState(tenant), applied)
  if last then
    local ms, seq = stamp_of(entry)
    local last_ms, last_seq = stamp_of(last)
    if ms < last_ms or (ms == last_ms and seq <= last_seq) then return { 'repeated' } end
  end
end
if (redis.call('GET', head) or '') ~= ARGV[4] then return { 'changed' } end

local texts, hashes, hmacs = ARGV[8], ARGV[9], ARGV[10]
local at, place = 1, 1
for id, size in string.gmatch(ARGV[7], '(%S+) (%d+)') do
  local text, hash = string.sub(texts, at, at + size - 1), string.sub(hashes, place, place + 63)
  if hmacs == '' then redis.call('XADD', KEYS[1], id, 'e', text, 'h', hash)
  else redis.call('XADD', KEYS[1], id, 'e', text, 'h', hash, 'm', string.sub(hmacs, place, place + 63)) end
  at, place = at + size, place + 64
end
for i = 11, #ARGV, 3 do
  redis.call('APPEND', key.auditLeaves(tenant, ARGV[i]), ARGV[i + 1])
  if ARGV[i + 2] ~= '' then redis.call('APPEND', key.auditTiles(tenant), ARGV[i + 2]) end
end
redis.call('SET', head, ARGV[5])
redis.call('HSET', key.auditState(tenant), 'last_ms', ARGV[6])
if applied ~= '' then redis.call('HSET', key.auditState(tenant), applied, entry) end
redis.call('SADD', key.auditTenants(), tenant)
return { 'appended' }
