--[[
  Removes a dead letter of a tenant together with its entry in Bull Board.

  KEYS  1 dead-letter entry
  ARGV  1 job id   2 tenant

  Returns  removed  |  absent
]]
bull_remove_failed('deadLetters', bull_id(ARGV[1]))
redis.call('ZREM', key.deadLetters(ARGV[2]), ARGV[1])
return { redis.call('DEL', KEYS[1]) == 1 and 'removed' or 'absent' }
