--[[
  Clears the published intent of a job. Keeps an intent that a later transition has written.

  KEYS  1 job record
  ARGV  1 job id   2 the intent that was read

  Returns  done  |  changed
]]
if redis.call('HGET', KEYS[1], 'intent') ~= ARGV[2] then return { 'changed' } end
redis.call('HDEL', KEYS[1], 'intent')
redis.call('ZREM', key.intents(), ARGV[1])
return { 'done' }
