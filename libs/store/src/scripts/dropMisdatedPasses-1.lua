--[[
  Removes pass entries that a process with a fast clock has delayed for longer than any pass may be delayed. A run that still
  has work to do gets a new entry from requeueRun. An entry of any other run would be processed hours later, without effect.

  KEYS  1 delayed pass entries
  ARGV  1 maximum number

  Returns  number of removed entries
]]
local latest = (math.floor(micros() / 1000) + LONGEST_REST_MS) * 0x1000
local misdated = redis.call('ZRANGEBYSCORE', bull.runPasses.prefix .. 'delayed', string.format('(%.0f', latest), '+inf', 'LIMIT', 0, ARGV[1])
for _, entry in ipairs(misdated) do bull_unpark('runPasses', entry) end
return #misdated
