--[[
  Claims a time of a schedule that has come: notes the starts to make of it and makes the entry of the next time. Of many
  who claim the same time, one does.

  KEYS  1 schedule: hash
  ARGV  1 id   2 revision as read   3 the time, ms   4 when it fires next, ms, '' = not at all
        5 what to tell of times that are left out, '' = nothing   6 most starts that may wait
        7 and on: times to start for, ms

  Returns  claimed <starts left out because too many wait>  |  early <ms to wait>  |  changed  |  missing
]]
local record = KEYS[1]
local id, revision, due, next_due, note, most = unpack(ARGV)
local there, its_due = unpack(redis.call('HMGET', record, 'revision', 'due'))
if not there then return { 'missing' } end
if there ~= revision or its_due ~= due then return { 'changed' } end
local now_ms = math.floor(micros() / 1000)
if now_ms < tonumber(due) then return { 'early', text(due - now_ms) } end

local starts = key.scheduleStarts(id)
for i = 7, #ARGV do redis.call('ZADD', starts, ARGV[i], ARGV[i]) end
local over = redis.call('ZREMRANGEBYRANK', starts, tonumber(most), -1)
if redis.call('EXISTS', starts) == 1 then redis.call('ZADD', key.schedulesStarting(), text(now_ms), id) end
if note ~= '' then redis.call('HSET', record, 'last_error', note) end
schedule_set_due(id, next_due, now_ms)
return { 'claimed', text(over) }
