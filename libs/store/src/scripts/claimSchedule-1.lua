--[[
  Claims a due time of a schedule: records its pending starts and adds the queue entry of the next due time. One of
  several concurrent claims succeeds.

  KEYS  1 schedule: hash
  ARGV  1 id   2 revision as read   3 the time, ms   4 next due time, ms, '' = none
        5 note about skipped times, '' = none   6 maximum number of pending starts
        7...  due times to start runs for, ms

  Returns  claimed <starts skipped because too many are pending>  |  early <ms to wait>  |  changed  |  missing
]]
local record = KEYS[1]
local id, revision, due, next_due, note, max = unpack(ARGV)
local there, its_due = unpack(redis.call('HMGET', record, 'revision', 'due'))
if not there then return { 'missing' } end
if there ~= revision or its_due ~= due then return { 'changed' } end
local now_ms = math.floor(micros() / 1000)
if now_ms < tonumber(due) then return { 'early', text(due - now_ms) } end

local starts = key.scheduleStarts(id)
for i = 7, #ARGV do redis.call('ZADD', starts, ARGV[i], ARGV[i]) end
local over = redis.call('ZREMRANGEBYRANK', starts, tonumber(max), -1)
if redis.call('EXISTS', starts) == 1 then redis.call('ZADD', key.schedulesStarting(), text(now_ms), id) end
if note ~= '' then redis.call('HSET', record, 'last_error', note) end
schedule_set_due(id, next_due, now_ms)
return { 'claimed', text(over) }
