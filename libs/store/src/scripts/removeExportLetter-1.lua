--[[
  Removes an audit event from the dead letters of an exporter.

  KEYS  1 dead letters: stream
  ARGV  1 id of the dead letter

  Returns  removed  |  missing
]]
return { redis.call('XDEL', KEYS[1], ARGV[1]) == 1 and 'removed' or 'missing' }
