--[[
  Stores the progress of the deletion of a tenant, if it is still being deleted and no other process has stored progress since.

  KEYS  1 tenant: hash
  ARGV  1 step that was executed, '' = none was stored   2 next step   3 number of records removed in this step

  Returns  advanced  |  changed
]]
local status, step = unpack(redis.call('HMGET', KEYS[1], 'status', 'erase_phase'))
if status ~= 'deleting' or (step or '') ~= ARGV[1] then return { 'changed' } end
redis.call('HSET', KEYS[1], 'erase_phase', ARGV[2])
redis.call('HINCRBY', KEYS[1], 'erase_removed', ARGV[3])
return { 'advanced' }
