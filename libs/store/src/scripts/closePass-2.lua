--[[
  Closes a pass after its effects were applied. A run with an empty inbox sleeps until the next event; otherwise another
  pass follows, immediately or after other runs.

  KEYS  1 run record   2 run lock
  ARGV  1 id   2 owner of the lock   3 'go_on' (keep the lock for the next pass) | 'give_way' (to other runs) |
        'pause' (effects remain: the queue redelivers the entry)

  Returns  asleep  |  more  |  gave_way  |  paused  |  fenced
]]
local id, owner, then_ = ARGV[1], ARGV[2], ARGV[3]
if redis.call('GET', KEYS[2]) ~= owner then return { 'fenced' } end
if then_ == 'pause' then
  redis.call('DEL', KEYS[2])
  return { 'paused' }
end
local workflow, acting, wakes = unpack(redis.call('HMGET', KEYS[1], 'workflow', 'acting', 'wakes'))
if acting == '1' then redis.call('HSET', KEYS[1], 'acting', '0') end
if redis.call('EXISTS', key.runInbox(id)) == 0 or not workflow then
  run_sleep(id, wakes)
  return { 'asleep' }
end
if then_ == 'go_on' then return { 'more' } end
run_enqueue_pass(id, workflow, math.floor(micros() / 1000))
redis.call('DEL', KEYS[2])
return { 'gave_way' }
