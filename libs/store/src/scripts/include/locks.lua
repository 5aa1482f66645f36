--[[
  Locks of clients. A lock is a hash: `mode`, `updated_at` (µs), and for each owner `o:<owner>` with its count, fencing token
  and expiry (ms), joined by colons. Each owner expires by itself, so a lost owner does not outlive its time because others
  renew. The key expires with its last owner. See docs/reference/locks.md.
]]

-- The lock without expired owners; nil when it is free.
local function read_lock(lock, now_ms)
  local fields = redis.call('HGETALL', lock)
  local found = { owners = {}, names = {} }
  for i = 1, #fields, 2 do
    local name = string.match(fields[i], '^o:(.*)$')
    if not name then
      found[fields[i]] = fields[i + 1]
    else
      local count, token, expires = string.match(fields[i + 1], '^(%d+):(%d+):(%d+)$')
      if expires and tonumber(expires) > now_ms then
        found.owners[name] = { count = tonumber(count), token = tonumber(token), expires = tonumber(expires) }
        found.names[#found.names + 1] = name
      else
        redis.call('HDEL', lock, fields[i])
      end
    end
  end
  if found.names[1] then return found end
end

-- Writes the owner and the times, and returns the reply for the lock.
local function write_lock(lock, state, name, at)
  local own = state.owners[name]
  state.updated_at = text(at)
  redis.call('HSET', lock, 'mode', state.mode, 'updated_at', state.updated_at)
  if own then redis.call('HSET', lock, 'o:' .. name, table.concat({ text(own.count), text(own.token), text(own.expires) }, ':')) end
  local last = 0
  for _, other in pairs(state.owners) do last = math.max(last, other.expires) end
  redis.call('PEXPIREAT', lock, text(last))
end

-- The reply for a lock: word, mode, µs of its last change; then owner, count, token, expiry (ms) of each.
local function lock_reply(word, state)
  local reply = { word, state.mode, state.updated_at }
  for _, name in ipairs(state.names) do
    local own = state.owners[name]
    if own then
      for _, v in ipairs({ name, text(own.count), text(own.token), text(own.expires) }) do reply[#reply + 1] = v end
    end
  end
  return reply
end

-- Greater than every earlier token, also when the store has lost the last one: then the time is greater.
local function next_lock_token(tokens, at)
  local token = math.max(tonumber(redis.call('GET', tokens) or 0) + 1, at)
  redis.call('SET', tokens, text(token))
  return token
end
