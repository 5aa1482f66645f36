--[[
  Removes a dead letter of a tenant together with its entry in Bull Board. Under a legal hold it is kept elsewhere, until the
  release.

  KEYS  1 dead-letter entry
  ARGV  1 job id   2 tenant

  Returns  removed  |  absent
]]
bull_remove_failed('deadLetters', bull_id(ARGV[1]))
redis.call('ZREM', key.deadLetters(ARGV[2]), ARGV[1])
if on_hold(ARGV[2]) and redis.call('EXISTS', KEYS[1]) == 1 then
  local kept = key.deadLetterKept(ARGV[1])
  redis.call('RENAME', KEYS[1], kept)
  expire_record(kept, ARGV[2], 1)
  return { 'removed' }
end
return { redis.call('DEL', KEYS[1]) == 1 and 'removed' or 'absent' }
