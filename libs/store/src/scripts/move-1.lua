--[[
  One move of a job along the job table.

  KEYS  1 job record
  ARGV  1 job id     2 the move (JSON, see include/job.lua)     3 decision to remember (JSON) or ''

  Returns  as move_job
]]
local moved = move_job(ARGV[1], cjson.decode(ARGV[2]), micros())
if moved[1] == 'moved' and ARGV[3] ~= '' then record_decision(ARGV[1], ARGV[3]) end
return moved
