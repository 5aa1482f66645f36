--[[
  Reads the in-flight jobs of a worker. A script, so that it shares calls of Redis with those of other workers.

  KEYS  1 in-flight job ids of the worker

  Returns  job ids
]]
return redis.call('SMEMBERS', KEYS[1])
