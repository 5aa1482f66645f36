--[[
  Adds an act to the audit outbox if the call before it in the same batch made the change that it records, with the hash of the
  content that this call replaced.

  ARGV  1 tenant   2 the act (JSON)   3... first elements of the replies of that call that mean a change; none = always

  Returns  recorded  |  skipped
]]
if ARGV[3] and not is({ unpack(ARGV, 3) }, act_reply) then return { 'skipped' } end
audit('act', ARGV[1], text(micros()), ARGV[2], content_before)
return { 'recorded' }
