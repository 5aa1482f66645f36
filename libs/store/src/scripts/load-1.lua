--[[
  A whole record.

  KEYS  1 job record

  Returns  { field, value, ... }, empty when there is none
]]
return redis.call('HGETALL', KEYS[1])
