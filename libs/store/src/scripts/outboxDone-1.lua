--[[
  Notes that effects of a run were carried out. Safe to repeat.

  KEYS  1 outbox of the run
  ARGV  1 run id, then the ids of the effects

  Returns  how many effects are left
]]
run_outbox(ARGV[1], ARGV, 0, 0, { unpack(ARGV, 2) })
return redis.call('HLEN', KEYS[1])
